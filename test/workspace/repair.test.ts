/** What crashes and people make of a pool's folder does not stay in the way. */

import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { thisProcess } from '../../src/journal/lease.ts';
import { landfast } from '../support/landfast.ts';
import { testPool } from '../support/pool.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const DEAD = Buffer.from(JSON.stringify({ ...thisProcess(), start: 'x:1' })).toString('base64url');
const LONG_AGO = new Date(Date.now() - 3_600_000);
const HOURS_AGO = new Date(Date.now() - 7_200_000);

const folderOf = (repo: TempRepo): string => testPool(repo, 4).place.folder;
const entriesOf = (repo: TempRepo): readonly string[] => {
  const entries = join(repo.commonDir, 'worktrees');
  return existsSync(entries) ? readdirSync(entries) : [];
};
const told = (repo: TempRepo, entry: string): string =>
  join(repo.commonDir, 'worktrees', entry, 'gitdir');

async function addOne(repo: TempRepo): Promise<string> {
  const commit = await repo.git('rev-parse', 'HEAD');
  const pool = testPool(repo, 4);
  const before = new Set(readdirSync(pool.place.folder));
  expect(await pool.add(commit, repo.signal)).toBe('added');
  return readdirSync(pool.place.folder).find((name) => !before.has(name)) ?? '';
}

function sh(cwd: string, script: string): void {
  execFileSync('sh', ['-ec', script], { cwd });
}

test.each([
  ['whole', 'true'],
  ['with the lock of a killed git', 'touch "$(git rev-parse --git-path index.lock)"'],
  ['that is locked', 'git worktree lock .'],
  ['in the middle of a merge', 'touch "$(git rev-parse --git-path MERGE_HEAD)"'],
  ['without an index', 'rm "$(git rev-parse --git-path index)"'],
  ['that git does not know', 'rm -r "$(git rev-parse --git-dir)"'],
  ['without a link to git', 'd=$(git rev-parse --git-dir); rm .git; rm -r "$d"'],
  ['that is empty', 'd=$(git rev-parse --git-dir); rm -r "$PWD"/* .git; rm -r "$d"'],
  ['of which git knows another place', 'echo /nowhere/.git > "$(git rev-parse --git-dir)/gitdir"'],
])('a claim of a dead process, %s, is thrown away', async (_, harm) => {
  await using repo = await tempRepo();
  const claim = join(folderOf(repo), `.claim-${DEAD}.x`);
  await repo.git('worktree', 'add', '-q', '--detach', claim);
  sh(claim, harm);
  await testPool(repo, 4).repair(repo.signal);
  expect(readdirSync(folderOf(repo)).filter((name) => name !== '.removed')).toEqual([]);
  expect(entriesOf(repo)).toEqual([]);
});

const FAR = Buffer.from(JSON.stringify({ ...thisProcess(), host: 'far' })).toString('base64url');

/** The places of which git knows in a pool's folder. */
const placesOf = (repo: TempRepo): readonly string[] =>
  entriesOf(repo).map((entry) => basename(dirname(readFileSync(told(repo, entry), 'utf8'))));

/** Nobody has done anything to a claim for more than an hour, but for a file of its entry. */
function age(repo: TempRepo, claim: string, but = ''): void {
  const nth = placesOf(repo).indexOf(basename(claim));
  const entry = dirname(told(repo, entriesOf(repo)[nth]!));
  const files = readdirSync(entry).filter((name) => name !== but);
  const paths = [...files.map((name) => join(entry, name)), entry, claim];
  for (const path of paths.filter((each) => existsSync(each)))
    utimesSync(path, HOURS_AGO, HOURS_AGO);
}

test.each([
  ['is young', 'x', null, true],
  ['is old', 'x', '', false],
  ['has an index that was written just now', 'x', 'index', true],
  ['was made just now, of something old', `${Date.now()}-x`, '', true],
  ['was made long ago', `${HOURS_AGO.getTime()}-x`, '', false],
])('a claim of another host that %s', async (_, name, but, stays) => {
  await using repo = await tempRepo();
  // Of the second git knows, but its folder is not there: it may be about to be made.
  const claims = ['1', '2'].map((one) => join(folderOf(repo), `.claim-${FAR}.${name}${one}`));
  for (const claim of claims) await repo.git('worktree', 'add', '-q', '--detach', claim);
  rmSync(claims[1]!, { recursive: true });
  if (but !== null) for (const claim of claims) age(repo, claim, but);
  await testPool(repo, 4).repair(repo.signal);
  expect(placesOf(repo).toSorted()).toEqual(stays ? claims.map((path) => basename(path)) : []);
  expect(existsSync(claims[0]!)).toBe(stays);
});

