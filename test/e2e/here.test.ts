/** Tasks that work in the user's own checkout: nothing is committed, and one at a time. */

import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { runPlan } from '../support/run-plan.ts';
import { tempDir, writeFiles } from '../support/temp-dir.ts';
import { tempRepo } from '../support/temp-repo.ts';

/** Fails if another one is at work in the same folder. */
const alone = (name: string): string =>
  `mkdir busy || exit 1; echo ${name} >> done.txt; sleep 0.1; rmdir busy`;

test('changes stay uncommitted in the checkout, beside a task with a workspace', async () => {
  await using repo = await tempRepo();
  await repo.write({ 'mine.txt': 'mine\n' });
  const run = await runPlan(repo, {
    tasks: {
      one: { here: true, prompt: alone('one') },
      two: { here: true, prompt: alone('two'), checks: ['test -e done.txt'] },
      other: 'echo 1 > other.txt',
    },
  });
  expect(run.code, run.stderr).toBe(0);
  expect(run.of('attempt.strayed')).toEqual([]);
  expect(run.of('workspace.released').map(({ task }) => task)).toEqual(['other']);
  expect(readFileSync(join(repo.dir, 'done.txt'), 'utf8').split('\n').sort()).toEqual([
    '',
    'one',
    'two',
  ]);
  expect(await repo.git('status', '--porcelain')).toBe('?? done.txt\n?? mine.txt');
  expect(await repo.git('log', '--format=%s')).toContain('Land other');
  expect(await repo.git('branch', '--format=%(refname:short)')).toBe('main');
});

test('a red check or a failing process fails the task, and its changes stay', async () => {
  await using repo = await tempRepo();
  const run = await runPlan(repo, {
    tasks: {
      red: { here: true, prompt: 'echo 1 > red.txt', checks: ['exit 1'] },
      bad: { here: true, prompt: 'echo 1 > bad.txt; exit 3' },
    },
  });
  expect(run.code).toBe(1);
  expect(run.failure('red')).toMatchObject({ kind: 'checks-failed', check: 'exit 1' });
  expect(run.failure('bad')?.message).toContain('3');
  expect(await repo.git('status', '--porcelain')).toBe('?? bad.txt\n?? red.txt');
});

test('a run in place needs neither a commit nor a repository', async () => {
  await using empty = await tempRepo({ files: null });
  const plan = { tasks: { one: { here: true, prompt: 'echo 1 > one.txt' } } };
  expect(await runPlan(empty, plan)).toMatchObject({ code: 0 });
  await using dir = await tempDir();
  const project = join(dir.path, 'project');
  mkdirSync(project);
  const text = JSON.stringify({
    landfast: 1,
    tasks: [
      { id: 'one', agent: 'shell', here: true, prompt: 'echo 1 > one.txt' },
      { id: 'look', agent: 'shell', read_only: true, needs: ['one'], prompt: 'test -e one.txt' },
    ],
  });
  await writeFiles(project, { 'plan.yaml': text });
  const ended = await landfast(['run', 'plan.yaml'], { cwd: project, env: { HOME: dir.path } });
  expect(ended.code, ended.stderr).toBe(0);
  expect(readFileSync(join(project, 'one.txt'), 'utf8')).toBe('1\n');
});

test('a sandbox that is required cannot hold it', async () => {
  await using repo = await tempRepo();
  const run = await runPlan(repo, {
    more: { sandbox: 'require' },
    tasks: { one: { here: true, prompt: 'echo 1 > one.txt' } },
  });
  expect(run).toMatchObject({ code: 2, facts: [] });
  expect(run.stderr).toContain('Tasks that work in your own checkout cannot be sandboxed: one.');
});
