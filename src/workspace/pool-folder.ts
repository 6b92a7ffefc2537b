/** The folder of a pool, and what is around it. */

import { existsSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Removes it if nothing is in it, and the folder of all workspaces. */
export async function removeWhereEmpty(folder: string): Promise<void> {
  for (const each of [folder, dirname(folder)]) await rmdir(each).catch(() => undefined);
}

/** Whether a folder is a worktree at all, as far as one can see from outside. */
export function isWorktree(path: string): boolean {
  return existsSync(join(path, '.git'));
}

/** New worktrees of such a repository begin with settings that a wiped one would not have. */
export function hasOwnSettings(commonDir: string): boolean {
  return ['config.worktree', 'info/sparse-checkout'].some((name) =>
    existsSync(join(commonDir, name)),
  );
}
