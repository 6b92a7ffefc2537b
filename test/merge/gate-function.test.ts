/** Gates that are functions of the caller's program, beside commands and under the same rules. */

import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { runGates } from '../../src/merge/gates.ts';
import { verifyWork } from '../../src/merge/verify.ts';
import type { Event } from '../../src/model/event.ts';
import { inProcessGate } from '../../src/model/gate.ts';
import type { GateSpec } from '../../src/model/plan.ts';
import { removeRunFolder } from '../../src/workspace/remove.ts';
import {
  type GateCandidate,
  type GateFunction,
  type RunParts,
  runContext,
} from '../../src/workspace/run-context.ts';
import { verdictMemory } from '../support/no-memory.ts';
import { testContext } from '../support/run-context.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const LIMIT_MS = 20_000;

interface Scene {
  readonly spec?: Partial<GateSpec>;
  readonly more?: readonly GateSpec[];
  readonly parts?: Partial<RunParts>;
}

/** A run with one gate, `lint`, that is a function. */
async function contextWith(repo: TempRepo, lint: GateFunction, scene: Scene = {}) {
  const { session: _, ...parts } = await testContext(repo, {});
  const gate = { ...inProcessGate({ name: 'lint', timeoutMs: LIMIT_MS }), ...scene.spec };
  const landing = { ...parts.plan.landing, verify: 'each' } as const;
  const plan = { ...parts.plan, gates: [gate, ...(scene.more ?? [])], landing };
  const gateFunctions = new Map([['lint', lint]]);
  return runContext({ ...parts, plan, gateFunctions, ...scene.parts });
}

let branches = 0;

async function candidateOf(repo: TempRepo, files: Readonly<Record<string, string>>) {
  const commit = await repo.commit(`work-${branches++}`, files);
  return { task: 'one', commit, tree: await repo.git('rev-parse', `${commit}^{tree}`) };
}

/** What a context says of a candidate, with the facts that it reports. */
async function judged(
  repo: TempRepo,
  context: Awaited<ReturnType<typeof contextWith>>,
  candidate: Awaited<ReturnType<typeof candidateOf>>,
  signal = repo.signal,
) {
  const facts: Event[] = [];
  const verdict = await runGates(context, candidate, (fact) => facts.push(fact), signal);
  return { verdict, facts };
}

const hasNoTabs: GateFunction = {
  check: async ({ dir, log }) => {
    log('looking for tabs');
    const text = readFileSync(join(dir, 'a.txt'), 'utf8');
    return text.includes('\t') ? { red: 'a.txt has a tab' } : 'green';
  },
};

test('a function judges exactly the candidate, beside gates that are commands', async () => {
  await using repo = await tempRepo();
  const seen: GateCandidate[] = [];
  const lint: GateFunction = {
    check: async (candidate) => {
      seen.push(candidate);
      await writeFile(join(candidate.dir, 'dirt'), '');
      return hasNoTabs.check(candidate);
    },
  };
  const more = [{ name: 'clean', run: 'test ! -e dirt', timeoutMs: LIMIT_MS }];
  const context = await contextWith(repo, lint, { more });
  const good = await candidateOf(repo, { 'a.txt': 'a\n' });
  const { verdict, facts } = await judged(repo, context, good);
  expect(verdict).toMatchObject({ kind: 'green' });
  expect(seen).toMatchObject([{ tree: good.tree, commit: good.commit }]);
  expect(seen[0]!.dir).not.toBe(repo.dir);
  const told = facts.map((fact) => ('gate' in fact ? `${fact.type} ${fact.gate}` : fact.type));
  expect(told).toEqual([
    ...['gate.started lint', 'gate.finished lint'],
    ...['gate.started clean', 'gate.finished clean'],
  ]);
});

