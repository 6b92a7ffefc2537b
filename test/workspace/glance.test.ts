/** A glance at a workspace never misses what a look at everything in it finds. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { gitDirOf } from '../../src/git/git-dir.ts';
import { readIndexFile } from '../../src/git/index-file.ts';
import { isAsWiped } from '../../src/workspace/glance.ts';
import { lookByWalk, modesIn } from '../../src/workspace/odd.ts';
import { Random } from '../sim/random.ts';
import { DIRT, dirty, dirtyable } from '../support/dirt.ts';
import type { TempRepo } from '../support/temp-repo.ts';

/** All files are of an earlier second than `since`: only what was touched is looked at. */
let repo: TempRepo;
let since: number;
const WORKSPACES = [
  ...Object.keys(DIRT),
  'edited',
  'linked',
  'back',
  'random-1',
  'random-2',
  'random-3',
];

beforeAll(async () => {
  repo = await dirtyable();
  for (const nth of WORKSPACES.keys()) {
    await repo.git('worktree', 'add', '-q', '--detach', place(WORKSPACES[nth]!), 'main');
  }
  const made = Date.now();
  await new Promise((resolve) => setTimeout(resolve, 1_150 - (made % 1_000)));
  since = Date.now();
  return () => repo[Symbol.asyncDispose]();
});

function place(name: string): string {
  return join(repo.outside, 'spaces', `${WORKSPACES.indexOf(name)}`);
}

/** As after an attempt: git has looked at everything, and its index holds all that it would commit. */
async function glanceAt(dir: string) {
  dirty(dir, 'git -c core.safecrlf=false add --all');
  const gitDir = await gitDirOf(dir);
  const modes = modesIn(dir);
  const files = readIndexFile(gitDir)?.files ?? null;
  const isQuick = isAsWiped({ dir, gitDir, since, isExact: false, modes });
  const whole = await lookByWalk({ dir, keep: [], files, modes }, repo.signal);
  return { isQuick, isSo: whole.odd.length === 0 && !whole.hasMore && whole.isComplete };
}

/** Without them it is no index that can be asked, and no commit is made of it. */
const LEFT_TO_GIT = /git-path index\)|index-version|split-index|sparse|skip-worktree|assume/;

describe.each(Object.entries(DIRT).filter(([, dirt]) => !LEFT_TO_GIT.test(dirt)))(
  '%s',
  (name, dirt) => {
    test('is seen at a glance where a look would see it', async () => {
      dirty(place(name), dirt);
      const { isQuick, isSo } = await glanceAt(place(name));
      if (isQuick) expect(isSo).toBe(true);
    });
  },
);

test.each([1, 2, 3])('so is random dirt (%i)', async (seed) => {
  const random = new Random(seed);
  const dir = place(`random-${seed}`);
  const kinds = Object.values(DIRT).filter((dirt) => !LEFT_TO_GIT.test(dirt));
  for (let left = 4; left > 0; left -= 1) dirty(dir, random.pick(kinds));
  const { isQuick, isSo } = await glanceAt(dir);
  if (isQuick) expect(isSo).toBe(true);
});

test('where files were merely edited, added and removed a glance is enough', async () => {
  const dir = place('edited');
  dirty(
    dir,
    'echo x >> a; echo x > new; mkdir -p dir/more; echo x > dir/more/x; rm dir/c; chmod +x b',
  );
  expect(await glanceAt(dir)).toEqual({ isQuick: true, isSo: true });
});

test('a file that has a second name elsewhere is seen, though its folder is as it was', async () => {
  const dir = place('linked');
  mkdirSync(join(repo.outside, 'elsewhere'));
  dirty(dir, 'ln dir/deep/d ../../elsewhere/d');
  expect(await glanceAt(dir)).toEqual({ isQuick: false, isSo: false });
});

test('a workspace that seems to have been wiped in the future is not trusted', async () => {
  const dir = place('back');
  const wiped = { dir, gitDir: await gitDirOf(dir), isExact: false, modes: modesIn(dir) };
  expect(isAsWiped({ ...wiped, since })).toBe(true);
  expect(isAsWiped({ ...wiped, since: Date.now() + 60_000 })).toBe(false);
});
