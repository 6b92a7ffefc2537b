/** What an agent may leave behind in its workspace, and that none of it is lost or let through. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type PlanRun, runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const IDENTITY = '-c user.name=A -c user.email=a@example.com';

/** A file in the workspace that a task kept. */
const keptFile = (repo: TempRepo, { run }: PlanRun, ...path: readonly string[]): string =>
  readFileSync(join(repo.outside, 'repo.worktrees', run, ...path), 'utf8');

test('a repository made inside of a workspace fails the task, and its files are kept', async () => {
  await using repo = await tempRepo();
  const nested = (dir: string): string =>
    `mkdir -p ${dir}; git init -q ${dir}; cd ${dir}; echo inside > f; echo beside > "$OLDPWD/beside"`;
  const run = await runPlan(repo, {
    tasks: {
      committed: `${nested('app')}; git add f; git ${IDENTITY} commit -qm inside`,
      unborn: nested('app'),
      deep: `${nested('a/b')}; git add f; git ${IDENTITY} commit -qm inside`,
      linked: [
        nested('app'),
        `git add f; git ${IDENTITY} commit -qm inside; cd ..`,
        'git add app; git commit -qm linked',
      ].join('; '),
      good: 'echo 1 > good.txt',
    },
  });
  expect(run).toMatchObject({ code: 1 });
  const kinds = ['committed', 'unborn', 'deep', 'linked'].map((task) => run.failure(task)?.kind);
  expect(kinds).toEqual(Array(4).fill('commit-failed'));
  expect(run.of('merge.landed').map(({ task }) => task)).toEqual(['good']);
  expect(keptFile(repo, run, 'committed', 'app', 'f')).toBe('inside\n');
  expect(keptFile(repo, run, 'unborn', 'app', 'f')).toBe('inside\n');
  expect(keptFile(repo, run, 'deep', 'a', 'b', 'f')).toBe('inside\n');
  expect(keptFile(repo, run, 'linked', 'app', 'f')).toBe('inside\n');
  expect(keptFile(repo, run, 'committed', 'beside')).toBe('beside\n');
});

test('changes by a check count against the scope as well', async () => {
  await using repo = await tempRepo();
  const secretive = (file: string, check: string) => ({
    writes: [file],
    forbids: ['secret.txt'],
    prompt: `echo 1 > ${file}`,
    checks: [check],
  });
  const run = await runPlan(repo, {
    tasks: {
      leaks: secretive('a.txt', 'echo leak > secret.txt'),
      commits: secretive('b.txt', 'echo leak > secret.txt; git add -A; git commit -qm leak'),
      strays: { writes: ['c.txt'], prompt: 'echo 1 > c.txt', checks: ['echo x > beside.txt'] },
      quiet: { writes: ['d.txt'], prompt: 'echo 1 > d.txt', checks: ['echo more >> d.txt'] },
    },
  });
  expect(run).toMatchObject({ code: 1 });
  const secret = { kind: 'out-of-scope', files: ['secret.txt'] };
  expect(run.failure('leaks')).toMatchObject(secret);
  expect(run.failure('commits')).toMatchObject(secret);
  expect(run.failure('strays')).toMatchObject({ kind: 'out-of-scope', files: ['beside.txt'] });
  expect(run.of('merge.landed').map(({ task }) => task)).toEqual(['quiet']);
  expect(await repo.git('ls-files')).toBe('README.md\nd.txt');
  expect(await repo.git('show', 'main:d.txt')).toBe('1\nmore');
});

/** A commit on the task's branch, whose name is told, then away from it. */
const LEAVES = [
  'echo 1 > first.txt',
  'git add first.txt',
  'git commit -qm "made on our branch"',
  'git rev-parse HEAD > ../../../made.$LANDFAST_ATTEMPT',
  'git checkout -q --detach HEAD~1',
].join(' && ');

const refsWith = async (repo: TempRepo, attempt: number): Promise<string> => {
  const made = readFileSync(join(repo.outside, `made.${attempt}`), 'utf8').trim();
  return repo.git('for-each-ref', '--format=%(refname)', '--contains', made);
};

test('commits made before an agent detached HEAD stay reachable', async () => {
  await using repo = await tempRepo();
  const run = await runPlan(repo, { tasks: { leaves: `${LEAVES}; echo 2 > second.txt` } });
  expect(run).toMatchObject({ code: 0 });
  expect(await repo.git('ls-files')).toBe('README.md\nsecond.txt');
  expect(await refsWith(repo, 1)).toContain(`refs/landfast/kept/${run.run}/leaves`);
});

test('so do those of a failed attempt that is tried again', async () => {
  await using repo = await tempRepo();
  const script = `${LEAVES}; echo 2 > second.txt; test "$LANDFAST_ATTEMPT" = 2`;
  const run = await runPlan(repo, { retries: 1, tasks: { leaves: script } });
  expect(run).toMatchObject({ code: 0 });
  expect(await refsWith(repo, 1)).not.toBe('');
  expect(await refsWith(repo, 2)).not.toBe('');
});

test('so do those of a task that fails for good', async () => {
  await using repo = await tempRepo();
  const run = await runPlan(repo, { tasks: { leaves: `${LEAVES}; exit 1` } });
  expect(run).toMatchObject({ code: 1 });
  expect(await refsWith(repo, 1)).not.toBe('');
});

test('a lock that a killed git left in the workspace does not stop the commit', async () => {
  await using repo = await tempRepo();
  const lock = 'for name in index HEAD; do touch "$(git rev-parse --git-dir)/$name.lock"; done';
  const run = await runPlan(repo, {
    retries: 1,
    tasks: {
      works: `echo 1 > works.txt; ${lock}`,
      fails: `echo 1 > fails.txt; ${lock}; test "$LANDFAST_ATTEMPT" = 2`,
    },
  });
  expect(run).toMatchObject({ code: 0 });
  expect(await repo.git('ls-files')).toBe('README.md\nfails.txt\nworks.txt');
  expect(existsSync(join(repo.outside, 'repo.worktrees'))).toBe(false);
});

test('pipes in the place of files that are read hang nothing', async () => {
  await using repo = await tempRepo({ files: { lock: '1\n' } });
  const run = await runPlan(repo, {
    retries: 1,
    more: { workspace: { setup: ['true'], setup_key: ['lock'] } },
    tasks: {
      nested: 'git init -q app; echo 1 > app/f; mkfifo .gitmodules',
      key: 'if test $LANDFAST_ATTEMPT = 1; then rm lock; mkfifo lock; exit 1; fi; echo 1 > key.txt',
    },
  });
  expect(run.failure('nested')).toMatchObject({ kind: 'commit-failed' });
  expect(run.of('merge.landed').map(({ task }) => task)).toEqual(['key']);
  expect(await repo.git('ls-files')).toBe('key.txt\nlock');
});
