/** What a gate's verdict depends on: each input makes another key, and nothing else does. */

import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runGates } from '../../src/merge/gates.ts';
import { gateInputs, verdictKey } from '../../src/merge/verdict-key.ts';
import type { GateSpec, Plan } from '../../src/model/plan.ts';
import type { RunContext } from '../../src/workspace/run-context.ts';
import { verdictMemory } from '../support/no-memory.ts';
import { testContext } from '../support/run-context.ts';
import { type Files, type TempRepo, tempRepo } from '../support/temp-repo.ts';

const GATE: GateSpec = { name: 'tests', run: 'true', timeoutMs: 60_000, env: { LEVEL: '1' } };
const ENV = { PATH: '/usr/bin:/bin', HOME: '/home/ada', TZ: 'UTC', TMPDIR: '/tmp' };
const FILES = { lock: '1\n', 'src/a': '1\n', 'docs/b': '1\n', '.gitignore': '.env\n' };

interface Scene {
  readonly gate?: Partial<GateSpec>;
  readonly env?: Readonly<Record<string, string>>;
  readonly workspace?: Partial<Plan['workspace']>;
  readonly landing?: Partial<Plan['landing']>;
  /** Committed on top of `main`. */
  readonly commit?: Files;
  /** Untracked files of the user's checkout. */
  readonly untracked?: Readonly<Record<string, string>>;
}

/** The key of the gate on a commit with `FILES` and what the scene says. */
async function keyOf(repo: TempRepo, scene: Scene): Promise<string> {
  rmSync(join(repo.dir, '.worktreeinclude'), { force: true });
  await repo.write({ '.env': 'A=1\n', ...scene.untracked });
  const context = await contextOf(repo, scene);
  const candidate = await candidateOf(repo, scene.commit ?? {});
  const gate = context.plan.gates[0]!;
  return verdictKey(await gateInputs(context, candidate, repo.signal), gate);
}

async function contextOf(
  repo: TempRepo,
  { gate, env, workspace, landing }: Scene,
): Promise<RunContext> {
  const context = await testContext(repo, workspace ?? {}, { env: { ...ENV, ...env } });
  const plan = {
    ...context.plan,
    gates: [{ ...GATE, ...gate }],
    landing: { ...context.plan.landing, verify: 'each', ...landing },
  } as const;
  return { ...context, plan };
}

let branches = 0;

async function candidateOf(repo: TempRepo, files: Files) {
  const commit = await repo.commit(`work-${branches++}`, files);
  return { task: null, commit, tree: await repo.git('rev-parse', `${commit}^{tree}`) };
}

const COPY = { workspace: { copy: ['.env'] } };
const SETUP = { workspace: { setup: ['make deps'], setupKey: ['lock'] } };
const SCOPED = { gate: { paths: ['src/**'] } };

const DIFFERENT: Readonly<Record<string, readonly [Scene, Scene]>> = {
  'a changed file': [{}, { commit: { 'src/a': '2\n' } }],
  'a changed file in its paths': [SCOPED, { ...SCOPED, commit: { 'src/a': '2\n' } }],
  'another command': [{}, { gate: { run: 'true #' } }],
  'a variable of its own': [{}, { gate: { env: { LEVEL: '2' } } }],
  'a variable of its own that is of a session elsewhere': [{}, { gate: { env: { TMPDIR: '/t' } } }],
  'the time zone': [{}, { env: { TZ: 'Asia/Tokyo' } }],
  'options of Node': [{}, { env: { NODE_OPTIONS: '--no-warnings' } }],
  'another PATH': [{}, { env: { PATH: '/opt/bin:/usr/bin:/bin' } }],
  'the content of a copied file': [COPY, { ...COPY, untracked: { '.env': 'A=2\n' } }],
  'a further copied file': [{}, COPY],
  'the content of a file that .worktreeinclude names': [
    { untracked: { '.worktreeinclude': '.env\n' } },
    { untracked: { '.worktreeinclude': '.env\n', '.env': 'A=2\n' } },
  ],
  'another set-up command': [SETUP, { workspace: { ...SETUP.workspace, setup: ['make all'] } }],
  'the key file of set-up, beside its paths': [
    { ...SCOPED, ...SETUP },
    { ...SCOPED, ...SETUP, commit: { lock: '2\n' } },
  ],
  'what a tool says of itself': [
    { landing: { fingerprint: ['echo 1'] } },
    { landing: { fingerprint: ['echo 2'] } },
  ],
};

