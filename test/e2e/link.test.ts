/** An agent that damages `.git` of its workspace or its branch hurts no other task. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

/** All that the repository holds for its user. */
async function stateOf(repo: TempRepo): Promise<readonly string[]> {
  const commands = [
    ['fsck', '--no-dangling'],
    ['status', '--porcelain'],
    ['config', '--list'],
  ];
  return Promise.all(commands.map((args) => repo.git(...args)));
}

const AFTER = { prompt: 'echo 2 > two', needs: ['one'] };

test.each([
  ['nothing', 'rm .git'],
  ['a link to the repository', 'rm .git; ln -s "$REPO/.git" .git'],
  ['the repository itself', 'echo "gitdir: $REPO/.git" > .git'],
  ['a worktree of the user', 'echo "gitdir: $REPO/.git/worktrees/theirs" > .git'],
  ['a pipe', 'rm .git; mkfifo .git'],
])('%s in the place of its link: the work lands, and all else is as it was', async (_, script) => {
  await using repo = await tempRepo();
  const theirs = join(repo.outside, 'theirs');
  await repo.git('worktree', 'add', '-q', '-b', 'feature', theirs);
  await repo.git('-C', theirs, 'rm', '-q', '--cached', 'README.md');
  const before = await stateOf(repo);
  const index = readFileSync(join(repo.commonDir, 'worktrees/theirs/index'));
  const prompt = `REPO='${repo.dir}'; ${script}; echo 1 > one`;
  const run = await runPlan(repo, { workers: 1, tasks: { one: prompt, two: AFTER } });
  expect(run).toMatchObject({ code: 0 });
  expect(await repo.git('ls-tree', '--name-only', 'main')).toContain('one\ntwo');
  expect(await stateOf(repo)).toEqual(before);
  expect(readFileSync(join(repo.commonDir, 'worktrees/theirs/index'))).toEqual(index);
  expect(await repo.git('rev-list', '--count', 'feature')).toBe('1');
});

test.each([
  ['what it leads to is deleted', 'rm -rf "$(git rev-parse --absolute-git-dir)"'],
  ['a repository of its own', 'rm .git; git init -q'],
])('%s: the attempt fails, its files stay, and the next one lands', async (_, script) => {
  await using repo = await tempRepo();
  const bad = `if test "$LANDFAST_ATTEMPT" = 1; then echo precious > work; ${script}; fi`;
  const run = await runPlan(repo, { tasks: { one: `${bad}; echo 1 > one` } });
  expect(run.code).toBe(1);
  expect(run.failure('one')).toMatchObject({ kind: 'commit-failed' });
  const dir = join(`${repo.dir}.worktrees`, run.run, 'one');
  expect(readFileSync(join(dir, 'work'), 'utf8')).toBe('precious\n');
  const resumed = await landfast(['resume', run.run], {
    cwd: repo.dir,
    env: { HOME: repo.outside },
  });
  expect(resumed).toMatchObject({ code: 0 });
  expect(await repo.git('show', 'main:one')).toBe('1');
  expect(readFileSync(join(`${dir}.left-1`, 'work'), 'utf8')).toBe('precious\n');
});

test('in a workspace inside of the checkout nothing of the user is taken for work', async () => {
  await using repo = await tempRepo();
  await repo.write({ 'README.md': 'edited\n', 'notes.txt': 'private\n' });
  const more = { workspace: { dir: '.wt' } };
  const tasks = { one: 'rm .git; echo 1 > one' };
  await runPlan(repo, { tasks, more });
  expect(existsSync(join(repo.dir, 'notes.txt'))).toBe(true);
  const landed = await repo.git(
    'log',
    '--all',
    '--format=',
    '--name-only',
    '--',
    'notes.txt',
    'one',
  );
  expect(landed).toBe('one');
});

test('work that an agent does on a branch of the user moves only the branch of the task', async () => {
  await using repo = await tempRepo();
  await repo.git('checkout', '-q', '-b', 'dev');
  const main = await repo.git('rev-parse', 'main');
  const gates = [{ name: 'never', run: 'false', base: 'red' }];
  const tasks = { one: { prompt: 'git checkout -q main; echo 1 > one', retries: 0 } };
  const run = await runPlan(repo, { tasks, more: { gates } });
  expect(run.code).toBe(1);
  expect(await repo.git('rev-parse', 'main')).toBe(main);
  expect(await repo.git('show', `landfast/${run.run}.one:one`)).toBe('1');
});
