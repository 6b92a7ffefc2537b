/** Keeps workspaces out of what git takes for new files of the user's. */

import { isAbsolute, relative } from 'node:path';
import { addExcludes, literalPattern } from '../git/exclude.ts';
import type { Repository } from '../git/repository.ts';
import type { Plan } from '../model/plan.ts';
import { poolFolder, workspacesFolder } from './ground.ts';

/**
 * Excludes the folder of the workspaces where it is in the checkout. Where it is the checkout
 * itself, these folders and that of the pool are.
 */
export async function hide(
  of: { readonly repository: Repository; readonly plan: Pick<Plan, 'workspace'> },
  dirs: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const { dir: checkout, commonDir } = of.repository;
  const below = (path: string): string => relative(checkout, path);
  const folder = below(workspacesFolder(of));
  if (folder.startsWith('..') || isAbsolute(folder)) return;
  const paths = folder === '' ? [...dirs, poolFolder(of)].map(below) : [folder];
  const patterns = paths.map((path) => `${literalPattern(path)}/`);
  await addExcludes(commonDir, patterns, signal);
}
