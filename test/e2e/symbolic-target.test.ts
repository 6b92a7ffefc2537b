/**
 * A target that is a symbolic ref (`master` for `main`): the run resolves it once, at its start, and
 * lands on the branch behind it, so that branch and checkout stay together.
 */

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast, start } from '../support/landfast.ts';
import { nativePlan } from '../support/native-plan.ts';
import { runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const PLAN = {
  gates: [{ name: 'has-readme', run: 'test -e README.md' }],
  tasks: { one: 'echo 1 > one.txt', two: 'echo 2 > two.txt' },
};

/** Asserts that `main` has the work, and that its checkout has the files of it. */
async function expectTogether(repo: TempRepo): Promise<void> {
  expect(await repo.git('status', '--porcelain')).toBe('');
  expect(await repo.git('ls-tree', '--name-only', 'main')).toBe('README.md\none.txt\ntwo.txt');
  expect(existsSync(join(repo.dir, 'two.txt'))).toBe(true);
  expect(await repo.git('symbolic-ref', 'refs/heads/master')).toBe('refs/heads/main');
}

test.each([
  ['is named', ['--target', 'master'], 'refs/heads/main'],
  ['is checked out', [], 'refs/heads/master'],
  ['is named and checked out', ['--target', 'master'], 'refs/heads/master'],
])(
  'a symbolic branch that %s: the branch behind it moves, and the checkout follows',
  async (...how) => {
    const [, args, head] = how;
    await using repo = await tempRepo();
    await repo.git('symbolic-ref', 'refs/heads/master', 'refs/heads/main');
    await repo.git('symbolic-ref', 'HEAD', head);
    const run = await runPlan(repo, PLAN, { args });
    expect(run).toMatchObject({ code: 0 });
    expect(run.of('run.started')[0]).toMatchObject({ target: 'main' });
    expect(run.of('publish.finished')[0]).toMatchObject({ target: 'main', checkout: 'followed' });
    await expectTogether(repo);
  },
);

test('a symbolic branch that points elsewhere during the run: the branch it meant before moves', async () => {
  await using repo = await tempRepo();
  await repo.git('branch', 'other');
  await repo.git('symbolic-ref', 'refs/heads/alias', 'refs/heads/master');
  await repo.git('symbolic-ref', 'refs/heads/master', 'refs/heads/main');
  const slow = 'echo 1 > one.txt; while test ! -e ../../../go; do sleep 0.05; done';
  const plan = nativePlan({ ...PLAN, tasks: { ...PLAN.tasks, one: slow } });
  writeFileSync(join(repo.outside, 'plan.yaml'), plan);
  const args = ['run', '../plan.yaml', '--events', '--target', 'alias'];
  const engine = start(args, { cwd: repo.dir });
  await engine.untilFact('attempt.started', 'one');
  await repo.git('symbolic-ref', 'refs/heads/alias', 'refs/heads/other');
  writeFileSync(join(repo.outside, 'go'), '');
  expect(await engine.ended).toMatchObject({ code: 0 });
  await expectTogether(repo);
  expect(await repo.git('ls-tree', '--name-only', 'other')).toBe('README.md');
});

test('branches land on a symbolic target as on any other', async () => {
  await using repo = await tempRepo();
  await repo.git('symbolic-ref', 'refs/heads/master', 'refs/heads/main');
  await repo.commit('one', { 'one.txt': '1\n' });
  await repo.commit('two', { 'two.txt': '2\n' });
  const landed = await landfast(['land', 'one', 'two', '--target', 'master'], { cwd: repo.dir });
  expect(landed).toMatchObject({ code: 0 });
  await expectTogether(repo);
});

test('a symbolic target that leads to no branch is refused before anything starts', async () => {
  await using repo = await tempRepo();
  await repo.git('update-ref', 'refs/remotes/origin/main', 'HEAD');
  await repo.git('symbolic-ref', 'refs/heads/upstream', 'refs/remotes/origin/main');
  const run = await runPlan(repo, PLAN, { args: ['--target', 'upstream'] });
  expect(run).toMatchObject({ code: 2, facts: [] });
  expect(run.stderr).toContain('upstream is a symbolic ref to refs/remotes/origin/main');
  expect(run.stderr).toContain('--target');
});
