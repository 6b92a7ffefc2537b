/**
 * Whether the folder of a workspace is still the one in which its attempt began. An agent can put
 * another one in its place; to git everything that is not in that one would be deleted.
 */

import { statSync } from 'node:fs';
import { readNote, writeNote } from '../git/worktree-notes.ts';

const NOTE = 'folder';

/** Notes which folder it is. */
export function noteFolder(dir: string): void {
  writeNote(dir, NOTE, identityOf(dir));
}

/** Whether it is that folder; yes where nothing was noted. */
export function isSameFolder(dir: string): boolean {
  return (readNote(dir, NOTE) ?? identityOf(dir)) === identityOf(dir);
}

function identityOf(dir: string): string {
  const stat = statSync(dir, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? '' : `${stat.dev} ${stat.ino}`;
}
