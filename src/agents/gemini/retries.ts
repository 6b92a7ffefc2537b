/**
 * Gemini CLI's retries, which it reports only on standard error, in sentences. It may retry for minutes
 * before it says anything else.
 *
 *   Attempt 2 failed with status 503. Retrying with backoff... _ApiError: {"error":{…
 *   Attempt 2 failed. Retrying with backoff... Error: exception TypeError: fetch failed …
 *   Attempt 2 failed: <the service's words, maybe several lines>. Retrying after 5831ms...
 *
 *   R1. One event a retry, when the line that announces the wait is complete.
 *   R2. A wait that is not named is the CLI's usual one: 5 s, doubled each time, 30 s at most.
 */

import type { AgentEvent } from '../../model/agent-event.ts';
import { toldFailure } from './failure.ts';

type Retry = AgentEvent & { readonly type: 'retry' };

/** Reads standard error line by line. */
export class RetryReader {
  /** An attempt whose words go on over several lines. */
  #open: { readonly attempt: number; readonly lines: string[] } | null = null;

  /** The retry that this line announces. */
  read(line: string): Retry | null {
    const [, number = '', rest = ''] = /^Attempt (\d+) failed(.*)$/.exec(line) ?? [];
    if (number !== '') this.#open = { attempt: Number(number), lines: [] };
    if (this.#open === null) return null;
    const { attempt, lines } = this.#open;
    lines.push(number === '' ? line : rest);
    const words = lines.join('\n');
    const [announced, ms] = /Retrying (?:with backoff|after (\d+)ms)/.exec(words) ?? [];
    if (announced === undefined && words.startsWith(':') && lines.length < MAX_LINES) return null;
    this.#open = null;
    if (announced === undefined) return null;
    return retryOf(attempt, words, ms === undefined ? usualDelay(attempt) : Number(ms));
  }
}

function retryOf(attempt: number, words: string, delayMs: number): Retry {
  const [, status] = /^ with (?:status )?(\d{3})/.exec(words) ?? [];
  const [, said = ''] = /^: (.*?)\.? Retrying after /s.exec(words) ?? [];
  // Without a status, words of the service mean a limit; otherwise there was no answer.
  const code = Number(status ?? (said === '' ? 0 : 429));
  const message = said || (code === 0 ? 'The service did not answer.' : 'it is busy or failing.');
  const failure = toldFailure({ name: '', message, status: code, at: Number.NaN });
  return { type: 'retry', attempt, max: MAX_ATTEMPTS, delayMs, failure };
}

function usualDelay(attempt: number): number {
  return Math.min(30_000, 5_000 * 2 ** Math.min(attempt - 1, 3));
}

/** The CLI's own limit, unless the user's settings have another; it never says which. */
const MAX_ATTEMPTS = 10;
const MAX_LINES = 20;
