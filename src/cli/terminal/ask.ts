/** One question to the person at the terminal. */

import { createInterface } from 'node:readline/promises';

/** Whether a person says yes; not where the input ended, or Ctrl-C was pressed. */
export async function isYes(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const gone = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  try {
    const answer = await Promise.race([lines.question(`${question} [y/N] `), gone]);
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}
