/** What the pool knows of a workspace that it hands over: only where it holds nothing but a commit. */

import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
  ['somebody has put a file there meanwhile', async () => writeFileSync(join(slot(), 'd1/x'), '')],
  [
    'nobody has written down that it held nothing else',
    async () => {
      const note = join(await gitDirOf(slot()), 'landfast-idle');
      const { changed: _, ...rest } = JSON.parse(readFileSync(note, 'utf8'));
      writeFileSync(note, JSON.stringify(rest));
    },
  ],
])('not where %s', async (_, happens) => {
  await testPool(repo, 2).add(base, repo.signal);
  await happens();
  const later = testPool(repo, 2);
  expect(later.timesOf(await take(later))).toBeNull();
});

test.each([
  ['the same engine', true],
  ['a later one', false],
])('not where it holds what an earlier plan keeps (%s)', async (_, isSame) => {
  const pool = testPool(repo, 2, { keepFiles: ['cache/'] });
  const dir = join(repo.outside, 'one');
  await repo.git('worktree', 'add', '-q', '--detach', dir, base);
  mkdirSync(join(dir, 'd1/cache'));
  writeFileSync(join(dir, 'd1/cache/x'), '');
  expect(await pool.put(dir, { commit: base, pristine: false }, repo.signal)).toBe(true);
  const later = isSame ? pool : testPool(repo, 2);
  expect(later.timesOf(await take(later))).toBeNull();
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
