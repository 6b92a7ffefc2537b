/** Deleting folders that hold a lot. */

import { OperationalError } from '../base/errors.ts';
import { runTool } from './git.ts';

/**
 * Deletes a folder. By `rm`, which needs a third of the processor time and does not hold up our event
 * loop. Folders that their owner may not write to, as some tools leave them, are opened first.
 */
export async function deleteFolder(path: string, signal: AbortSignal): Promise<void> {
  const remove = () => runProgram('rm', ['-rf', '--', path], signal);
  if ((await remove()) === null) return;
  await runProgram('chmod', ['-R', 'u+rwX', '--', path], signal);
  const complaint = await remove();
  if (complaint !== null) throw new OperationalError(`cannot delete ${path}: ${complaint}`);
}

/** Null where it succeeded; else what it said. */
async function runProgram(
  file: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<string | null> {
  const { exit, stderr } = await runTool(file, args, signal);
  if (exit.kind === 'aborted') throw exit.reason;
  return exit.kind === 'exited' && exit.code === 0 ? null : stderr.trim();
}
