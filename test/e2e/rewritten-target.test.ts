/**
 * A target whose history the user rewrites during the run: it is not touched, and the command that
 * is named brings what landed onto the new history, without the commits that were taken out.
 */

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';
import { typed } from '../support/typed.ts';

const NEW_ROOT = 'git checkout -q --orphan new && git commit -qm New && git branch -qM new main';

/** Two tasks, the first of which begins while the user rewrites the target in the checkout. */
function plan(repo: TempRepo, rewrite: string, more: Readonly<Record<string, string>> = {}) {
  const tasks = {
    one: `(cd '${repo.dir}' && ${rewrite}) && echo 1 > one.txt`,
    two: { needs: ['one'], prompt: 'echo 2 > two.txt' },
    ...more,
  };
  return { gates: [{ name: 'has-readme', run: 'test -e README.md' }], tasks };
}

const subjects = (repo: TempRepo, branch = 'main') => repo.git('log', '--format=%s', branch);
const resumed = (repo: TempRepo) => landfast(['resume'], { cwd: repo.dir });

test.each([
  ['the only commit was amended', 'git commit -q --amend -m New', 'Change', 'New'],
  ['a file was amended', 'echo new > a.txt && git commit -qa --amend -m New', 'Old', 'New\nChange'],
  ['it has a new root', NEW_ROOT, 'Old', 'New'],
  ['a commit was dropped', 'git reset -q --hard HEAD~1', 'Old', 'Change'],
])('%s: the command picks what landed, and nothing comes back', async (_, rewrite, old, left) => {
  await using repo = await tempRepo();
  await repo.write({ 'a.txt': 'old\n' });
  if (old === 'Old') {
    await repo.git('add', 'a.txt');
    await repo.git('commit', '-qm', old);
  }
  const base = await repo.git('rev-parse', 'main');
  const run = await runPlan(repo, plan(repo, rewrite));
  expect(run).toMatchObject({ code: 1 });
  const [blocked] = run.of('publish.blocked');
  expect(blocked).toMatchObject({
    why:
      `The history of main was rewritten meanwhile: it no longer holds ${base.slice(0, 7)}, ` +
      `which the run started from. It was not touched; what landed is on landfast/${run.run}.`,
    remedy: `git cherry-pick -x -m 1 --first-parent ${base}..landfast/${run.run}`,
  });
  expect(await subjects(repo)).toBe(left);
  expect(await typed(blocked?.remedy, repo)).toMatchObject({ code: 0 });
  expect(await subjects(repo)).toBe(`Land two\nLand one\n${left}`);
  expect(await repo.git('show', 'main:two.txt')).toBe('2');
  expect(await repo.git('status', '--porcelain', '-uno')).toBe('');
  expect(await resumed(repo)).toMatchObject({ code: 0 });
  expect(await subjects(repo)).toBe(`Land two\nLand one\n${left}`);
});

test('commits of a rebased line are picked one by one', async () => {
  await using repo = await tempRepo();
  const run = await runPlan(repo, { ...plan(repo, NEW_ROOT), land: { strategy: 'rebase' } });
  const [blocked] = run.of('publish.blocked');
  expect(await typed(blocked?.remedy, repo)).toMatchObject({ code: 0 });
  expect(await repo.git('ls-tree', '--name-only', 'main')).toBe('README.md\none.txt\ntwo.txt');
  expect(await resumed(repo)).toMatchObject({ code: 0 });
});

test('work that lands after the first pick is picked alone', async () => {
  await using repo = await tempRepo();
  const three = 'test ! -e ../../../red && echo 3 > three.txt';
  writeFileSync(join(repo.outside, 'red'), '');
  const run = await runPlan(repo, plan(repo, 'git commit -q --amend -m New', { three }));
  expect(await typed(run.of('publish.blocked')[0]?.remedy, repo)).toMatchObject({ code: 0 });
  rmSync(join(repo.outside, 'red'));
  expect(await resumed(repo)).toMatchObject({ code: 1 });
  const status = await landfast(['status', '--json'], { cwd: repo.dir });
  const { publish } = JSON.parse(status.stdout) as { publish: { remedy: string } };
  expect(await typed(publish.remedy, repo)).toMatchObject({ code: 0 });
  expect(await subjects(repo)).toBe('Land three\nLand two\nLand one\nNew');
  expect(await resumed(repo)).toMatchObject({ code: 0 });
});

test('a rewritten target that is checked out nowhere: the command switches to it', async () => {
  await using repo = await tempRepo();
  await repo.git('branch', 'release');
  const rewrite = 'git branch -f release $(git commit-tree -m New HEAD^{tree})';
  const run = await runPlan(repo, plan(repo, rewrite), { args: ['--target', 'release'] });
  const [blocked] = run.of('publish.blocked');
  expect(blocked?.remedy).toMatch(/^git switch release && git cherry-pick /);
  expect(await typed(blocked?.remedy, repo)).toMatchObject({ code: 0 });
  expect(await subjects(repo, 'release')).toBe('Land two\nLand one\nNew');
  expect(await resumed(repo)).toMatchObject({ code: 0 });
});