const SAME: Readonly<Record<string, readonly [Scene, Scene]>> = {
  'another commit with the same files': [{}, { commit: { lock: '1\n' } }],
  'a change beside its paths': [SCOPED, { ...SCOPED, commit: { 'docs/b': '2\n' } }],
  'a key file of a set-up that does nothing': [
    { ...SCOPED, workspace: { setupKey: ['lock'] } },
    { ...SCOPED, workspace: { setupKey: ['lock'] }, commit: { lock: '2\n' } },
  ],
  'variables of a session': [{}, { env: { TMPDIR: '/t', SSH_AUTH_SOCK: '/s', XDG_SEAT: 'x' } }],
  'variables in another order': [{ env: { A: '1', B: '2' } }, { env: { B: '2', A: '1' } }],
  'an untracked file that is not copied': [{}, { untracked: { '.env': 'A=2\n' } }],
  'how often and for how long it may run': [{}, { gate: { retries: 3, timeoutMs: 1 } }],
};

describe('the key', () => {
  let repo: TempRepo;
  beforeAll(async () => {
    repo = await tempRepo({ files: FILES });
  });
  afterAll(() => repo[Symbol.asyncDispose]());

  test.each(Object.entries(DIFFERENT))('differs by %s', async (_, [one, other]) => {
    expect(await keyOf(repo, other)).not.toBe(await keyOf(repo, one));
  });

  test.each(Object.entries(SAME))('does not differ by %s', async (_, [one, other]) => {
    expect(await keyOf(repo, other)).toBe(await keyOf(repo, one));
  });
});

test('the mode of a copied file counts', async () => {
  await using repo = await tempRepo({ files: FILES });
  await repo.write({ '.env': 'A=1\n' });
  const context = await contextOf(repo, COPY);
  const candidate = await candidateOf(repo, {});
  const before = await gateInputs(context, candidate, repo.signal);
  chmodSync(join(repo.dir, '.env'), 0o755);
  const after = await gateInputs(context, candidate, repo.signal);
  expect(verdictKey(after, GATE)).not.toBe(verdictKey(before, GATE));
});

test.each([
  ['tree', ['green', 'memory', 'memory']],
  ['commit', ['green', 'memory', 'green']],
] as const)('a gate that sees the %s', async (sees, told) => {
  await using repo = await tempRepo({ files: FILES });
  const context = { ...(await contextOf(repo, { gate: { sees } })), verdicts: verdictMemory() };
  const first = await candidateOf(repo, { 'src/a': '2\n' });
  const commit = await repo.git('commit-tree', first.tree, '-m', 'The same files');
  const second = { ...first, commit };
  const seen: string[] = [];
  for (const candidate of [first, first, second]) {
    const verdict = await runGates(
      context,
      candidate,
      (fact) => {
        if (fact.type === 'gate.finished') seen.push(fact.spared ?? 'green');
      },
      repo.signal,
    );
    expect(verdict.kind).toBe('green');
  }
  expect(seen).toEqual(told);
});

test('a verdict is not remembered if a copied file changed while the gate ran', async () => {
  await using repo = await tempRepo({ files: FILES });
  await repo.write({ '.env': 'A=1\n' });
  const env = join(repo.dir, '.env');
  const verdicts = verdictMemory();
  const run = `grep -q A=1 .env && echo A=2 > ${env}`;
  const context = { ...(await contextOf(repo, { ...COPY, gate: { run } })), verdicts };
  const candidate = await candidateOf(repo, {});
  const ignore = (): void => undefined;
  expect(await runGates(context, candidate, ignore, repo.signal)).toMatchObject({ kind: 'green' });
  expect(verdicts.known.size).toBe(0);
  writeFileSync(env, 'A=1\n');
  const still = { ...(await contextOf(repo, { ...COPY, gate: { run: 'true' } })), verdicts };
  expect(await runGates(still, candidate, ignore, repo.signal)).toMatchObject({ kind: 'green' });
  expect(verdicts.known.size).toBe(1);
});
