/** An index beside that of a working tree: git reads and writes it, and it goes again. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What a git command needs in its environment to use such an index. */
export type OwnIndex = { readonly GIT_INDEX_FILE: string };

/** Does something with an index that nobody else uses; it is empty, and does not exist yet. */
export async function withOwnIndex<T>(work: (env: OwnIndex) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'landfast-index-'));
  try {
    return await work({ GIT_INDEX_FILE: join(folder, 'index') });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
