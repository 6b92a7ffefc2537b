/** Workspaces that are moved from task to task: the next one sees nothing of the one before. */

import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { Suspension } from '../../src/base/suspension.ts';
import { thisClaimant } from '../../src/cli/pooling.ts';
import { openRepository } from '../../src/git/repository.ts';
import { thisProcess } from '../../src/journal/lease.ts';
import { openRunBranch } from '../../src/merge/run-branch.ts';
import { createWorkspace } from '../../src/workspace/create.ts';
import type { Ground } from '../../src/workspace/ground.ts';
import { judgeWork } from '../../src/workspace/judge.ts';
import { removeRunFolder, removeWorkspace } from '../../src/workspace/remove.ts';
import { planOf, taskSpec } from '../support/journal-builder.ts';
import { bareEnv } from '../support/landfast.ts';
import { MARK } from '../support/mark.ts';
import { NO_MEMORY, NO_RESOLUTIONS } from '../support/no-memory.ts';
import { testPool } from '../support/pool.ts';
import { type PlanRun, runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const FILES = { '.gitignore': 'cache/\n*.log\n', a: '1\n', b: '1\n', 'dir/c': '1\n' };

/** What a task finds: every file and folder, their content, and what git says of them. */
const LOOK =
  'find . -path ./.git -prune -o -print | sort; cat a b dir/c; git status; git ls-files -v';

const DIRT = [
  ['nothing', 'true'],
  ['a commit of its own', 'echo 1 > own; git add own; git commit -qm own'],
  ['a deleted and a changed file', 'rm b; echo 2 > a'],
  ['ignored files', 'mkdir cache; echo x > cache/x; echo x > x.log'],
  ['empty folders', 'mkdir -p empty/inner dir/empty'],
  ['files that git was told not to look at', 'git update-index --assume-unchanged a; echo x > a'],
  ['files that git was told to skip', 'git update-index --skip-worktree b; echo x > b'],
  ['half of a checkout', 'git sparse-checkout set --no-cone /a /work.txt >/dev/null 2>&1'],
  ['a bisection', 'git bisect start -q'],
] as const;

test.each(
  DIRT.flatMap(([what, leave]) => [
    [what, leave, 'the next'],
    [what, leave, 'one that waits'],
  ]),
)('a task that leaves %s leaves it to nobody (%s; %s)', async (_, leave, whom) => {
  await using repo = await tempRepo({ files: FILES });
  const ground = await groundOf(repo);
  const base = await repo.git('rev-parse', 'HEAD');
  const open = async (task: string): Promise<string> => {
    const order = { task, attempt: 1, base, start: { kind: 'fresh' }, mark: MARK } as const;
    const created = await createWorkspace(ground, order, repo.signal);
    if (created.kind !== 'ready') throw new Error(JSON.stringify(created));
    return created.dir;
  };
  const first = await open('one');
  sh(first, `${leave}; echo 1 > work.txt`);
  const work = { task: taskSpec({ id: 'one' }), dir: first, base, mark: MARK, mended: false };
  const judged = await judgeWork(ground, work, repo.signal);
  const safe = judged.kind === 'good' && judged.commit !== null ? [judged.commit] : [];
  expect(safe).toHaveLength(1);
  const end = { task: 'one', succeeded: true, safe };
  ground.pool.coming.learn(60_000);
  if (whom === 'one that waits') ground.pool.coming.add(first);
  const waits = whom === 'one that waits' ? open('two') : null;
  expect(await removeWorkspace(ground, end, repo.signal)).toEqual({ kind: 'removed' });
  expect(existsSync(first)).toBe(false);
  ground.pool.coming.delete(first);
  const second = await (waits ?? open('two'));
  const found = sh(second, LOOK);
  await repo.git('worktree', 'add', '-q', '-b', ON_TWO.replace('two', 'new'), '../fresh', base);
  const expected = sh(join(repo.outside, 'fresh'), LOOK);
  expect(found.replaceAll(ON_TWO, '')).toBe(expected.replaceAll(ON_TWO.replace('two', 'new'), ''));
});

const ON_TWO = 'landfast/r1.two';

test('a workspace in which nothing is left is the next one, and goes with the run', async () => {
  await using repo = await tempRepo({ files: FILES });
  const ground = await groundOf(repo);
  const base = await repo.git('rev-parse', 'HEAD');
  const entryOf = (dir: string): string => readFileSync(join(dir, '.git'), 'utf8');
  const order = { attempt: 1, base, start: { kind: 'fresh' }, mark: MARK } as const;
  const one = await createWorkspace(ground, { ...order, task: 'one' }, repo.signal);
  const entry = one.kind === 'ready' ? entryOf(one.dir) : '';
  await removeWorkspace(ground, { task: 'one', succeeded: true, safe: [base] }, repo.signal);
  const two = await createWorkspace(ground, { ...order, task: 'two' }, repo.signal);
  expect(two.kind === 'ready' && entryOf(two.dir)).toBe(entry);
  await removeWorkspace(ground, { task: 'two', succeeded: true, safe: [base] }, repo.signal);
  await removeRunFolder(ground, repo.signal);
  expect(readdirSync(repo.outside)).toEqual(['repo']);
  expect(await repo.git('worktree', 'list', '--porcelain')).not.toContain('repo.worktrees');
});

test('one for which somebody waits does not pass through a slot, and is put there if he does not', async () => {
  await using repo = await tempRepo({ files: FILES });
  const commit = await repo.git('rev-parse', 'HEAD');
  const pool = testPool(repo, 4, { small: true });
  const wantedAt = (dir: string) => ({ dir, commit, branch: null, owner: null });
  const add = async (name: string): Promise<string> => {
    const dir = join(repo.outside, name);
    await repo.git('worktree', 'add', '-q', '--detach', dir);
    return dir;
  };
  const [one, two] = [await add('one'), await add('two')];
  pool.coming.learn(60_000);
  pool.coming.add(one);
  const stop = new AbortController();
  const first = pool.take(wantedAt(join(repo.outside, 'first')), repo.signal);
  const second = pool.take(wantedAt(join(repo.outside, 'second')), stop.signal);
  await vi.waitUntil(() => pool.coming.awaited === 2);
  await pool.put(one, { commit, pristine: true }, repo.signal);
  await pool.put(two, { commit, pristine: true }, repo.signal);
  expect(pool.idle()).toEqual([]);
  stop.abort();
  pool.coming.delete(one);
  expect(await first).toBe(true);
  expect(await second).toBe(false);
  expect(await repo.git('-C', join(repo.outside, 'first'), 'status', '--porcelain')).toBe('');
  await pool.settle(repo.signal);
  expect(pool.idle().map(({ slot }) => slot)).toEqual([1]);
  const third = join(repo.outside, 'third');
  expect(await pool.take(wantedAt(third), repo.signal)).toBe(true);
  expect(await repo.git('worktree', 'list', '--porcelain')).toContain(third);
  expect(readdirSync(pool.place.folder)).toEqual([]);
});

test('what a dead engine held is thrown away, and what a live one holds is left alone', async () => {
  await using repo = await tempRepo({ files: FILES });
  const commit = await repo.git('rev-parse', 'HEAD');
  const folder = join(`${repo.dir}.worktrees`, '.pool');
  const dead = Buffer.from(JSON.stringify({ ...thisProcess(), start: 'x:1' })).toString(
    'base64url',
  );
  const live = thisClaimant().name;
  for (const owner of [dead, live]) {
    await repo.git('worktree', 'add', '-q', '--detach', join(folder, `.claim-${owner}.x`), commit);
  }
  const dir = join(repo.outside, 'one');
  expect(await testPool(repo, 4).take(wanted(dir, commit), repo.signal)).toBe(false);
  expect(readdirSync(folder)).toEqual([`.claim-${live}.x`]);
  expect(await repo.git('worktree', 'list')).not.toContain(dead);
});

test('a branch is freed from whoever was about to hand it over, and from nobody else', async () => {
  await using repo = await tempRepo({ files: FILES });
  const pool = testPool(repo, 4);
  const { folder } = pool.place;
  const far = Buffer.from(JSON.stringify({ ...thisProcess(), host: 'far' })).toString('base64url');
  const claim = join(folder, `.claim-${far}.x`);
  const other = join(folder, `.claim-${far}.y`);
  const user = join(repo.outside, 'user');
  for (const [branch, path] of Object.entries({ one: claim, two: other, three: user })) {
    await repo.git('worktree', 'add', '-q', '-b', branch, path);
  }
  for (const branch of ['one', 'three', 'four']) await pool.free(branch, repo.signal);
  expect(readdirSync(folder)).toEqual([`.claim-${far}.y`]);
  expect(readdirSync(repo.outside)).toContain('user');
});

test('one of which only git still knows holds no branch any longer', async () => {
  await using repo = await tempRepo({ files: FILES });
  const commit = await repo.git('rev-parse', 'HEAD');
  const { folder } = testPool(repo, 4).place;
  const dead = Buffer.from(JSON.stringify({ ...thisProcess(), start: 'x:1' })).toString(
    'base64url',
  );
  const gone = join(folder, `.claim-${dead}.x`);
  const elsewhere = join(repo.outside, '.claim-of-a-user');
  for (const [index, path] of [gone, elsewhere].entries()) {
    await repo.git('worktree', 'add', '-q', '-b', `b${index}`, path, commit);
    rmSync(path, { recursive: true });
  }
  await testPool(repo, 4).repair(repo.signal);
  const list = await repo.git('worktree', 'list', '--porcelain');
  expect(list).not.toContain(gone);
  expect(list).toContain(elsewhere); // It may be on a disk that is not there today.
});

test('one whose folder is gone is forgotten by git, unless somebody may have it in his hands', async () => {
  await using repo = await tempRepo({ files: FILES });
  const commit = await repo.git('rev-parse', 'HEAD');
  const { folder, me } = testPool(repo, 4).place;
  const place = join(folder, '4');
  await repo.git('worktree', 'add', '-q', '--detach', place, commit);
  rmSync(place, { recursive: true });
  const held = join(folder, '.claim-somebody.x');
  mkdirSync(held, { recursive: true });
  const isAlive = (name: string): boolean => name === 'somebody';
  await testPool(repo, 4, { me: { ...me, isAlive } }).repair(repo.signal);
  expect(await repo.git('worktree', 'list', '--porcelain')).toContain(place);
  rmSync(held, { recursive: true });
  await testPool(repo, 4).repair(repo.signal);
  expect(await repo.git('worktree', 'list', '--porcelain')).not.toContain(place);
});

const SEEN_BY_ALL = [
  ['another HEAD', 'git checkout -q --detach HEAD~0; git commit -q --allow-empty -m x'],
  ['a changed index', 'echo x > x; git add x'],
  ['a lock', 'touch "$(git rev-parse --git-path index.lock)"'],
  ['no git folder', 'rm -r "$(git rev-parse --git-dir)"'],
] as const;

test.each(SEEN_BY_ALL)('an idle workspace with %s is thrown away', async (_, harm) => {
  await using repo = await tempRepo({ files: FILES });
  const commit = await repo.git('rev-parse', 'HEAD');
  const pool = testPool(repo, 4);
  expect(await pool.add(commit, repo.signal)).toBe('added');
  sh(join(pool.place.folder, '1'), harm);
  const dir = join(repo.outside, 'one');
  expect(await pool.take(wanted(dir, commit), repo.signal)).toBe(false);
  expect(readdirSync(pool.place.folder)).toEqual([]);
});

test.each([
  ...SEEN_BY_ALL,
  ['a wrong registration', 'echo /nowhere/.git > "$(git rev-parse --git-dir)/gitdir"'],
  ['no note', 'rm "$(git rev-parse --git-dir)/landfast-idle"'],
] as const)('one of an earlier engine with %s is thrown away', async (_, harm) => {
  await using repo = await tempRepo({ files: FILES });
  const commit = await repo.git('rev-parse', 'HEAD');
  expect(await testPool(repo, 4).add(commit, repo.signal)).toBe('added');
  const pool = testPool(repo, 4);
  sh(join(pool.place.folder, '1'), harm);
  const dir = join(repo.outside, 'one');
  expect(await pool.take(wanted(dir, commit), repo.signal)).toBe(false);
  expect(readdirSync(pool.place.folder)).toEqual([]);
});

test('many at once get one each, and the rest nothing', async () => {
  await using repo = await tempRepo({ files: FILES });
  const commit = await repo.git('rev-parse', 'HEAD');
  const pools = [testPool(repo, 4), testPool(repo, 4)];
  for (let n = 0; n < 3; n += 1) await pools[0]?.add(commit, repo.signal);
  const takes = [1, 2, 3, 4, 5, 6].map((n) =>
    pools[n % 2]?.take(wanted(join(repo.outside, `t${n}`), commit), repo.signal),
  );
  expect((await Promise.all(takes)).filter((taken) => taken === true)).toHaveLength(3);
  expect(readdirSync(repo.outside).filter((name) => /^t\d$/.test(name))).toHaveLength(3);
});

const wanted = (dir: string, commit: string) => ({
  dir,
  commit,
  branch: null,
  owner: null,
  assertHeld: () => undefined,
});

const sawIn = (run: PlanRun, task: string): readonly string[] =>
  run.of('attempt.finished', task)[0]?.text.split('\n') ?? [];

test('with one worker each task sees what has landed, and no folder of those before', async () => {
  await using repo = await tempRepo({ files: { '.gitignore': 'cache/\n', a: '1\n' } });
  const look = 'ls -A | grep -v "^\\.git"; ls ..';
  const mess = 'mkdir cache; echo x > cache/x';
  const run = await runPlan(repo, {
    workers: 1,
    tasks: {
      t1: 'echo 1 > f1',
      t2: { needs: ['t1'], prompt: `${look}; ${mess}; echo 1 > f2` },
      t3: { needs: ['t2'], prompt: `${look}; echo 1 > f3` },
      t4: { needs: ['t3'], prompt: `${look}; git log -1 --format=%s; echo 1 > f4` },
    },
  });
  expect(run).toMatchObject({ code: 0 });
  expect(sawIn(run, 't2')).toEqual(['a', 'f1', 't2']);
  expect(sawIn(run, 't3')).toEqual(['a', 'f1', 'f2', 't3']);
  expect(sawIn(run, 't4')).toEqual(['a', 'f1', 'f2', 'f3', 't4', 'Land t3']);
  expect(existsSync(join(repo.outside, 'repo.worktrees'))).toBe(false);
});

test.each(['hooks', '.husky'])('a pre-commit hook in %s is not hidden by the pool', async (dir) => {
  await using repo = await tempRepo({ files: { '.gitignore': 'hooked\n', a: '1\n' } });
  const hook = 'touch hooked; if git diff --cached --name-only | grep -q two; then exit 1; fi';
  await installHook(repo, dir, hook);
  const run = await runPlan(repo, {
    workers: 1,
    tasks: {
      one: 'echo 1 > one.txt',
      two: { needs: ['one'], prompt: 'ls hooked; echo 1 > two.txt' },
      three: { needs: ['one'], prompt: 'ls hooked; echo 1 > three.txt' },
    },
  });
  expect(run).toMatchObject({ code: 1 });
  expect(run.failure('two')).toMatchObject({ kind: 'commit-failed' });
  expect(run.of('merge.landed').map(({ task }) => task)).toEqual(['one', 'three']);
  expect(sawIn(run, 'three')).toEqual(['']); // Nothing that the hook left for an earlier task.
});

async function groundOf(repo: TempRepo): Promise<Ground> {
  const opened = await openRepository(repo.dir, repo.signal);
  if (opened.kind !== 'repository') throw new Error(opened.kind);
  const ground = {
    repository: opened.repository,
    run: 'r1',
    plan: planOf([{ id: 'one' }, { id: 'two' }], { gates: [] }),
    env: bareEnv(repo.outside),
    pool: testPool(repo, 4),
    suspension: new Suspension(),
    verdicts: NO_MEMORY,
    resolutions: NO_RESOLUTIONS,
    assertHeld: () => undefined,
  };
  await openRunBranch(ground, await repo.git('rev-parse', 'HEAD'), repo.signal);
  return ground;
}

function sh(cwd: string, script: string): string {
  return execFileSync('sh', ['-ec', script], { cwd, encoding: 'utf8' });
}

async function installHook(repo: TempRepo, dir: string, text: string): Promise<void> {
  const isOwn = dir !== 'hooks';
  const file = isOwn ? `${dir}/pre-commit` : `.git/${dir}/pre-commit`;
  await repo.write({ [file]: `#!/bin/sh\n${text}\n` });
  chmodSync(join(repo.dir, file), 0o755);
  if (!isOwn) return;
  await repo.git('add', '-A');
  await repo.git('commit', '-qm', 'hook');
  await repo.git('config', 'core.hooksPath', dir);
}
