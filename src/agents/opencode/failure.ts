/**
 * What OpenCode's errors mean, from the most certain sign to the least: the error's own name, the
 * HTTP status, whether the CLI itself would try again, the words.
 *
 *   F1. An unknown error is transient: retries are bounded, giving up is final.
 *   F2. A service that says when to come back is believed: that time is the failure's `retryAt`.
 */

import type { Failure, SimpleFailureKind } from '../../model/failure.ts';
import { clip, type Fields, fieldsOf, numberOf, textOf } from '../json-fields.ts';

type Kind = SimpleFailureKind | 'rate-limited';

/** The failure an `error` event stands for; `at` is when it was written (ms since 1970). */
export function errorFailure(error: Fields, at: number): Failure {
  const data = fieldsOf(error.data);
  const words = textOf(data.message) || textOf(error.name) || 'The agent reported an error.';
  const message = clip(words, MAX_MESSAGE);
  const kind = KIND_OF_NAME.get(textOf(error.name)) ?? kindOfAnswer(data, message);
  if (kind !== 'rate-limited') return { kind, message };
  const waitMs = waitOf(fieldsOf(data.responseHeaders), at);
  return waitMs === null ? { kind, message } : { kind, message, retryAt: at + waitMs };
}

/** The failure behind a wait of the CLI, of which only the service's words are known. */
export function retryFailure(words: string): Failure {
  const message = clip(words || 'The service did not answer.', MAX_MESSAGE);
  return LIMIT_WORDS.test(words)
    ? { kind: 'rate-limited', message, guessed: true }
    : { kind: 'transient', message };
}

/** The failure in what the CLI prints when it cannot begin; null where it says nothing of it. */
export function startFailure(words: string): Failure | null {
  for (const line of words.split('\n')) {
    const said = saidIn(line);
    const refusal = REFUSALS.find(({ pattern }) => pattern.test(said));
    if (refusal !== undefined) {
      return { kind: refusal.kind, message: `${refusal.say} ${clip(said, 500)}` };
    }
  }
  return null;
}

/** Whether a failure only says that the CLI's log knows more. */
export function isVague(failure: Failure): boolean {
  return /Check server logs/i.test(failure.message);
}

function kindOfAnswer(data: Fields, message: string): Kind {
  const status = numberOf(data.statusCode);
  if (BILLING_WORDS.test(message) || BILLING_WORDS.test(textOf(data.responseBody)))
    return 'billing';
  if (status === 401 || status === 403) return 'auth';
  if (status === 402) return 'billing';
  if (status === 429) return 'rate-limited';
  if (status >= 500 || status === 408 || status === 409 || data.isRetryable === true) {
    return 'transient';
  }
  return status >= 400 ? 'permanent' : 'transient';
}

/** How long the service asks to be left alone: milliseconds, seconds or a date. */
function waitOf(headers: Fields, at: number): number | null {
  const ms = Number.parseFloat(textOf(headers['retry-after-ms']));
  if (Number.isFinite(ms)) return Math.max(0, ms);
  const after = textOf(headers['retry-after']);
  const seconds = Number(after);
  if (after.trim() !== '' && Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(after);
  return Number.isNaN(date) ? null : Math.max(0, date - at);
}

/** The error of a log line, else the line without its colours. */
function saidIn(line: string): string {
  const quoted = /\serror="((?:[^"\\]|\\.)*)"/.exec(line)?.[1];
  if (quoted !== undefined) return quoted.replaceAll('\\"', '"').replaceAll('\\n', ' ');
  return line.replaceAll(/\u001b\[[\d;]*m/g, '').trim();
}

const MAX_MESSAGE = 2000;
const BILLING_WORDS = /credit balance is too low|insufficient[_ ]quota|billing_error/i;
const LIMIT_WORDS = /rate.?limit|too many requests|\b429\b|quota|usage limit/i;

const KIND_OF_NAME: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['ProviderAuthError', 'auth'],
  ['MessageAbortedError', 'interrupted'],
  ['MessageOutputLengthError', 'permanent'],
  ['ContextOverflowError', 'permanent'],
]);

interface Refusal {
  readonly pattern: RegExp;
  readonly kind: 'permanent' | 'session-lost' | 'transient';
  readonly say: string;
}

const REFUSALS: readonly Refusal[] = [
  {
    // Two processes that both find no database yet, or an old one, can be in each other's way.
    pattern: /Failed query|SQLiteError|database is locked/i,
    kind: 'transient',
    say: 'The agent could not use its database.',
  },
  {
    pattern: /^(?:error: )?session not found/i,
    kind: 'session-lost',
    say: 'The agent no longer knows the session to resume.',
  },
  {
    pattern: /agent ".*" (?:not found|is a subagent|is hidden)/i,
    kind: 'permanent',
    say: 'The agent cannot take the task’s role.',
  },
  {
    pattern: /model not found|ProviderModelNotFoundError/i,
    kind: 'permanent',
    say: 'The agent does not know the model.',
  },
  {
    pattern: /config(?:uration)?(?: file)? .*is (?:invalid|not valid)|Config\w*Error/i,
    kind: 'permanent',
    say: 'The agent cannot read its configuration.',
  },
  {
    pattern: /^(?:error: )?unknown arguments?:/i,
    kind: 'permanent',
    say: 'This version of the agent does not accept its arguments.',
  },
];