test('red comes with the reason and what it logged, in the gate log as well', async () => {
  await using repo = await tempRepo();
  const lines: string[] = [];
  const log = { write: (line: string) => void lines.push(line), close: async () => undefined };
  const parts = { gateLogs: { open: () => log } };
  const context = await contextWith(repo, hasNoTabs, { parts });
  const bad = await candidateOf(repo, { 'a.txt': '\ta\n' });
  const { verdict, facts } = await judged(repo, context, bad);
  const output = 'looking for tabs\na.txt has a tab\n(red)';
  const failed = { command: 'function lint', exitCode: null, output };
  expect(verdict).toEqual({ kind: 'red', gate: 'lint', ...failed });
  expect(facts.at(-1)).toMatchObject({ type: 'gate.finished', ok: false, ...failed });
  const words = ['function lint', 'looking for tabs', 'a.txt has a tab', expect.any(String)];
  expect(lines).toEqual(expect.arrayContaining(words));
  expect(lines.at(-1)).toMatch(/^\(red, \d/);
});

test.each([
  ['throws', () => Promise.reject(new TypeError('no such rule')), 'TypeError: no such rule'],
  [
    'throws at once',
    () => {
      throw new TypeError('no such rule');
    },
    'TypeError: no such rule',
  ],
  ['answers nonsense', async () => 'yes' as 'green', 'It answered yes instead of'],
])('a function that %s is red', async (_, check, said) => {
  await using repo = await tempRepo();
  const context = await contextWith(repo, { check });
  const { verdict } = await judged(repo, context, await candidateOf(repo, { 'a.txt': 'a\n' }));
  expect(verdict).toMatchObject({ kind: 'red', output: expect.stringContaining(said) });
});

test('at its time limit its signal is aborted, and its answer no longer counts', async () => {
  await using repo = await tempRepo();
  const lint: GateFunction = {
    check: async ({ signal }) => {
      await sleep(LIMIT_MS, undefined, { signal }).catch(() => undefined);
      return 'green';
    },
  };
  const context = await contextWith(repo, lint, { spec: { timeoutMs: 100 } });
  const { verdict } = await judged(repo, context, await candidateOf(repo, { 'a.txt': 'a\n' }));
  expect(verdict).toMatchObject({
    kind: 'red',
    output: expect.stringContaining('(ended after 0.1 s: time limit)'),
  });
});

test('a function that ignores its signal keeps its workspace until it returns', async () => {
  await using repo = await tempRepo();
  const dirs: string[] = [];
  const late = Promise.withResolvers<void>();
  const lint: GateFunction = {
    check: async ({ dir, log }) => {
      dirs.push(dir);
      if (dirs.length > 1) return 'green';
      await late.promise;
      log('too late');
      return 'green';
    },
  };
  const lines: string[] = [];
  const log = { write: (line: string) => void lines.push(line), close: async () => undefined };
  const parts = { gateLogs: { open: () => log } };
  const context = await contextWith(repo, lint, { spec: { timeoutMs: 400, retries: 1 }, parts });
  const candidate = await candidateOf(repo, { 'a.txt': 'a\n' });
  const { verdict, facts } = await judged(repo, context, candidate);
  const told = facts.flatMap((fact) => (fact.type === 'gate.finished' ? [fact.ok] : []));
  expect({ kind: verdict.kind, told }).toEqual({ kind: 'green', told: [false, true] });
  expect(new Set(dirs).size).toBe(2);
  late.resolve();
  await sleep(0);
  const other = await candidateOf(repo, { 'a.txt': 'b\n' });
  expect((await judged(repo, context, other)).verdict).toMatchObject({ kind: 'green' });
  expect(dirs[2]).toBe(dirs[0]);
  expect(lines).not.toContain('too late');
});

test('the workspace of one that goes on at the end of the run is not given to another task', async () => {
  await using repo = await tempRepo();
  const late = Promise.withResolvers<'green'>();
  const dirs: string[] = [];
  const lint: GateFunction = {
    check: async ({ dir }) => (dirs.push(dir) === 1 ? late.promise : 'green'),
  };
  const context = await contextWith(repo, lint, { spec: { timeoutMs: 400, retries: 1 } });
  await judged(repo, context, await candidateOf(repo, { 'a.txt': 'a\n' }));
  expect(dirs.map((dir) => existsSync(dir))).toEqual([true, true]);
  await removeRunFolder(context, repo.signal);
  expect(dirs.map((dir) => existsSync(dir))).toEqual([false, false]);
  expect(context.pool.idle()).toHaveLength(1);
  late.resolve('green');
});

test('a verdict that is no longer needed is neither green nor red', async () => {
  await using repo = await tempRepo();
  const stop = new AbortController();
  const lint: GateFunction = {
    check: async ({ signal }) => {
      stop.abort('cancelled');
      return signal.aborted ? { red: 'aborted' } : 'green';
    },
  };
  const context = await contextWith(repo, lint);
  const candidate = await candidateOf(repo, { 'a.txt': 'a\n' });
  const { verdict, facts } = await judged(repo, context, candidate, stop.signal);
  expect(verdict).toEqual({ kind: 'stopped' });
  expect(facts.map(({ type }) => type)).toEqual(['gate.started']);
});

test.each([
  ['without a key', 'green', [undefined, undefined]],
  ['with the same key', 'memory', ['v1', 'v1']],
  ['with another key', 'green', ['v1', 'v2']],
] as const)('%s the verdict of the next run is: %s', async (_, told, [first, second]) => {
  await using repo = await tempRepo();
  const verdicts = verdictMemory();
  const candidate = await candidateOf(repo, { 'a.txt': 'a\n' });
  const runOnce = async (key: string | undefined) => {
    const lint = key === undefined ? hasNoTabs : { ...hasNoTabs, key };
    const context = await contextWith(repo, lint, { parts: { verdicts } });
    const said = [];
    for (const _ of [1, 2]) {
      const { facts } = await judged(repo, context, candidate);
      const last = facts.at(-1)!;
      said.push(last.type === 'gate.finished' ? (last.spared ?? 'green') : last.type);
    }
    return said;
  };
  expect(await runOnce(first)).toEqual(['green', 'memory']);
  expect(await runOnce(second)).toEqual([told, 'memory']);
});

test('a function that is red on the base as well is broken: no work is blamed', async () => {
  await using repo = await tempRepo();
  const since = await repo.git('rev-parse', 'main');
  const lint: GateFunction = { check: async () => ({ red: 'never' }) };
  const context = await contextWith(repo, lint);
  const candidate = await candidateOf(repo, { 'a.txt': 'a\n' });
  const effect = { kind: 'verify', ...candidate, since, landedSince: [], again: false } as const;
  const facts: Event[] = [];
  const report = (fact: Event): number => facts.push(fact);
  await verifyWork(context, { ...effect, unproven: ['lint'] }, report, repo.signal);
  expect(facts.at(-1)).toMatchObject({ type: 'gate.broken', gate: 'lint', why: 'red' });
  await verifyWork(context, { ...effect, unproven: [] }, report, repo.signal);
  const failure = { kind: 'gate-failed', gate: 'lint', exitCode: null };
  expect(facts.at(-1)).toMatchObject({ type: 'candidate.verified', failure });
});

test('a program without the function is refused before anything is done', async () => {
  await using repo = await tempRepo();
  const other = new Map([['other', hasNoTabs]]);
  const made = contextWith(repo, hasNoTabs, { parts: { gateFunctions: other } });
  await expect(made).rejects.toThrow(
    'Gate lint is a function of the program that started the run, and is not provided here.',
  );
  expect(existsSync(join(repo.outside, 'repo.worktrees'))).toBe(false);
});
