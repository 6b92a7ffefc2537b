/** Whatever a task leaves in a workspace, the next one finds what it would find in a new one. */

import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { momentOf } from '../../src/base/steady-clock.ts';
import { addWorktree, removeWorktree } from '../../src/git/worktree.ts';
import type { Pool } from '../../src/workspace/pool/pool.ts';
import { restore } from '../../src/workspace/restore.ts';
import { Random } from '../sim/random.ts';
import { DIRT, dirty, dirtyable, gitState, headIn, LASTING_DIRT, walk } from '../support/dirt.ts';
import { testPool } from '../support/pool.ts';
import type { TempRepo } from '../support/temp-repo.ts';

const UNKNOWN = { bare: false, flagged: null };
/** Longer than what the clock of a file system may be behind ours. */
const TICK_MS = 30;

/** A new workspace, in which everything is older than the moment from which on it is used. */
async function addOne(repo: TempRepo, pool: Pool): Promise<string> {
  const path = join(repo.outside, 'work');
  const commit = await repo.git('rev-parse', 'main');
  await addWorktree(repo.commonDir, { path, branch: null, commit }, repo.signal);
  await beginNow(pool, path);
  return path;
}

async function beginNow(pool: Pool, dir: string): Promise<void> {
  await sleep(TICK_MS);
  pool.begin(dir, Date.now());
}

/** All that a task can find out about where it is; the name of its branch is not told. */
function seenIn(dir: string, branch: string) {
  const git = gitState(dir).map((told) => told.replaceAll(branch, 'its branch'));
  return { files: walk(dir), git };
}

/** What it finds in a new workspace at a commit. */
async function expectedAt(repo: TempRepo, name: string): Promise<ReturnType<typeof seenIn>> {
  const path = join(repo.outside, 'fresh');
  const commit = await repo.git('rev-parse', name);
  const branch = `fresh-${name}`;
  await addWorktree(repo.commonDir, { path, branch, commit }, repo.signal);
  const seen = seenIn(path, branch);
  await removeWorktree(repo.commonDir, path, repo.signal);
  return seen;
}

const put = (repo: TempRepo, pool: Pool, dir: string): Promise<boolean> =>
  pool.put(dir, { commit: headIn(dir), ...UNKNOWN }, repo.signal);

async function take(
  repo: TempRepo,
  pool: Pool,
  { dir, at, branch }: { readonly dir: string; readonly at: string; readonly branch: string },
): Promise<boolean> {
  const commit = await repo.git('rev-parse', at);
  return pool.take({ dir, commit, branch, owner: 'me' }, repo.signal);
}

test('nothing that a task leaves is seen by any later one', async () => {
  await using repo = await dirtyable();
  const pool = testPool(repo, 2);
  const expected = { next: await expectedAt(repo, 'next'), main: await expectedAt(repo, 'main') };
  let dir = await addOne(repo, pool);
  for (const [nth, [kind, script]] of Object.entries(DIRT).entries()) {
    dirty(dir, script);
    expect([kind, await put(repo, pool, dir)]).toEqual([kind, true]);
    const branch = `task-${nth}`;
    dir = join(repo.outside, branch);
    const at = nth % 2 === 0 ? 'next' : 'main';
    expect(await take(repo, pool, { dir, at, branch })).toBe(true);
    expect.soft(seenIn(dir, branch), kind).toEqual(expected[at]);
    await beginNow(pool, dir);
  }
});

test('a workspace with lasting dirt is not reused, and can be removed', async () => {
  await using repo = await dirtyable();
  const pool = testPool(repo, 2);
  for (const [kind, script] of Object.entries(LASTING_DIRT)) {
    const dir = await addOne(repo, pool);
    dirty(dir, script);
    expect.soft([kind, await put(repo, pool, dir)]).toEqual([kind, false]);
    await removeWorktree(repo.commonDir, dir, repo.signal);
    expect([pool.idle(), existsSync(dir)]).toEqual([[], false]);
  }
});

test('random dirt is not seen by the next task', async () => {
  await using repo = await dirtyable();
  const pool = testPool(repo, 2);
  const expected = await expectedAt(repo, 'next');
  const kinds = Object.keys({ ...DIRT, ...DIRT, ...LASTING_DIRT });
  const reused: unknown[] = [];
  for (let seed = 1; seed <= 6; seed += 1) {
    const random = new Random(seed);
    const names = Array.from({ length: random.between(2, 5) }, () => random.pick(kinds));
    const dir = await addOne(repo, pool);
    for (const name of names) dirty(dir, DIRT[name] ?? LASTING_DIRT[name] ?? '');
    const branch = `task-${seed}`;
    if (await put(repo, pool, dir)) {
      const isTaken = await take(repo, pool, { dir, at: 'next', branch });
      reused.push({ names, isTaken, seen: isTaken ? seenIn(dir, branch) : null });
    }
    await removeWorktree(repo.commonDir, dir, repo.signal);
  }
  expect(reused.length).toBeGreaterThan(0);
  const asNew = { names: expect.any(Array), isTaken: true, seen: expected };
  expect(reused).toEqual(reused.map(() => asNew));
});

