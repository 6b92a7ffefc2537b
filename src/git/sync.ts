/**
 * Brings what others have written into a repository to the disk. Our own commands do that by
 * themselves (DURABLE in environment.ts), and agents are told to; but one may have started its git
 * in an environment of its own.
 */

import { runTool } from './git.ts';

/** Waits until all that was written on the repository's file system is on the disk. */
export async function syncRepository(commonDir: string, signal: AbortSignal): Promise<void> {
  const { exit } = await runTool('sync', ['-f', commonDir], signal);
  if (exit.kind === 'exited' && exit.code === 0) return;
  signal.throwIfAborted();
  await runTool('sync', [], signal); // Not every system can sync a single file system.
}
