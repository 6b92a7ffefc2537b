/** A program that has started, whoever started it. */

import type { Readable, Writable } from 'node:stream';
import type { Exit } from '../base/exit.ts';
import { exitOf, type Program, start } from './spawn.ts';
import { startOf } from './table.ts';
import { Family } from './tree.ts';

export interface Running {
  /** It, and all that it starts. */
  readonly family: Family;
  /** Null where it finds none. */
  readonly stdin: Writable | null;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** How it ended by itself. */
  readonly exit: Promise<Exit>;
  /** Nothing of it is alive; `isClean`: it ended by itself, and both streams came to their end. */
  over(isClean: boolean): Promise<void>;
}

/** Starts a program as a child of our own. */
export async function spawned(program: Program, mark: string | null): Promise<Running> {
  const child = await start(program, 'pipe');
  const { pid, stdin, stdout, stderr } = child;
  const family = new Family({ pid, start: startOf(pid) ?? 0, group: pid }, mark);
  const exit = new Promise<Exit>((resolve) => {
    child.once('exit', (code, killedBy) => resolve(exitOf(code, killedBy)));
  });
  return { family, stdin, stdout: stdout!, stderr: stderr!, exit, over: async () => undefined };
}