test('what is said of a claim of another host or of a dead process', async () => {
  await using repo = await tempRepo();
  const far = join(folderOf(repo), `.claim-${FAR}.x`);
  const dead = join(folderOf(repo), `.claim-${DEAD}.x`);
  for (const path of [far, dead]) await repo.git('worktree', 'add', '-q', '--detach', path);
  const run = (...args: readonly string[]) => landfast(args, { cwd: repo.dir });
  const rows = async (...args: readonly string[]): Promise<readonly Row[]> => {
    const shown = JSON.parse((await run(...args, '--json')).stdout);
    return shown.workspaces ?? shown.verdicts ?? shown;
  };
  const held = /^it is held by a process of another host or container; .* an hour/;
  const why = expect.stringMatching(held);
  expect(await rows('pool', 'status')).toMatchObject(
    [far, dead]
      .toSorted()
      .map((path) => ({ path, state: path === far ? 'elsewhere' : 'broken', bytes: null })),
  );
  const about = (all: readonly Row[], path: string) => all.find((row) => row.path === path);
  const listed = await rows('worktrees');
  expect(about(listed, far)).toMatchObject({ state: 'live', why, remove: null });
  expect(about(listed, dead)).toMatchObject({ state: 'left', remove: 'landfast pool drain' });
  const planned = await rows('cleanup', '--all', '--dry-run');
  expect(about(planned, far)).toMatchObject({ remove: false, live: true, why });
  expect(about(planned, dead)).toMatchObject({ remove: true });
  const drained = await run('pool', 'drain');
  expect(drained.stdout).toBe('Removed: 1 workspace, 0 seeds.\n');
  expect(drained.stderr).toContain(`landfast: ${far} is left: it is held by a process`);
  expect(readdirSync(folderOf(repo))).toEqual([basename(far)]);
  age(repo, far);
  expect(await run('pool', 'drain')).toMatchObject({ code: 0, stderr: '' });
  expect(await repo.git('worktree', 'list')).not.toContain('.pool');
});

test('git forgets a slot whose folder somebody has deleted, but not what may be on its way', async () => {
  await using repo = await tempRepo();
  mkdirSync(folderOf(repo), { recursive: true });
  const slots = [await addOne(repo), await addOne(repo)];
  for (const slot of slots) rmSync(join(folderOf(repo), slot), { recursive: true });
  const [old = '', young] = entriesOf(repo);
  utimesSync(told(repo, old), LONG_AGO, LONG_AGO);
  const held = join(folderOf(repo), '.claim-somebody.x'); // Perhaps it is this one.
  mkdirSync(held);
  const me = { ...testPool(repo, 4).place.me, isAlive: (name: string) => name === 'somebody' };
  await testPool(repo, 4, { me }).repair(repo.signal);
  expect(entriesOf(repo)).toEqual([young]);
  rmSync(held, { recursive: true });
  await testPool(repo, 4).repair(repo.signal);
  expect(entriesOf(repo)).toEqual([]);
});

test('what is left of an entry that was deleted half way goes, when nobody can be at it', async () => {
  await using repo = await tempRepo();
  const entry = (name: string): string => join(repo.commonDir, 'worktrees', name);
  const user = join(repo.outside, 'user');
  await repo.git('worktree', 'add', '-q', '--detach', user);
  for (const name of ['old', 'young', 'locked', 'empty']) {
    cpSync(entry('user'), entry(name), { recursive: true });
    rmSync(join(entry(name), 'gitdir'));
  }
  for (const name of readdirSync(entry('empty'))) {
    rmSync(join(entry('empty'), name), { recursive: true });
  }
  writeFileSync(join(entry('locked'), 'locked'), '');
  for (const name of ['old', 'locked', 'empty', 'user', 'young']) {
    const files = readdirSync(entry(name)).map((each) => join(entry(name), each));
    for (const path of [...files, entry(name)]) utimesSync(path, LONG_AGO, LONG_AGO);
  }
  utimesSync(join(entry('young'), 'HEAD'), new Date(), new Date());
  await testPool(repo, 4).repair(repo.signal);
  expect(entriesOf(repo).toSorted()).toEqual(['locked', 'user', 'young']);
  expect(await repo.git('-C', user, 'status', '--porcelain')).toBe('');
});

