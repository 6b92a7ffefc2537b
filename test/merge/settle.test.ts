/** Files that should not be merged: remembered resolutions, and generated files made again. */

import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { marked } from '../../src/process/process-tree.ts';
import { runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';
import { TOO_SHORT, withLimit } from '../support/time-limit.ts';

const FILES = { text: 'one\ntwo\nthree\n', 'README.md': 'hello\n' };

/** Both tasks begin at the same head. A conflict that is laid out is resolved. */
function rivals(repo: TempRepo): Record<string, Readonly<Record<string, unknown>>> {
  const script = (name: string, other: string): string =>
    [
      `if grep -q '^<<<<<<<' text; then printf 'one\\nboth\\nthree\\n' > text; exit; fi`,
      `touch ${repo.outside}/${name}; until test -e ${repo.outside}/${other}; do sleep 0.05; done`,
      `sed -i 's/two/${name}/' text`,
    ].join('\n');
  const task = (name: string, other: string) => ({
    agent: 'command',
    command: ['sh', '-c', `cat > /dev/null; ${script(name, other)}`],
    prompt: `Write ${name}.`,
  });
  return { a: task('a', 'b'), b: task('b', 'a') };
}

/** They wait for each other again. */
function forgetMeeting(repo: TempRepo): void {
  for (const name of ['a', 'b']) rmSync(join(repo.outside, name), { force: true });
}

const GATE = { name: 'words', run: "! grep -q '^<<<<<<<' text" };

/** The plan once more, as if its first run had not been. */
async function again(repo: TempRepo, land: Readonly<Record<string, string>>) {
  const base = await repo.git('rev-parse', 'HEAD');
  const plan = { land, gates: [GATE], tasks: rivals(repo) };
  const first = await runPlan(repo, plan);
  const after = await repo.git('show', 'HEAD:text');
  await repo.git('reset', '--quiet', '--hard', base);
  forgetMeeting(repo);
  return { first, after, second: await runPlan(repo, plan) };
}

describe.each(['merge', 'squash', 'rebase'])('strategy %s', (strategy) => {
  test('a conflict resolved once is not asked about again, and its resolution is verified', async () => {
    await using repo = await tempRepo({ files: FILES });
    const { first, second, after } = await again(repo, { strategy });
    expect(first).toMatchObject({ code: 0 });
    expect(first.of('merge.rejected')).toHaveLength(1);
    expect(after).toBe('one\nboth\nthree');
    expect(second).toMatchObject({ code: 0 });
    expect(second.of('merge.rejected')).toEqual([]);
    const settled = second.of('merge.settled').map(({ files }) => files);
    expect(settled).toEqual([[{ path: 'text', how: 'memory', by: first.run }]]);
    expect(await repo.git('show', 'HEAD:text')).toBe(after);
    const [{ task } = { task: '' }] = second.of('merge.settled');
    expect(second.of('gate.finished', task).map(({ ok }) => ok)).toEqual([true]);
  });
});

test('remember: off asks again', async () => {
  await using repo = await tempRepo({ files: FILES });
  const { second } = await again(repo, { remember: 'off' });
  expect(second).toMatchObject({ code: 0 });
  expect(second.of('merge.rejected')).toHaveLength(1);
  expect(second.of('merge.settled')).toEqual([]);
});

test('a resolution that a gate refuses goes back to its agent', async () => {
  await using repo = await tempRepo({ files: FILES });
  const base = await repo.git('rev-parse', 'HEAD');
  await runPlan(repo, { tasks: rivals(repo) });
  await repo.git('reset', '--quiet', '--hard', base);
  forgetMeeting(repo);
  const gates = [{ name: 'strict', run: '! grep -q both text' }];
  const second = await runPlan(repo, {
    land: { on_gate_failure: 'fail' },
    gates,
    tasks: rivals(repo),
  });
  expect(second).toMatchObject({ code: 1 });
  expect(second.of('merge.settled').length).toBeGreaterThan(0);
  expect(second.of('task.failed').map(({ failure }) => failure.kind)).toEqual(['gate-failed']);
});

/** Each adds a name to the list; `sorted` is made of all of them. */
const MAKE = 'cat names/* | sort > sorted';
const named = (repo: TempRepo, name: string, other: string): string =>
  [
    `touch ${repo.outside}/${name}; until test -e ${repo.outside}/${other}; do sleep 0.05; done`,
    `echo ${name} > names/${name}`,
    MAKE,
  ].join('\n');
const LISTS = { 'names/m': 'm\n', sorted: 'm\n' };

describe.each(['merge', 'squash', 'rebase'])('strategy %s', (strategy) => {
  test('a generated file is generated again instead of merged', async () => {
    await using repo = await tempRepo({ files: LISTS });
    const run = await runPlan(repo, {
      land: { strategy, regenerate: [{ paths: ['sorted'], run: `${MAKE}; touch stray` }] },
      gates: [{ name: 'whole', run: 'cat names/* | sort | cmp - sorted && test ! -e stray' }],
      tasks: { a: named(repo, 'a', 'z'), z: named(repo, 'z', 'a') },
    });
    expect(run).toMatchObject({ code: 0 });
    expect(run.of('merge.rejected')).toEqual([]);
    const settled = run.of('merge.settled').flatMap(({ files }) => files);
    expect(settled).toEqual([{ path: 'sorted', how: 'command', by: `${MAKE}; touch stray` }]);
    expect(await repo.git('show', 'HEAD:sorted')).toBe('a\nm\nz');
    expect(await repo.git('ls-files')).toBe('names/a\nnames/m\nnames/z\nsorted');
  });
});

test('a generated file that one side deletes is generated again as well, and so is a binary one', async () => {
  await using repo = await tempRepo({
    files: { ...LISTS, packed: 'm\0\n' },
  });
  const make = `${MAKE}; tr '\\n' '\\0' < sorted > packed`;
  const begin = (name: string, other: string) =>
    `touch ${repo.outside}/${name}; until test -e ${repo.outside}/${other}; do sleep 0.05; done`;
  const run = await runPlan(repo, {
    land: { regenerate: [{ paths: ['sorted', 'packed'], run: make }] },
    tasks: {
      a: `${begin('a', 'z')}; echo a > names/a; ${make}`,
      z: `${begin('z', 'a')}; echo z > names/z; git rm -q sorted; printf 'z\\0' > packed`,
    },
  });
  expect(run).toMatchObject({ code: 0 });
  expect(run.of('merge.rejected')).toEqual([]);
  const settled = run.of('merge.settled').flatMap(({ files }) => files.map(({ path }) => path));
  expect(settled.sort()).toEqual(['packed', 'sorted']);
  expect(await repo.git('show', 'HEAD:sorted')).toBe('a\nm\nz');
  expect(await repo.git('show', 'HEAD:packed')).toBe('a\0m\0z\0');
});

test('a command that fails or hangs is a conflict with its output, and nothing of it is left', () =>
  withLimit(1_000, async (limitMs) => {
    await using repo = await tempRepo({ files: LISTS });
    const timeout = `${limitMs / 1_000}s`;
    const run = await runPlan(repo, {
      land: {
        on_conflict: 'fail',
        regenerate: [
          { paths: ['sorted'], run: 'echo no network; setsid sleep 600 & wait', timeout },
        ],
      },
      tasks: { a: named(repo, 'a', 'z'), z: named(repo, 'z', 'a') },
    });
    expect(run).toMatchObject({ code: 1 });
    const [failed] = run.of('task.failed');
    expect(failed?.failure).toMatchObject({
      kind: 'conflict',
      files: ['sorted'],
      conflicts: [{ path: 'sorted', kind: 'regenerate' }],
      output: expect.stringContaining(`(ended after ${limitMs / 1_000} s: time limit)`),
    });
    expect(marked(`${run.run}/`)).toEqual([]);
    expect(readdirSync(join(repo.outside, 'repo.worktrees', run.run))).toEqual([failed?.task]);
    const { output = '' } = failed!.failure as { readonly output?: string };
    return output.includes('no network\n(ended') ? null : TOO_SHORT;
  }));
