/** Strategy none: work stays on its branch, is pushed where the plan says so, and is never lost. */

import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { runPlan } from '../support/run-plan.ts';
import { runGit, type TempRepo, tempRepo } from '../support/temp-repo.ts';

const NONE = { strategy: 'none' };
const PUSHED = { strategy: 'none', push: 'origin' };

async function withRemote(repo: TempRepo): Promise<string> {
  const remote = join(repo.outside, 'remote.git');
  await runGit(repo.outside, ['init', '--quiet', '--bare', remote]);
  await repo.git('remote', 'add', 'origin', remote);
  return remote;
}

const resume = (repo: TempRepo) =>
  landfast(['resume'], { cwd: repo.dir, env: { HOME: repo.outside } });

const branches = (repo: TempRepo) => repo.git('branch', '--format=%(refname:short)');

test('work stays on its branch: nothing is merged, no workspace is left', async () => {
  await using repo = await tempRepo();
  const main = await repo.git('rev-parse', 'main');
  const run = await runPlan(repo, {
    land: NONE,
    tasks: {
      one: 'echo 1 > one.txt',
      two: { branch: 'feature/two', title: 'The second', prompt: 'echo 2 > two.txt' },
      look: { read_only: true, needs: ['one'], prompt: 'ls' },
    },
  });
  expect(run.code, run.stderr).toBe(0);
  const one = `landfast/${run.run}.one`;
  expect(
    run.of('work.delivered').map(({ task, branch, pushed }) => [task, branch, pushed]),
  ).toEqual(
    expect.arrayContaining([
      ['one', one, null],
      ['two', 'feature/two', null],
    ]),
  );
  expect(run.of('publish.started')).toEqual([]);
  expect(await repo.git('rev-parse', 'main')).toBe(main);
  expect(await branches(repo)).toBe(`feature/two\n${one}\nmain`);
  expect(await repo.git('show', 'feature/two:two.txt')).toBe('2');
  expect(await repo.git('log', '-1', '--format=%s', 'feature/two')).toBe('two: The second');
  expect(existsSync(join(repo.outside, 'repo.worktrees'))).toBe(false);
  expect(run.stderr).toContain('✓ two  on branch feature/two\n');
  const status = await landfast(['status'], { cwd: repo.dir, env: { HOME: repo.outside } });
  expect(status.stdout).toContain('delivered 2/2');
});

test('a branch is pushed, and what a red gate sends back is not', async () => {
  await using repo = await tempRepo();
  const remote = await withRemote(repo);
  const run = await runPlan(repo, {
    land: { ...PUSHED, on_gate_failure: 'fail' },
    gates: [{ name: 'good', run: 'test ! -e bad.txt' }],
    tasks: { good: 'echo 1 > good.txt', bad: 'echo 1 > bad.txt' },
  });
  expect(run.code).toBe(1);
  const [delivered] = run.of('work.delivered');
  expect(delivered).toMatchObject({ task: 'good', pushed: 'origin' });
  expect(run.failure('bad')).toMatchObject({ kind: 'gate-failed' });
  const there = await runGit(remote, [
    'for-each-ref',
    '--format=%(refname:lstrip=2) %(objectname)',
  ]);
  expect(there).toBe(`${delivered!.branch} ${delivered!.commit}`);
  expect(run.stderr).toContain(`✓ good  on branch ${delivered!.branch} (pushed to origin)`);
});

test('a refused push fails the task, keeps its work, and a resume pushes without an agent', async () => {
  await using repo = await tempRepo();
  const remote = await withRemote(repo);
  const hook = join(remote, 'hooks', 'pre-receive');
  writeFileSync(hook, '#!/bin/sh\necho "not today" >&2; exit 1');
  chmodSync(hook, 0o755);
  const run = await runPlan(repo, { land: PUSHED, tasks: { one: 'echo 1 > one.txt' } });
  const branch = `landfast/${run.run}.one`;
  expect(run.code).toBe(1);
  expect(run.failure('one')).toEqual({
    kind: 'push-failed',
    message: expect.stringContaining('not today'),
    remote: 'origin',
    branch,
  });
  expect(run.stderr).toContain(`git push -u origin ${branch}`);
  expect(await repo.git('show', `${branch}:one.txt`)).toBe('1');
  rmSync(hook);
  const again = await resume(repo);
  expect(again.code, again.stderr).toBe(0);
  expect(await runGit(remote, ['show', `${branch}:one.txt`])).toBe('1');
  expect(again.stderr).not.toContain('attempt 2');
});

