/**
 * A program that goes on without us: it leads a session of its own, so that neither the end of our
 * process group nor the closing of our terminal reaches it.
 *
 *   B1. It has no terminal: its input is a text that ends, its output goes to a file.
 *   B2. It carries no mark of ours: what ends the family of whoever started us leaves it alone.
 */

import type { Exit } from '../base/exit.ts';
import { exitOf, type Program, sendSignal, start } from './spawn.ts';
import { MARK_VARIABLE } from './table.ts';

export interface Background {
  readonly pid: number;
  /** How it ended, for as long as we are there to see it. */
  readonly ended: Promise<Exit>;
  /** Asks it to end. */
  stop(): void;
  /** Lets us end before it does. */
  leave(): void;
}

/** Starts a program in the background. `log` is an open file. */
export async function startInBackground(
  program: Program,
  { input, log }: { readonly input: string; readonly log: number },
): Promise<Background> {
  const { [MARK_VARIABLE]: _, ...env } = program.env;
  const child = await start({ ...program, env }, 'pipe', log);
  const ended = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => resolve(exitOf(code, signal)));
  });
  child.stdin?.on('error', () => {}); // It may end without reading; its exit tells.
  child.stdin?.end(input);
  return {
    pid: child.pid,
    ended,
    stop: () => void sendSignal(child.pid, 'SIGTERM'),
    leave: () => child.unref(),
  };
}
