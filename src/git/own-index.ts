/** An index beside that of a working tree: git reads and writes it, and it goes again. */

import { withTempFolder } from './temp-folder.ts';

/** What a git command needs in its environment to use such an index. */
export type OwnIndex = { readonly GIT_INDEX_FILE: string };

/** Runs `work` with a private index, which does not exist yet. */
export async function withOwnIndex<T>(
  dir: string,
  work: (env: OwnIndex) => Promise<T>,
): Promise<T> {
  return withTempFolder(dir, (folder) => work({ GIT_INDEX_FILE: `${folder}/index` }));
}