test('a branch that the user has pushed meanwhile counts as delivered', async () => {
  await using repo = await tempRepo();
  const remote = await withRemote(repo);
  await repo.git('remote', 'set-url', 'origin', join(repo.outside, 'gone.git'));
  const run = await runPlan(repo, { land: PUSHED, tasks: { one: 'echo 1 > one.txt' } });
  expect(run.failure('one')?.kind).toBe('push-failed');
  await repo.git('remote', 'set-url', 'origin', remote);
  await repo.git('push', '-q', '-u', 'origin', `landfast/${run.run}.one`);
  const again = await resume(repo);
  expect(again.code, again.stderr).toBe(0);
});

test('a network that fails once is tried again', async () => {
  await using repo = await tempRepo();
  const remote = await withRemote(repo);
  const ssh = join(repo.outside, 'ssh');
  const log = join(repo.outside, 'tries');
  const lines = [
    '#!/bin/sh',
    `echo x >> ${log}`,
    `test $(wc -l < ${log}) -gt 1 || { echo "Connection refused" >&2; exit 255; }`,
    'for last; do :; done; eval "exec $last"',
  ];
  writeFileSync(ssh, lines.join('\n'));
  chmodSync(ssh, 0o755);
  await repo.git('remote', 'set-url', 'origin', `ssh://127.0.0.1${remote}`);
  await repo.git('config', 'core.sshCommand', ssh);
  const run = await runPlan(repo, { land: PUSHED, tasks: { one: 'echo 1 > one.txt' } });
  expect(run.code, run.stderr).toBe(0);
  expect(await runGit(remote, ['show', `landfast/${run.run}.one:one.txt`])).toBe('1');
});

test('an existing branch with commits of its own is refused before anything starts', async () => {
  await using repo = await tempRepo();
  const tip = await repo.commit('feature/one', { 'old.txt': 'old\n' });
  const plan = {
    land: NONE,
    tasks: { one: { branch: 'feature/one', prompt: 'echo 1 > one.txt' } },
  };
  const run = await runPlan(repo, plan);
  expect(run).toMatchObject({ code: 3, facts: [] });
  expect(run.stderr).toContain('The branch feature/one of task one exists and holds commits');
  expect(run.stderr).toContain('git branch -m feature/one feature/one-old');
  expect(await repo.git('rev-parse', 'feature/one')).toBe(tip);
});

test('an existing branch that the base contains is reused, and what is checked out is not', async () => {
  await using repo = await tempRepo();
  await repo.git('branch', 'feature/one');
  await repo.commit('main', { 'new.txt': 'new\n' });
  const plan = {
    land: NONE,
    tasks: { one: { branch: 'feature/one', prompt: 'echo 1 > one.txt' } },
  };
  expect(await runPlan(repo, plan)).toMatchObject({ code: 0 });
  expect(await repo.git('ls-tree', '--name-only', 'feature/one')).toBe(
    'README.md\nnew.txt\none.txt',
  );
  const own = await runPlan(repo, {
    land: NONE,
    tasks: { one: { branch: 'main', prompt: 'echo 1 > one.txt' } },
  });
  expect(own).toMatchObject({ code: 3, facts: [] });
  expect(own.stderr).toContain('The branch main of task one is checked out in');
});

test('a writing task cannot need another, whose work it would not see', async () => {
  await using repo = await tempRepo();
  const run = await runPlan(repo, {
    land: NONE,
    tasks: { one: 'echo 1 > one.txt', two: { needs: ['one'], prompt: 'echo 2 > two.txt' } },
  });
  expect(run).toMatchObject({ code: 2, facts: [] });
  expect(run.stderr).toContain('with strategy none, tasks that need "one" do not see its work');
});
