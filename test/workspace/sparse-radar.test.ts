/** What the radar sees where only some folders are checked out. */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { git } from '../../src/git/git.ts';
import { filesOf } from '../../src/git/trees.ts';
import { addWorktree } from '../../src/git/worktree.ts';
import { ChangeTracker } from '../../src/workspace/radar/change-tracker.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const FILES = { root: '1\n', 'a/one': '1\n', 'a/two': '1\n', 'b/one': '1\n', 'b/two': '1\n' };

async function scene(repo: TempRepo) {
  const { commonDir, signal } = repo;
  const base = await repo.git('rev-parse', 'HEAD');
  const dir = join(repo.outside, 'work');
  await addWorktree(commonDir, { path: dir, branch: 'work', commit: base, cone: ['a'] }, signal);
  const sighting = new ChangeTracker({ dir, base, isRework: false }, (commit) =>
    filesOf(commonDir, commit, signal),
  );
  return {
    write: (path: string, text: string | null) => {
      const file = join(dir, path);
      mkdirSync(dirname(file), { recursive: true });
      if (text === null) rmSync(file);
      else writeFileSync(file, text);
    },
    run: (...args: readonly string[]) => git(dir, args, signal),
    look: () => sighting.look(false, signal),
    /** Looks until something is different: the kernel tells of a change when it likes to. */
    see: async () => {
      while (!(await sighting.look(false, signal)));
      return Object.fromEntries([...sighting.seen].map(([path, { how }]) => [path, how]));
    },
    /** What a snapshot changes. */
    snapshot: async () => {
      const commit = await sighting.commit(signal);
      return (await repo.git('diff', '--name-status', '--no-renames', base, commit)).split('\n');
    },
    [Symbol.dispose]: () => sighting.close(),
  };
}

test('files that are not checked out are not missing, changed ones elsewhere are seen', async () => {
  await using repo = await tempRepo({ files: FILES });
  using at = await scene(repo);
  expect(await at.look()).toBe(true);
  at.write('a/one', '2\n');
  expect(await at.see()).toEqual({ 'a/one': 'changed' });
  at.write('b/one', '2\n');
  expect(await at.see()).toEqual({ 'a/one': 'changed', 'b/one': 'changed' });
  at.write('b/new', 'new\n');
  expect(await at.see()).toMatchObject({ 'b/new': 'added' });
  at.write('a/two', null);
  expect(await at.see()).toMatchObject({ 'a/two': 'deleted' });
  expect(await at.snapshot()).toEqual(['M\ta/one', 'D\ta/two', 'A\tb/new', 'M\tb/one']);
});

test('work that is only in the index is part of the picture', async () => {
  await using repo = await tempRepo({ files: FILES });
  using at = await scene(repo);
  at.write('b/one', '2\n');
  await at.run('add', '--sparse', '-A');
  await at.run('commit', '-qm', 'Elsewhere');
  await at.run('checkout', '-q'); // It leaves the disk.
  await at.run('rm', '-q', '--sparse', 'b/two');
  expect(await at.see()).toEqual({ 'b/one': 'changed', 'b/two': 'deleted' });
  expect(await at.snapshot()).toEqual(['M\tb/one', 'D\tb/two']);
  await at.run('sparse-checkout', 'add', 'b');
  await at.look();
  expect(await at.snapshot()).toEqual(['M\tb/one', 'D\tb/two']);
});
