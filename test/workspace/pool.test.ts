/** Worktrees that are moved from task to task, in one run and between runs. */

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { addWorktree } from '../../src/git/worktree.ts';
import { notesDirOf } from '../../src/git/worktree-notes.ts';
import { isIdle } from '../../src/workspace/pool/idle-worktrees.ts';
import type { Pool } from '../../src/workspace/pool/pool.ts';
import { removeRunFolder } from '../../src/workspace/remove.ts';
import { testPool } from '../support/pool.ts';
import { closeTask, openTask, testContext } from '../support/run-context.ts';
import { type PlanRun, runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const FILES = { '.gitignore': 'cache/\n*.log\n', a: '1\n', b: '1\n', 'dir/c': '1\n' };
const UNKNOWN = { bare: false, flagged: null };

const sh = (cwd: string, script: string): string =>
  execFileSync('sh', ['-ec', script], { cwd, encoding: 'utf8' });

const headOf = (repo: TempRepo): Promise<string> => repo.git('rev-parse', 'HEAD');

/** A worktree that was used, and is idle now. */
async function putOne(repo: TempRepo, pool: Pool, name: string, script = 'true'): Promise<string> {
  const path = join(repo.outside, name);
  const commit = await headOf(repo);
  pool.begin(path, await addWorktree(repo.commonDir, { path, branch: null, commit }, repo.signal));
  sh(path, script);
  expect(await pool.put(path, { commit, ...UNKNOWN }, repo.signal)).toBe(true);
  return path;
}

/** Takes one that waits to a folder; answers with that, or null where there is none. */
async function takeTo(repo: TempRepo, pool: Pool, name: string): Promise<string | null> {
  const dir = join(repo.outside, name);
  const wanted = { dir, commit: await headOf(repo), branch: null, owner: 'me' };
  return (await pool.take(wanted, repo.signal)) ? dir : null;
}

/** Whatever git does not hold in a folder, and what it takes for changed. */
const leftIn = (dir: string): string => sh(dir, 'git status --porcelain --ignored');

const placesOf = async (repo: TempRepo): Promise<readonly string[]> =>
  (await repo.git('worktree', 'list', '--porcelain'))
    .split('\n')
    .flatMap((line) => (line.startsWith('worktree ') ? [line.slice(9)] : []))
    .slice(1);

test('the workspace of a task is that of the next one, and goes with the run', async () => {
  await using repo = await tempRepo({ files: FILES });
  const context = await testContext(repo, {}, { pool: testPool(repo, 4) });
  const entryOf = (dir: string): string => readFileSync(join(dir, '.git'), 'utf8');
  const one = await openTask(context, 'one');
  const entry = entryOf(one.dir);
  await closeTask(context, 'one');
  expect(isIdle(one.dir)).toBe(true);
  const two = await openTask(context, 'two');
  expect([entryOf(two.dir), existsSync(one.dir)]).toEqual([entry, false]);
  await closeTask(context, 'two');
  await removeRunFolder(context, repo.signal);
  expect(readdirSync(repo.outside)).toEqual(['repo']);
  expect(await placesOf(repo)).toEqual([]);
});

test('a waiting task gets a workspace as soon as another has released it', async () => {
  await using repo = await tempRepo({ files: FILES });
  const context = await testContext(repo, {});
  const one = await openTask(context, 'one');
  const entry = readFileSync(join(one.dir, '.git'), 'utf8');
  context.pool.pending.learn(600_000);
  context.pool.pending.add(one.dir);
  const two = openTask(context, 'two');
  await closeTask(context, 'one');
  context.pool.pending.delete(one.dir);
  expect(readFileSync(join((await two).dir, '.git'), 'utf8')).toBe(entry);
});

test('many at once get one each, and the rest nothing', async () => {
  await using repo = await tempRepo({ files: FILES });
  const pools = [testPool(repo, 4), testPool(repo, 4)];
  for (const name of ['a', 'b', 'c']) await putOne(repo, pools[0]!, name);
  const takes = [1, 2, 3, 4, 5, 6].map((n) => takeTo(repo, pools[n % 2]!, `t${n}`));
  expect((await Promise.all(takes)).filter((taken) => taken !== null)).toHaveLength(3);
  const names = readdirSync(repo.outside).filter((name) => name !== 'repo');
  expect(names.filter((name) => !/^t\d$/.test(name))).toEqual([]);
  expect(names).toHaveLength(3);
});

test('workspaces for a later run wait in the pool, whole and at their commit', async () => {
  await using repo = await tempRepo({ files: FILES });
  const pool = testPool(repo, 4, { small: true, later: 1 });
  await putOne(repo, pool, 'one', 'echo x > a');
  await putOne(repo, pool, 'two', 'rm -r dir');
  await pool.settle(repo.signal);
  const waits = join(pool.place.folder, '1');
  expect(readdirSync(repo.outside).toSorted()).toEqual(['repo', 'repo.worktrees']);
  expect([await placesOf(repo), leftIn(waits)]).toEqual([[waits], '']);
  const later = testPool(repo, 4, { run: 'r2' });
  expect(later.idle()).toMatchObject([{ path: waits, note: { run: 'r1' } }]);
  sh(waits, 'echo x > a; echo x > x; mkdir cache; touch cache/x'); // A person may look around.
  await repo.commit('main', { b: '2\n' });
  const dir = await takeTo(repo, later, 'three');
  expect([leftIn(dir ?? ''), sh(dir ?? '', 'cat a b')]).toEqual(['', '1\n2\n']);
});

test('git settings that a user makes in an idle workspace are not seen by the next task', async () => {
  await using repo = await tempRepo({ files: FILES });
  const commands = ['true', 'git update-index --skip-worktree a', 'git rm -q --cached a'];
  const seen: string[] = [];
  for (const command of commands) {
    const pool = testPool(repo, 4, { small: true, later: 1 });
    await putOne(repo, pool, 'one');
    await pool.settle(repo.signal);
    sh(join(pool.place.folder, '1'), command); // Changes no file.
    const dir = (await takeTo(repo, testPool(repo, 4, { run: 'r2' }), 'two')) ?? '';
    seen.push(`${leftIn(dir)}${sh(dir, 'git ls-files -v a; cat a')}`);
    sh(repo.dir, 'rm -rf ../two .git/worktrees');
  }
  expect(seen).toEqual(commands.map(() => 'H a\n1\n'));
});

/** What may have happened to one that waits, and what becomes of it. */
const HARM = [
  ['another HEAD', 'git commit -q --allow-empty -m x', 'taken'],
  ['a changed index', 'echo x > x; git add x', 'taken'],
  ['no index', 'rm "$(git rev-parse --git-path index)"', 'taken'],
  ['the lock of a killed git', 'touch "$(git rev-parse --git-path index.lock)"', 'removed'],
  ['a merge in progress', 'touch "$(git rev-parse --git-path MERGE_HEAD)"', 'removed'],
  ['a lock of a person', 'git worktree lock .', 'removed'],
  ['no folder', 'rm -r "$PWD"', 'removed'],
  ['no link to git', 'rm .git', 'removed'],
  ['half a git folder', 'rm "$(git rev-parse --git-dir)/HEAD"', 'removed'],
  ['no git folder', 'rm -r "$(git rev-parse --git-dir)"', 'left'],
  ['a repository in its place', 'rm .git; git init -q', 'left'],
] as const;

test('one to which something has happened is restored, or gone for the pool', async () => {
  await using repo = await tempRepo({ files: FILES });
  for (const [kind, harm, end] of HARM) {
    const path = await putOne(repo, testPool(repo, 4), 'waits');
    sh(path, harm);
    const pool = testPool(repo, 4); // Of a later process.
    const dir = await takeTo(repo, pool, 'taken');
    const ended = dir !== null ? 'taken' : existsSync(path) ? 'left' : 'removed';
    expect.soft([kind, ended, pool.idle()]).toEqual([kind, end, []]);
    if (dir !== null) expect.soft([kind, leftIn(dir)]).toEqual([kind, '']);
    if (end === 'removed') expect.soft([kind, await placesOf(repo)]).toEqual([kind, []]);
    sh(repo.dir, 'rm -rf ../waits ../taken .git/worktrees');
  }
});

test('a workspace that an engine was handing over when it died is used by the next engine', async () => {
  await using repo = await tempRepo({ files: FILES });
  const path = await putOne(repo, testPool(repo, 4), 'one', 'echo x > a');
  const moved = join(repo.outside, 'moved');
  sh(notesDirOf(path) ?? '', 'mv idle taken-dead');
  await repo.git('worktree', 'move', path, moved);
  sh(moved, 'git checkout -q -b half; echo half > a; echo x > x');
  const dir = (await takeTo(repo, testPool(repo, 4), 'two')) ?? '';
  expect([leftIn(dir), sh(dir, 'cat a'), await placesOf(repo)]).toEqual(['', '1\n', [dir]]);
});

test('a folder that holds something is neither moved into nor removed', async () => {
  await using repo = await tempRepo({ files: FILES });
  const pool = testPool(repo, 4);
  const path = await putOne(repo, pool, 'one');
  mkdirSync(join(repo.outside, 'mine'));
  writeFileSync(join(repo.outside, 'mine', 'file'), '');
  mkdirSync(join(repo.outside, 'empty'));
  expect(await takeTo(repo, pool, 'mine')).toBe(null);
  expect([readdirSync(join(repo.outside, 'mine')), await placesOf(repo)]).toEqual([
    ['file'],
    [path],
  ]);
  expect(await takeTo(repo, pool, 'empty')).toBe(join(repo.outside, 'empty'));
});

test('in a copy of the repository those of the original are left alone', async () => {
  await using repo = await tempRepo({ files: FILES });
  const path = await putOne(repo, testPool(repo, 4), 'one');
  const copy = join(repo.outside, 'copy');
  sh(repo.outside, 'cp -a repo copy');
  const pool = testPool(repo, 4, { commonDir: join(copy, '.git'), folder: `${copy}.worktrees` });
  const wanted = { dir: join(repo.outside, 'two'), commit: await headOf(repo), branch: null };
  expect(await pool.take({ ...wanted, owner: null }, repo.signal)).toBe(false);
  expect([pool.idle(), existsSync(join(path, '.git'))]).toEqual([[], true]);
  expect(await takeTo(repo, testPool(repo, 4), 'three')).not.toBe(null);
});

test('a worktree of the user with a name that the pool would use is not taken', async () => {
  await using repo = await tempRepo({ files: FILES });
  const path = await putOne(repo, testPool(repo, 4), 'fix');
  rmSync(path, { recursive: true });
  await repo.git('worktree', 'prune');
  mkdirSync(join(repo.outside, 'user'));
  const user = join(repo.outside, 'user', 'fix');
  await repo.git('worktree', 'add', '-q', '--detach', user);
  writeFileSync(join(user, 'work'), '');
  expect(await takeTo(repo, testPool(repo, 4), 'two')).toBe(null);
  expect([existsSync(join(user, 'work')), isIdle(user)]).toEqual([true, false]);
});

test('where some folders are checked out, it is not used again, and a new one is made', async () => {
  await using repo = await tempRepo({ files: FILES });
  const pool = testPool(repo, 4);
  const [path, commit] = [join(repo.outside, 'one'), await headOf(repo)];
  const sparse = { path, branch: null, commit, cone: ['dir'] };
  pool.begin(path, await addWorktree(repo.commonDir, sparse, repo.signal));
  expect(await pool.put(path, { commit, ...UNKNOWN }, repo.signal)).toBe(false);
  await putOne(repo, pool, 'two');
  const wanted = { dir: join(repo.outside, 'three'), commit, branch: null, owner: null };
  expect(await pool.take({ ...wanted, cone: ['dir'] }, repo.signal)).toBe(false);
  expect(await pool.take(wanted, repo.signal)).toBe(true);
});

test('other attributes would write other files: one of before them is not used', async () => {
  await using repo = await tempRepo({ files: FILES });
  const pool = testPool(repo, 4);
  await putOne(repo, pool, 'one');
  await repo.commit('main', { 'dir/.gitattributes': '* text eol=crlf\n' });
  expect([await takeTo(repo, pool, 'two'), pool.idle()]).toEqual([null, []]);
});

test('kept files stay as long as the plan keeps them and git ignores them', async () => {
  await using repo = await tempRepo({ files: FILES });
  const keeps = { keepFiles: ['cache/'] };
  const make = 'mkdir -p dir/cache; touch dir/cache/x x.log';
  const pool = testPool(repo, 4, keeps);
  const leftAfter = async (next: Pool, name: string): Promise<string> => {
    await putOne(repo, pool, `${name}-before`, make);
    return leftIn((await takeTo(repo, next, name)) ?? '');
  };
  expect(await leftAfter(pool, 'same')).toBe('!! dir/cache/\n');
  expect(await leftAfter(testPool(repo, 4, { keepFiles: ['other/'] }), 'another')).toBe('');
  await putOne(repo, pool, 'unignored-before', make);
  await repo.commit('main', { '.gitignore': '' });
  expect(leftIn((await takeTo(repo, pool, 'unignored')) ?? '')).toBe('');
});

test('the hook of a checkout is run once for each that gets one, as if it were new', async () => {
  await using repo = await tempRepo({ files: FILES });
  const hook = join(repo.commonDir, 'hooks', 'post-checkout');
  const log = join(repo.outside, 'log');
  mkdirSync(join(repo.commonDir, 'hooks'), { recursive: true });
  writeFileSync(hook, `#!/bin/sh\necho "\${PWD##*/} $1" >> ${log}; echo x > dir/hooked\n`);
  chmodSync(hook, 0o755);
  const pool = testPool(repo, 4, { small: true });
  await putOne(repo, pool, 'one');
  await pool.settle(repo.signal);
  const dir = (await takeTo(repo, pool, 'two')) ?? '';
  const none = '0'.repeat(40);
  expect(readFileSync(log, 'utf8')).toBe(`one ${none}\ntwo ${none}\n`);
  expect(leftIn(dir)).toBe('?? dir/hooked\n');
  expect(await pool.put(dir, { commit: await headOf(repo), ...UNKNOWN }, repo.signal)).toBe(true);
  rmSync(hook);
  expect(leftIn((await takeTo(repo, pool, 'three')) ?? '')).toBe('');
});

test('a workspace requested ahead of a run is made, or the reason against it is given', async () => {
  await using repo = await tempRepo({ files: FILES });
  const commit = await headOf(repo);
  const add = (more: Parameters<typeof testPool>[2] = {}, most = 1) =>
    testPool(repo, most, more).add(commit, repo.signal);
  expect(await add({ disk: 3 })).toBe('disk');
  expect([readdirSync(repo.outside), await placesOf(repo)]).toEqual([['repo'], []]);
  expect(await add()).toBe('added');
  const [waits] = testPool(repo, 1).idle();
  expect(waits).toMatchObject({ note: { commit, asked: true, files: 4 } });
  expect(leftIn(waits?.path ?? '')).toBe('');
  expect(await add()).toBe('full');
  await repo.write({ '.git/info/sparse-checkout': '/a\n' });
  expect(await add({}, 4)).toBe('own-settings');
  expect(await takeTo(repo, testPool(repo, 4), 'one')).toBe(null);
});

test('idle workspaces are released to free disk space, the oldest first', async () => {
  await using repo = await tempRepo({ files: FILES });
  const pool = testPool(repo, 4);
  const one = await putOne(repo, pool, 'one');
  const two = await putOne(repo, pool, 'two');
  expect([await pool.shed(repo.signal), await pool.shed(repo.signal)]).toEqual([one, two]);
  expect([await pool.shed(repo.signal), readdirSync(repo.outside)]).toEqual([null, ['repo']]);
});

const sawIn = (run: PlanRun, task: string): readonly string[] =>
  run.of('attempt.finished', task)[0]?.text.split('\n') ?? [];

test('in a run each task sees what has landed and nothing else, and hooks judge it', async () => {
  await using repo = await tempRepo({ files: { '.gitignore': 'hooked\ncache\n', a: '1\n' } });
  const hook = 'touch hooked; if git diff --cached --name-only | grep -q two; then exit 1; fi';
  const file = '.husky/pre-commit';
  await repo.write({ [file]: `#!/bin/sh\n${hook}\n` });
  chmodSync(join(repo.dir, file), 0o755);
  await repo.git('add', '-A');
  await repo.git('commit', '-qm', 'hook');
  await repo.git('config', 'core.hooksPath', '.husky');
  const look = 'ls -A | grep -v "^\\.git"';
  const run = await runPlan(repo, {
    workers: 1,
    tasks: {
      one: 'echo 1 > one.txt; mkdir cache; touch cache/x',
      two: { needs: ['one'], prompt: `${look}; echo 1 > two.txt` },
      three: { needs: ['one'], prompt: `${look}; git log -1 --format=%s; echo 1 > three.txt` },
    },
  });
  expect(run).toMatchObject({ code: 1 });
  expect(run.failure('two')).toMatchObject({ kind: 'commit-failed' });
  expect(run.of('merge.landed').map(({ task }) => task)).toEqual(['one', 'three']);
  expect(sawIn(run, 'three')).toEqual(['.husky', 'a', 'one.txt', 'Land one']);
});