test('of two entries for one slot the one that is there stays', async () => {
  await using repo = await tempRepo();
  mkdirSync(folderOf(repo), { recursive: true });
  const slot = await addOne(repo);
  const path = join(folderOf(repo), slot);
  rmSync(path, { recursive: true });
  const [gone = ''] = entriesOf(repo);
  expect(await addOne(repo)).toBe(slot);
  for (const entry of entriesOf(repo)) utimesSync(told(repo, entry), LONG_AGO, LONG_AGO);
  const there = entriesOf(repo).filter((entry) => entry !== gone);
  await testPool(repo, 4).repair(repo.signal);
  expect(entriesOf(repo)).toEqual(there);
  const commit = await repo.git('rev-parse', 'HEAD');
  const wanted = { dir: join(repo.outside, 'one'), commit, branch: null, owner: null };
  expect(await testPool(repo, 4).take(wanted, repo.signal)).toBe(true);
});

test('a workspace that somebody has just claimed is his, although git knows its old place', async () => {
  await using repo = await tempRepo();
  mkdirSync(folderOf(repo), { recursive: true });
  const path = join(folderOf(repo), await addOne(repo));
  const before = entriesOf(repo);
  utimesSync(told(repo, before[0] ?? ''), LONG_AGO, LONG_AGO);
  const claimed = join(folderOf(repo), '.claim-somebody.x');
  sh(repo.dir, `mv '${path}' '${claimed}'`);
  const me = { name: 'me', isAlive: () => true };
  await testPool(repo, 4, { me }).repair(repo.signal);
  expect(entriesOf(repo)).toEqual(before);
});

test('an empty folder in a slot goes, and what somebody has put there stays', async () => {
  await using repo = await tempRepo();
  mkdirSync(join(folderOf(repo), '1'), { recursive: true });
  mkdirSync(join(folderOf(repo), '2'));
  writeFileSync(join(folderOf(repo), '2', 'mine'), '');
  const slot = await addOne(repo);
  expect(slot).toBe('3');
  await testPool(repo, 4).repair(repo.signal);
  expect(readdirSync(folderOf(repo)).sort()).toEqual(['2', '3']);
});

interface Row {
  readonly path: string;
  readonly state: string;
  readonly remove: string | null;
}

test('worktrees lists the pool, and cleanup removes of it what is broken or old, or all', async () => {
  await using repo = await tempRepo();
  const run = async (...args: readonly string[]) =>
    JSON.parse((await landfast([...args, '--json'], { cwd: repo.dir })).stdout);
  await run('pool', 'warm', '4');
  const slot = (nth: number): string => join(folderOf(repo), `${nth}`);
  sh(slot(2), 'echo precious > new.txt; git add new.txt');
  rmSync(slot(3), { recursive: true });
  const rows: readonly Row[] = await run('worktrees');
  const drain = 'landfast pool drain';
  const none = { kind: 'idle', run: null, task: null, unmerged: null, resume: null };
  expect(rows.toSorted((a, b) => (a.path < b.path ? -1 : 1))).toMatchObject([
    { path: slot(1), state: 'idle', why: 'waits for the next task', remove: drain, ...none },
    { path: slot(2), state: 'left', why: 'it is not what it was left as', remove: drain },
    { path: slot(3), state: 'gone', remove: `git worktree remove ${slot(3)}` },
    { path: slot(4), state: 'idle' },
  ]);
  const first = await run('cleanup', '--yes');
  expect(first.removed.toSorted()).toEqual([slot(2), slot(3)]);
  const [ref = ''] = (
    await repo.git('for-each-ref', '--format=%(refname)', 'refs/landfast/kept')
  ).split('\n');
  expect(await repo.git('show', `${ref}:new.txt`)).toBe('precious');
  expect((await run('cleanup', '--yes', '--older-than', '1h')).removed).toEqual([]);
  const all = await run('cleanup', '--yes', '--all');
  expect(all.removed.toSorted()).toEqual([slot(1), slot(4)]);
  expect(await run('worktrees')).toEqual([]);
  expect(existsSync(`${repo.dir}.worktrees`)).toBe(false);
});
