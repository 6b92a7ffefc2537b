/**
 * copied-files: the untracked files that a workspace gets from the user's checkout
 * (`workspace.copy`, `.worktreeinclude`), as one digest.
 *
 * It is taken from the checkout, because the files are copied from there anew for every gate.
 */

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { untrackedMatching } from '../git/untracked.ts';
import { includePatterns } from '../workspace/bring.ts';
import type { Ground } from '../workspace/ground.ts';

/** Names, modes and contents of the files that would be copied now. */
export async function copiedFiles(ground: Ground, signal: AbortSignal): Promise<string> {
  const patterns = await includePatterns(ground);
  if (patterns.length === 0) return '';
  const from = ground.repository.dir;
  const { files } = await untrackedMatching(from, patterns, signal);
  const all = createHash('sha256');
  for (const file of files) {
    all.update(JSON.stringify([file, await describeFile(join(from, file), signal)]));
  }
  return all.digest('hex');
}

async function describeFile(path: string, signal: AbortSignal): Promise<readonly unknown[]> {
  const content = createHash('sha256');
  try {
    const { mode } = await stat(path);
    await pipeline(createReadStream(path), content, { signal });
    return [mode & 0o777, content.digest('hex')];
  } catch (error) {
    signal.throwIfAborted();
    return [(error as NodeJS.ErrnoException).code]; // Copying it says what is wrong with it.
  }
}
