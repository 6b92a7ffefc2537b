/**
 * What keeps a target from moving: the user is told what it is, finds his own things as they were, and
 * the one command that is named does what it should, typed as it stands.
 */

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import type { PlanParts } from '../support/native-plan.ts';
import { type PlanRun, runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';
import { typed } from '../support/typed.ts';

const PLAN = { tasks: { one: 'echo new > a.txt' } };
const TO_RELEASE = { args: ['--target', 'release'] };
const OLD = { files: { 'a.txt': 'old\n', '.gitignore': '*.local\n' } };

/** Runs a plan whose publication is blocked, and gives what the user is told of it. */
async function blockedRun(
  repo: TempRepo,
  plan: PlanParts = PLAN,
  more: { readonly args?: readonly string[] } = {},
): Promise<PlanRun & { readonly why: string; readonly remedy: string }> {
  const run = await runPlan(repo, plan, more);
  const [blocked] = run.of('publish.blocked');
  expect(run).toMatchObject({ code: 1 });
  expect(run.stderr).toContain(blocked?.remedy);
  return { ...run, why: blocked?.why ?? '', remedy: blocked?.remedy ?? '' };
}

/** A hook that does not let a branch move until it is removed. */
function protect(repo: TempRepo, branch: string): { remove(): void } {
  const hooks = join(repo.dir, '.git', 'hooks');
  mkdirSync(hooks, { recursive: true });
  const hook = join(hooks, 'reference-transaction');
  const refuse = `grep -q " refs/heads/${branch}$" && { echo "${branch} is protected" >&2; exit 1; }`;
  writeFileSync(hook, `#!/bin/sh\n${refuse}\nexit 0\n`, { mode: 0o755 });
  return { remove: () => rmSync(hook) };
}

const read = (dir: string, name = 'a.txt') => readFileSync(join(dir, name), 'utf8');
const resumed = (repo: TempRepo) => landfast(['resume'], { cwd: repo.dir });

test("the user's changes in the way are not touched, and after a stash the command works", async () => {
  await using repo = await tempRepo(OLD);
  await repo.write({ 'a.txt': 'mine\n' });
  const { why, remedy, run } = await blockedRun(repo);
  expect(why).toBe(
    'Changes in the checkout of main are in the way; nothing of it was touched: a.txt',
  );
  expect(remedy).toBe(`Stash them or move them away, then: git merge --ff-only landfast/${run}`);
  expect(await repo.git('status', '--porcelain')).toBe('M a.txt');
  const status = await landfast(['status'], { cwd: repo.dir });
  expect(status.stdout).toContain(remedy);
  await repo.git('stash');
  expect(await typed(remedy, repo)).toMatchObject({ code: 0 });
  expect(read(repo.dir)).toBe('new\n');
  expect(await resumed(repo)).toMatchObject({ code: 0 });
  expect(await repo.git('branch', '--format=%(refname:short)')).toBe('main');
});

test('changes in the way that are committed instead become part of what is verified', async () => {
  await using repo = await tempRepo(OLD);
  await repo.write({ 'a.txt': 'new\n', 'mine.txt': 'mine\n' });
  const { remedy } = await blockedRun(repo, { ...PLAN, gates: [{ name: 'g', run: 'true' }] });
  await repo.git('add', '--all');
  await repo.git('commit', '-qm', 'Mine');
  expect((await typed(remedy, repo)).output).toContain('Not possible to fast-forward');
  expect(await resumed(repo)).toMatchObject({ code: 0 });
  expect(await repo.git('log', '-1', '--format=%s')).toMatch(/^Merge landfast\/.* into main$/);
});

test.each([
  ['an untracked file', 'b.txt'],
  ['an ignored file', 'b.local'],
])('%s in the way is kept, and once it is away the command works', async (_, name) => {
  await using repo = await tempRepo(OLD);
  await repo.write({ [name]: 'mine\n' });
  const add = `echo theirs > ${name} && git add -f ${name}`;
  const { why, remedy } = await blockedRun(repo, { tasks: { one: add } });
  expect(why).toContain(`in the way; nothing of it was touched: ${name}`);
  expect(read(repo.dir, name)).toBe('mine\n');
  rmSync(join(repo.dir, name));
  expect(await typed(remedy, repo)).toMatchObject({ code: 0 });
  expect(read(repo.dir, name)).toBe('theirs\n');
});

test('changes in the way in another worktree: the command goes there', async () => {
  await using repo = await tempRepo(OLD);
  const dir = join(repo.outside, "release's tree");
  await repo.git('worktree', 'add', '--quiet', '-b', 'release', dir);
  writeFileSync(join(dir, 'a.txt'), 'mine\n');
  const { why, remedy } = await blockedRun(repo, PLAN, TO_RELEASE);
  expect(why).toContain('Changes in the checkout of release are in the way');
  expect(read(dir)).toBe('mine\n');
  await repo.git('-C', dir, 'stash');
  expect(await typed(remedy, repo)).toMatchObject({ code: 0 });
  expect(read(dir)).toBe('new\n');
  expect(read(repo.dir)).toBe('old\n');
});

test('a merge of the user that is not concluded blocks, and is as it was', async () => {
  await using repo = await tempRepo(OLD);
  await repo.commit('side', { 'side.txt': 'side\n' });
  await repo.git('merge', '--no-ff', '--no-commit', 'side');
  const { why, remedy } = await blockedRun(repo);
  expect(why).toContain('The checkout of main was not updated. A merge is in progress there.');
  await repo.git('commit', '-qm', 'Merged');
  expect(await typed(remedy, repo)).toMatchObject({ code: 0 });
  expect(await repo.git('ls-files')).toBe('.gitignore\na.txt\nside.txt');
  expect(read(repo.dir)).toBe('new\n');
});

test('an index that another git has locked blocks, and when it is free the command works', async () => {
  await using repo = await tempRepo(OLD);
  const lock = join(repo.commonDir, 'index.lock');
  writeFileSync(lock, '');
  const { why, remedy } = await blockedRun(repo);
  expect(why).toContain('The checkout of main was not updated.');
  expect(why).toContain('index.lock');
  rmSync(lock);
  expect(await typed(remedy, repo)).toMatchObject({ code: 0 });
  expect(read(repo.dir)).toBe('new\n');
});

test.each(['here', 'elsewhere', 'nowhere'])(
  'a hook that protects a target checked out %s is obeyed, its words are told, nothing is touched',
  async (where) => {
    await using repo = await tempRepo(OLD);
    const target = where === 'here' ? 'main' : 'release';
    const dir = where === 'elsewhere' ? join(repo.outside, 'other') : repo.dir;
    if (where === 'nowhere') await repo.git('branch', 'release');
    if (where === 'elsewhere') await repo.git('worktree', 'add', '-qb', 'release', dir);
    const before = await repo.git('rev-parse', target);
    const hook = protect(repo, target);
    const { why, remedy, run } = await blockedRun(repo, PLAN, { args: ['--target', target] });
    expect(why).toBe(
      `The hook reference-transaction does not let ${target} move; nothing was touched, ` +
        `and what landed is on landfast/${run}. The hook said: ${target} is protected`,
    );
    expect(await repo.git('rev-parse', target)).toBe(before);
    expect(await repo.git('-C', dir, 'status', '--porcelain')).toBe('');
    expect(await typed(remedy, repo)).toMatchObject({ code: 1 });
    expect(await repo.git('-C', dir, 'status', '--porcelain')).toBe('');
    hook.remove();
    expect(await typed(remedy, repo)).toMatchObject({ code: 0 });
    expect(await repo.git('show', `${target}:a.txt`)).toBe('new');
    expect(read(dir)).toBe(where === 'nowhere' ? 'old\n' : 'new\n');
  },
);

test('a target that moved is combined and verified; changes in the way of that are told, too', async () => {
  await using repo = await tempRepo(OLD);
  const moved = `cd '${repo.dir}' && echo x > theirs && git add theirs && git commit -qm Theirs`;
  const plan = {
    gates: [{ name: 'whole', run: 'test -e a.txt' }],
    tasks: { one: `(${moved}; echo mine > a.txt); echo new > a.txt` },
  };
  const { remedy, of } = await blockedRun(repo, plan);
  expect(of('gate.finished').map(({ task, ok }) => [task, ok])).toEqual([
    ['one', true],
    [null, true],
  ]);
  await repo.git('stash');
  expect(await typed(remedy, repo)).toMatchObject({ code: 0 });
  expect(await repo.git('ls-files')).toBe('.gitignore\na.txt\ntheirs');
  expect(read(repo.dir)).toBe('new\n');
  expect(await resumed(repo)).toMatchObject({ code: 0 });
});

test('a target that moved and conflicts: the command begins the merge on it, wherever the user is', async () => {
  await using repo = await tempRepo(OLD);
  await repo.git('branch', 'release');
  await repo.commit('theirs', { 'a.txt': 'theirs\n' });
  const tasks = { one: `git -C '${repo.dir}' branch -qf release theirs; echo new > a.txt` };
  const { why, remedy, run } = await blockedRun(repo, { tasks }, TO_RELEASE);
  expect(why).toBe(
    'release moved meanwhile and conflicts with what landed:\na.txt: both changed line 1',
  );
  expect(remedy).toBe(`git switch release && git merge landfast/${run}`);
  expect(await typed(remedy, repo)).toMatchObject({
    code: 1,
    output: expect.stringContaining('Merge conflict in a.txt'),
  });
  await repo.write({ 'a.txt': 'both\n' });
  await repo.git('commit', '-qam', 'Both');
  expect(await resumed(repo)).toMatchObject({ code: 0 });
  expect(await repo.git('show', 'release:a.txt')).toBe('both');
});

test('a target that moved and is red together: the command merges, for a person to mend', async () => {
  await using repo = await tempRepo(OLD);
  const moved = `cd '${repo.dir}' && echo x > theirs && git add theirs && git commit -qm Theirs`;
  const plan = {
    gates: [{ name: 'not-both', run: 'test ! -e theirs || ! grep -q new a.txt' }],
    tasks: { one: `(${moved}); echo new > a.txt` },
  };
  const { why, remedy, run } = await blockedRun(repo, plan);
  expect(why).toContain('main moved meanwhile and gate not-both is red on the combination.');
  expect(remedy).toBe(`git merge landfast/${run}`);
  expect(existsSync(join(repo.dir, 'theirs'))).toBe(true);
  expect(read(repo.dir)).toBe('old\n');
  expect(await typed(remedy, repo)).toMatchObject({ code: 0 });
  expect(read(repo.dir)).toBe('new\n');
  expect(await resumed(repo)).toMatchObject({ code: 0 });
});

test('a target that was deleted is made again by the command', async () => {
  await using repo = await tempRepo(OLD);
  const target = "it's-$HOME";
  await repo.git('branch', target);
  const tasks = { one: `git -C '${repo.dir}' branch -qD "it's-\\$HOME"; echo new > a.txt` };
  const { why, remedy } = await blockedRun(repo, { tasks }, { args: ['--target', target] });
  expect(why).toBe(`The branch ${target} no longer exists.`);
  expect(await typed(remedy, repo)).toMatchObject({ code: 0 });
  expect(await repo.git('show', `${target}:a.txt`)).toBe('new');
  expect(await resumed(repo)).toMatchObject({ code: 0 });
});

test('a target that was deleted under its checkout: its files stay, and the command publishes', async () => {
  await using repo = await tempRepo(OLD);
  await repo.write({ 'mine.txt': 'mine\n' });
  const tasks = { one: `git -C '${repo.dir}' update-ref -d refs/heads/main; echo new > a.txt` };
  const { why, remedy } = await blockedRun(repo, { tasks });
  expect(why).toContain(`main, which is checked out in ${repo.dir}, no longer exists.`);
  expect(await typed(remedy, repo)).toMatchObject({ code: 0 });
  expect(read(repo.dir)).toBe('new\n');
  expect(await repo.git('status', '--porcelain')).toBe('?? mine.txt');
});
