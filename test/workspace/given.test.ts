/** A workspace that is handed over holds its commit and what the plan keeps; what is known of it. */

import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { gitDirOf } from '../../src/git/git-dir.ts';
import { stageByHand } from '../../src/git/hand-stage.ts';
import type { Pool } from '../../src/workspace/pool.ts';
import { testPool } from '../support/pool.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const FILES = Object.fromEntries(
  Array.from({ length: 350 }, (_, nth) => [`d${nth % 7}/f${nth}`, `${nth}\n`]),
);

let repo: TempRepo;
let base: string;

beforeEach(async () => {
  repo = await tempRepo({ files: { ...FILES, '.gitignore': 'cache/\n' } });
  base = await repo.git('rev-parse', 'HEAD');
});

afterEach(() => repo[Symbol.asyncDispose]());

const slot = (): string => join(`${repo.dir}.worktrees`, '.pool', '1');

/** Everything that git does not hold, ignored files too. */
const untrackedIn = (dir: string): Promise<string> => repo.git('-C', dir, 'ls-files', '--others');

/** Takes the one that waits, and answers with where it is. */
async function take(pool: Pool): Promise<string> {
  const dir = join(repo.outside, 'taken');
  const wanted = { dir, commit: base, branch: null, owner: null, assertHeld: () => undefined };
  expect(await pool.take(wanted, repo.signal)).toBe(true);
  return dir;
}

test.each([
  ['the same engine', true],
  ['a later one', false],
])('%s knows the folders of one that was only wiped', async (_, isSame) => {
  const pool = testPool(repo, 2);
  await pool.add(base, repo.signal);
  const later = isSame ? pool : testPool(repo, 2);
  const times = later.timesOf(await take(later));
  expect(times?.tree).toBe(await repo.git('rev-parse', 'HEAD^{tree}'));
});

test.each([
  ['a file that git would take', 'd1/x'],
  ['an ignored one', 'd1/cache/x'],
  ['one in the outermost folder', 'x'],
])('%s that somebody has put there meanwhile is gone', async (_, name) => {
  await testPool(repo, 2).add(base, repo.signal);
  mkdirSync(dirname(join(slot(), name)), { recursive: true });
  writeFileSync(join(slot(), name), '');
  const later = testPool(repo, 2);
  const dir = await take(later);
  expect(await untrackedIn(dir)).toBe('');
  expect(later.timesOf(dir)).not.toBeNull();
});

test('so it is where nobody has written down how it was', async () => {
  await testPool(repo, 2).add(base, repo.signal);
  const note = join(await gitDirOf(slot()), 'landfast-idle');
  const { changed: _, ...rest } = JSON.parse(readFileSync(note, 'utf8'));
  writeFileSync(note, JSON.stringify(rest));
  writeFileSync(join(slot(), 'x'), '');
  expect(await untrackedIn(await take(testPool(repo, 2)))).toBe('');
});

/** Puts a workspace with an ignored file into the pool. */
async function putWithCache(pool: Pool): Promise<void> {
  const dir = join(repo.outside, 'one');
  await repo.git('worktree', 'add', '-q', '--detach', dir, base);
  mkdirSync(join(dir, 'd1/cache'));
  writeFileSync(join(dir, 'd1/cache/x'), '');
  expect(await pool.put(dir, { commit: base, pristine: false }, repo.signal)).toBe(true);
}

test.each([
  ['the same engine', true],
  ['a later one', false],
])('where it holds what the plan keeps, its folders are not known (%s)', async (_, isSame) => {
  const keeps = { keepFiles: ['cache/'] };
  const pool = testPool(repo, 2, keeps);
  await putWithCache(pool);
  const later = isSame ? pool : testPool(repo, 2, keeps);
  const dir = await take(later);
  expect(await untrackedIn(dir)).toBe('d1/cache/x');
  expect(later.timesOf(dir)).toBeNull();
});

test('what an earlier plan kept is gone where this one does not keep it', async () => {
  await putWithCache(testPool(repo, 2, { keepFiles: ['cache/'] }));
  const later = testPool(repo, 2, { keepFiles: ['other/'] });
  expect(await untrackedIn(await take(later))).toBe('');
});

test('what the plan keeps is gone where git does not ignore it any more', async () => {
  const pool = testPool(repo, 2, { keepFiles: ['cache/'] });
  await putWithCache(pool);
  base = await repo.commit('main', { '.gitignore': '' });
  expect(await untrackedIn(await take(pool))).toBe('');
});

test('nothing is handed over where new worktrees begin with settings of their own', async () => {
  await testPool(repo, 2).add(base, repo.signal);
  mkdirSync(join(repo.commonDir, 'info'), { recursive: true });
  writeFileSync(join(repo.commonDir, 'info/sparse-checkout'), '/d1/\n');
  const dir = join(repo.outside, 'taken');
  const wanted = { dir, commit: base, branch: null, owner: null, assertHeld: () => undefined };
  expect(await testPool(repo, 2).take(wanted, repo.signal)).toBe(false);
});

test('what a hook writes as it is handed over is not taken for what was there', async () => {
  const pool = testPool(repo, 2);
  await pool.add(base, repo.signal);
  const hook = join(repo.commonDir, 'hooks', 'post-checkout');
  mkdirSync(join(repo.commonDir, 'hooks'), { recursive: true });
  writeFileSync(hook, '#!/bin/sh\necho x > d2/hooked\n');
  chmodSync(hook, 0o755);
  const dir = await take(pool);
  const times = pool.timesOf(dir);
  expect(times).not.toBeNull();
  const [own, aside] = [join(await gitDirOf(dir), 'index'), join(repo.outside, 'aside')];
  const tree = await repo.git('rev-parse', 'HEAD^{tree}');
  const what = { commonDir: repo.commonDir, dir, own, aside, tree, times };
  expect((await stageByHand(what, repo.signal))?.files).toEqual(['d2/hooked']);
});
