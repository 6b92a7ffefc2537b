/** A file that somebody else may still write, line by line on standard output. */

import { statSync } from 'node:fs';
import { followFile, readTail } from '../../journal/tail.ts';

/** What is there, what comes until the signal, and what came in the moment of the signal. */
export async function printFile(
  path: string,
  show: (line: string) => string | null,
  until: AbortSignal,
): Promise<void> {
  let offset = 0;
  const print = (line: string): void => {
    offset += Buffer.byteLength(line) + 1;
    const text = show(line);
    if (text !== null) process.stdout.write(`${text}\n`);
  };
  for await (const line of followFile(path, 0, until)) print(line);
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= offset) return;
  const { lines } = await readTail(path, size - offset, new AbortController().signal);
  for (const line of lines) print(line);
}
