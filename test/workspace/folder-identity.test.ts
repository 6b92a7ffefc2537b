/** Whether the folder of a workspace is still the one in which its attempt began. */

import { cpSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isSameFolder, rememberFolder } from '../../src/workspace/folders.ts';
import { tempRepo } from '../support/temp-repo.ts';

test('a folder in its place is another one, whatever it holds', async () => {
  await using repo = await tempRepo();
  const [dir, aside] = [join(repo.outside, 'one'), join(repo.outside, 'aside')];
  await repo.git('worktree', 'add', '-q', '--detach', dir);
  expect(isSameFolder(dir)).toBe(true); // Nothing is recorded.
  rememberFolder(dir);
  expect(isSameFolder(dir)).toBe(true);
  renameSync(dir, aside);
  cpSync(aside, dir, { recursive: true });
  expect(isSameFolder(dir)).toBe(false);
  rmSync(dir, { recursive: true });
  renameSync(aside, dir);
  expect(isSameFolder(dir)).toBe(true);
});
