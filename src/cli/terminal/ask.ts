/** One question to whoever sits at the terminal. */

import { createInterface } from 'node:readline/promises';

/** Whether a person says yes to the plan that was shown; without a terminal nobody can. */
export async function agreed(signal: AbortSignal): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    console.error('landfast: nothing was started. Add --execute to run this plan.');
    return false;
  }
  const answer = await ask('Run this plan? [y/N] ', signal);
  if (/^y(?:es)?$/i.test(answer.trim())) return true;
  console.error('landfast: nothing was started.');
  return false;
}

/** What was answered; empty where the input ended, or Ctrl-C was pressed. */
async function ask(question: string, signal: AbortSignal): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const gone = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  try {
    return await Promise.race([lines.question(question, { signal }), gone]);
  } finally {
    lines.close();
  }
}
