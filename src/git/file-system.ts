/** Deleting large folders, and flushing to disk what agents wrote. */

import { OperationalError } from '../base/errors.ts';
import { runTool } from './git.ts';

/**
 * Deletes a folder by `rm`, which takes a third of the CPU time and does not block the event loop.
 * Folders without write permission, as some tools leave them, are made writable first.
 */
export async function deleteFolder(path: string, signal: AbortSignal): Promise<void> {
  const remove = () => runProgram('rm', ['-rf', '--', path], signal);
  if ((await remove()) === null) return;
  await runProgram('chmod', ['-R', 'u+rwX', '--', path], signal);
  const complaint = await remove();
  if (complaint !== null) throw new OperationalError(`cannot delete ${path}: ${complaint}`);
}

/** Null where it succeeded; else its error message. */
async function runProgram(
  file: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<string | null> {
  const { exit, stderr } = await runTool(file, args, signal);
  if (exit.kind === 'aborted') throw exit.reason;
  return exit.kind === 'exited' && exit.code === 0 ? null : stderr.trim();
}

/**
 * Waits until everything written to the repository's file system is on the disk. Landfast's own git
 * commands flush by themselves (DURABLE in environment.ts) and agents are told to, but an agent may
 * start git with an environment of its own.
 */
export async function syncRepository(commonDir: string, signal: AbortSignal): Promise<void> {
  const { exit } = await runTool('sync', ['-f', commonDir], signal);
  if (exit.kind === 'exited' && exit.code === 0) return;
  signal.throwIfAborted();
  await runTool('sync', [], signal); // Not every system can sync one file system.
}