test('the target of a link stays as it is', async () => {
  await using repo = await dirtyable();
  const pool = testPool(repo, 2);
  const dir = await addOne(repo, pool);
  dirty(dir, 'mkdir ../out; echo mine > ../out/x; chmod 700 ../out');
  dirty(
    dir,
    'ln -s ../out new; ln -s ../out cache; rm -r dir; ln -s ../out dir; ln -sf ../out/x a',
  );
  expect(await put(repo, pool, dir)).toBe(true);
  const out = join(repo.outside, 'out');
  expect([...walk(out)]).toEqual([['x', expect.stringMatching(/mine\n$/)]]);
  expect(statSync(out).mode & 0o777).toBe(0o700);
});

/** Root may do everything, so as root another user does it. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

test.each([
  ['used again', 'put', '1\n'],
  ['removed', 'remove', '0\n'],
])('with read-only folders it is %s, also by a user who is not root', async (_, how, idle) => {
  await using repo = await dirtyable();
  const pool = testPool(repo, 2);
  const dir = await addOne(repo, pool);
  const deep = 'mkdir -p new/in cache/in; touch new/in/x cache/in/x';
  dirty(dir, `${deep}; chmod -R a-w new cache dir; chmod 500 new/in; chmod 000 cache/in`);
  const head = await repo.git('rev-parse', 'main');
  if ('uid' in NOBODY) execFileSync('chown', ['-R', `${NOBODY.uid}:${NOBODY.gid}`, repo.outside]);
  const script = join(import.meta.dirname, '../support/put-away.ts');
  const since = `${pool.sinceOf(dir)?.at ?? 0}`;
  const args = [script, repo.commonDir, dir, head, since, how];
  expect(execFileSync(process.execPath, args, { ...NOBODY, encoding: 'utf8' })).toBe(idle);
  expect([existsSync(dir), existsSync(join(repo.outside, '.removed'))]).toEqual([
    how === 'put',
    false,
  ]);
});

test('files that the plan keeps stay in all that dirt', async () => {
  await using repo = await dirtyable();
  const pool = testPool(repo, 2, { keepFiles: ['cache/', 'unignored'] });
  const { files } = await expectedAt(repo, 'next');
  const dir = await addOne(repo, pool);
  dirty(dir, 'mkdir -p cache/in; echo kept > cache/in/x; ln -s in cache/link; echo x > unignored');
  const kept = [...walk(dir)].filter(([name]) => name.startsWith('cache/'));
  // Those that touch what is kept, or make the index unreadable, are looked at above.
  const scripts = Object.values(DIRT).filter((script) => !/cache|git-path index\)/.test(script));
  for (const script of scripts) dirty(dir, script);
  expect(await put(repo, pool, dir)).toBe(true);
  expect(await take(repo, pool, { dir, at: 'next', branch: 'task' })).toBe(true);
  expect(walk(dir)).toEqual(new Map([...files, ...kept]));
});

test('where the last change is unknown, nothing is restored', async () => {
  await using repo = await dirtyable();
  const dir = await addOne(repo, testPool(repo, 2));
  const now = Date.now();
  const setBack = momentOf(now, { wall: () => now + 60_000, passing: () => performance.now() });
  for (const since of [null, setBack, momentOf(now + 60_000)]) {
    expect(await restore({ dir, since, keep: [], ...UNKNOWN }, repo.signal)).toBe(null);
  }
});

test('files in a folder that was moved look untouched: only git can tell them', async () => {
  await using repo = await dirtyable();
  const dir = await addOne(repo, testPool(repo, 2));
  const since = momentOf(Date.now());
  await rename(join(dir, 'dir'), join(dir, 'moved'));
  const what = { dir, since, keep: [], flagged: false };
  await restore({ ...what, bare: true }, repo.signal);
  expect(existsSync(join(dir, 'moved/c'))).toBe(true);
  await restore({ ...what, bare: false }, repo.signal);
  expect(existsSync(join(dir, 'moved'))).toBe(false);
});
