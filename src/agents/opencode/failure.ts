/**
 * What OpenCode's errors mean, from the most certain sign to the least: the error's own name, the
 * HTTP status, whether the CLI itself would try again, the words.
 * A service that says when to come back is believed: that time is the failure's `retryAt`.
 */

import type { Failure } from '../../model/failure.ts';
import type { Kind } from '../failure.ts';
import { BILLING_WORDS, kindOfStatus, REFUSED, refusalIn, reportedFailure } from '../failure.ts';
import { type Fields, fieldsOf, numberOf, textOf } from '../json-fields.ts';

/** The failure behind an `error` event; `at` is when it was written (ms since 1970). */
export function errorFailure(error: Fields, at: number): Failure {
  const data = fieldsOf(error.data);
  const name = textOf(error.name);
  const message = textOf(data.message) || name || 'The agent reported an error.';
  const kind = KIND_OF_NAME.get(name) ?? kindOfAnswer(data, message);
  return reportedFailure(kind, message, at + waitMs(fieldsOf(data.responseHeaders), at));
}

/** The failure in what the CLI prints when it cannot begin; null where it says nothing of it. */
export function startFailure(words: string): Failure | null {
  const found = words.split('\n').map((line) => refusalIn([saidIn(line)], REFUSALS));
  return found.find((failure) => failure !== null) ?? null;
}

/** Whether a failure only says that the CLI's log knows more. */
export function isVague(failure: Failure): boolean {
  return /Check server logs/i.test(failure.message);
}

function kindOfAnswer(data: Fields, message: string): Kind {
  if (BILLING_WORDS.test(message) || BILLING_WORDS.test(textOf(data.responseBody))) {
    return 'billing';
  }
  const kind = kindOfStatus(numberOf(data.statusCode)) ?? 'transient';
  return kind === 'permanent' && data.isRetryable === true ? 'transient' : kind;
}

/** How long the service asks to be left alone; NaN where it does not say. */
function waitMs(headers: Fields, at: number): number {
  const ms = Number.parseFloat(textOf(headers['retry-after-ms']));
  const after = textOf(headers['retry-after']);
  const seconds = after.trim() === '' ? Number.NaN : Number(after);
  const waits = [ms, seconds * 1000, Date.parse(after) - at];
  return Math.max(0, waits.find(Number.isFinite) ?? Number.NaN);
}

/** The error of a log line, else the line without its colours. */
function saidIn(line: string): string {
  const quoted = /\serror="((?:[^"\\]|\\.)*)"/.exec(line)?.[1];
  if (quoted !== undefined) return quoted.replaceAll('\\"', '"').replaceAll('\\n', ' ');
  return line.replaceAll(/\u001b\[[\d;]*m/g, '').trim();
}

const KIND_OF_NAME: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['ProviderAuthError', 'auth'],
  ['MessageAbortedError', 'interrupted'],
  ['MessageOutputLengthError', 'permanent'],
  ['ContextOverflowError', 'permanent'],
]);

const CONFIG = /config(?:uration)?(?: file)? .*is (?:invalid|not valid)|Config\w*Error/i;
const ROLE = /agent ".*" (?:not found|is a subagent|is hidden)/i;
/** Two processes that both find no database yet, or an old one, can be in each other's way. */
const DATABASE = /Failed query|SQLiteError|database is locked/i;

const REFUSALS = [
  ['transient', DATABASE, 'The agent could not use its database.'],
  ['session-lost', /^(?:error: )?session not found/i, REFUSED.session],
  ['permanent', ROLE, 'The agent cannot take the task’s role.'],
  [
    'permanent',
    /model not found|ProviderModelNotFoundError/i,
    'The agent does not know the model.',
  ],
  ['permanent', CONFIG, 'The agent cannot read its configuration.'],
  ['permanent', /^(?:error: )?unknown arguments?:/i, REFUSED.arguments],
] as const;
