/** Whatever a task leaves in a workspace, the next one finds what it would find in a new one. */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Pool } from '../../src/workspace/pool.ts';
import { Random } from '../sim/random.ts';
import { DIRT, dirty, dirtyable, FILES, gitState, headIn, walk } from '../support/dirt.ts';
import { testPool } from '../support/pool.ts';
import type { TempRepo } from '../support/temp-repo.ts';

test.each(Object.entries(DIRT))('%s is seen by nobody afterwards', async (_, script) => {
  await using repo = await dirtyable();
  await expectNothingOf(repo, [script]);
});

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'random dirt is seen by nobody afterwards (%i)',
  async (seed) => {
    await using repo = await dirtyable();
    const random = new Random(seed);
    const kinds = Object.values(DIRT);
    await expectNothingOf(
      repo,
      Array.from({ length: random.between(2, 7) }, () => random.pick(kinds)),
    );
  },
);

test('what a link leads to stays as it is', async () => {
  await using repo = await dirtyable();
  const out = join(repo.outside, 'out');
  const links =
    'ln -s ../out new; ln -s ../out cache; rm -r dir; ln -s ../out dir; ln -sf ../out/x a';
  await expectNothingOf(repo, ['mkdir ../out; echo mine > ../out/x; chmod 700 ../out', links]);
  expect([...walk(out)]).toEqual([['x', expect.stringMatching(/mine\n$/)]]);
  expect(statSync(out).mode & 0o777).toBe(0o700);
});

test('a workspace with submodules is not used again, wherever they come from', async () => {
  await using repo = await dirtyable();
  const pool = testPool(repo, 2);
  const base = await repo.git('rev-parse', 'main');
  const add = 'git -c protocol.file.allow=always submodule add -q "$PWD/../repo" sub';
  for (const script of [add, `${add}; git commit -qm sub`, `${add}; git rm -qf sub .gitmodules`]) {
    const dir = join(repo.outside, 'one');
    await repo.git('worktree', 'add', '-q', '--detach', dir, base);
    dirty(dir, script);
    expect(await pool.put(dir, { commit: headIn(dir), pristine: false }, repo.signal)).toBe(true);
    expect([pool.idle(), existsSync(dir)]).toEqual([[], false]);
  }
});

/** Root may do everything: as root it is somebody else who does it. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

test.each([
  ['put', '1\n'],
  ['remove', '0\n'],
])('folders nobody may write to are no obstacle to who is not root (%s)', async (how, idle) => {
  await using repo = await dirtyable();
  const base = await repo.git('rev-parse', 'main');
  const { folder } = testPool(repo, 2).place;
  mkdirSync(folder, { recursive: true });
  const dir = join(repo.outside, 'one');
  await repo.git('worktree', 'add', '-q', '--detach', dir, base);
  const deep = 'mkdir -p new/in cache/in; git init -q dir/deep; touch new/in/x cache/in/x';
  dirty(dir, `${deep}; chmod -R a-w new cache dir; chmod 500 new/in; chmod 000 cache/in`);
  if ('uid' in NOBODY) execFileSync('chown', ['-R', `${NOBODY.uid}:${NOBODY.gid}`, repo.outside]);
  const script = join(import.meta.dirname, '../support/put-away.ts');
  const args = [script, repo.commonDir, folder, dir, base, how];
  expect(execFileSync(process.execPath, args, { ...NOBODY, encoding: 'utf8' })).toBe(idle);
  expect(existsSync(dir)).toBe(false);
  expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([]);
  expect(existsSync(join(repo.outside, '.removed'))).toBe(false);
});

test.each([1, 2, 3])('with random dirt the files that the plan names stay (%i)', async (seed) => {
  await using repo = await dirtyable();
  const random = new Random(seed);
  // Those that touch what is kept, or make the index unreadable, are looked at elsewhere.
  const kinds = Object.values(DIRT).filter((script) => !/cache|git-path index\)/.test(script));
  const scripts = Array.from({ length: 4 }, () => random.pick(kinds));
  const kept =
    'mkdir -p cache/in; echo kept > cache/in/x; ln -s in cache/link; chmod 640 cache/in/x';
  const pool = testPool(repo, 2, { keepFiles: ['cache/'] });
  const { taken, fresh } = await handOn(repo, pool, [kept, ...scripts]);
  dirty(fresh, kept);
  expect(walk(taken)).toEqual(walk(fresh));
});

test('ignored files that the plan names are found again, others and new ones are not', async () => {
  await using repo = await dirtyable();
  const pool = testPool(repo, 2, { keepFiles: ['cache/', 'unignored'] });
  const base = await repo.git('rev-parse', 'main');
  const dir = join(repo.outside, 'one');
  await repo.git('worktree', 'add', '-q', '--detach', dir, base);
  dirty(dir, 'mkdir cache; echo x > cache/x; echo x > x.log; echo x > unignored');
  expect(await pool.put(dir, { commit: base, pristine: false }, repo.signal)).toBe(true);
  const next = join(repo.outside, 'two');
  const wanted = {
    dir: next,
    commit: base,
    branch: null,
    owner: null,
    assertHeld: () => undefined,
  };
  expect(await pool.take(wanted, repo.signal)).toBe(true);
  const names = [...walk(next).keys()];
  expect(names.filter((name) => !(name in FILES) && !name.endsWith('/'))).toEqual([
    'cache/x',
    'link',
  ]);
});

/** Puts the dirt into a workspace, hands it on, and compares it with a new one. */
async function expectNothingOf(repo: TempRepo, scripts: readonly string[]): Promise<void> {
  const { taken, fresh } = await handOn(repo, testPool(repo, 2), scripts);
  expect(walk(taken)).toEqual(walk(fresh));
  expect(gitState(taken)).toEqual(gitState(fresh).map((text) => text.replaceAll('-new', '-two')));
}

/** A workspace that was dirty and went through the pool, and a new one at the same commit. */
async function handOn(
  repo: TempRepo,
  pool: Pool,
  scripts: readonly string[],
): Promise<{ readonly taken: string; readonly fresh: string }> {
  const base = await repo.git('rev-parse', 'main');
  const next = await repo.git('rev-parse', 'next');
  const dir = join(repo.outside, 'one');
  await repo.git('worktree', 'add', '-q', '-b', 'task-one', dir, base);
  for (const script of scripts) dirty(dir, script);
  const head = headIn(dir);
  const isPooled = await pool.put(dir, { commit: head, pristine: false }, repo.signal);
  expect(isPooled).toBe(true);
  const taken = join(repo.outside, 'two');
  const wanted = {
    dir: taken,
    commit: next,
    branch: 'task-two',
    owner: 'me',
    assertHeld: () => undefined,
  };
  expect(await pool.take(wanted, repo.signal)).toBe(true);
  const fresh = join(repo.outside, 'fresh');
  await repo.git('worktree', 'add', '-q', '-b', 'task-new', fresh, next);
  return { taken, fresh };
}
