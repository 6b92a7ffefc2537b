/**
 * What Codex's errors mean, from the most certain sign to the least: the sentences it has for
 * limits and accounts, the HTTP status, other words.
 *
 *   F1. An unknown error is transient: retries are bounded, giving up is final.
 *   F2. The time a limit resets is told without seconds: the end of that minute counts.
 */

import type { Failure, SimpleFailureKind } from '../../model/failure.ts';
import { clip, fieldsOf, parseFields, textOf } from '../json-fields.ts';

/** What is known of an error of the service. */
export interface ServiceError {
  readonly message: string;
  /** The status of the last HTTP answer, where the log told it. */
  readonly status: number | null;
  /** The time of the log's last entry (ms since 1970), where there was one. */
  readonly now: number | null;
}

type Kind = SimpleFailureKind | 'rate-limited';

/** The failure an error of the service stands for. */
export function serviceFailure(error: ServiceError): Failure {
  const message = clip(readable(error.message) || DEFAULT_MESSAGE, MAX_MESSAGE);
  const kind = kindOf(error);
  if (kind !== 'rate-limited') return { kind, message };
  const retryAt = resetTime(error.message, error.now);
  return retryAt === null ? { kind, message } : { kind, message, retryAt };
}

/** The failure in what the CLI prints when it refuses to start; null where it did not refuse. */
export function startFailure(words: string): Failure | null {
  for (const { pattern, kind, say } of REFUSALS) {
    const line = words.split('\n').find((text) => pattern.test(text));
    if (line !== undefined) return { kind, message: `${say} ${clip(line.trim(), 500)}` };
  }
  return null;
}

/** When a limit resets (ms since 1970): Codex writes it in the time zone that it shares with us. */
export function resetTime(message: string, now: number | null): number | null {
  const found = RESET.exec(message);
  if (found === null) return null;
  const [, month, day, year, hours, minutes, half] = found;
  const hour = (Number(hours) % 12) + (half?.toUpperCase() === 'PM' ? 12 : 0);
  const today = now === null ? null : new Date(now);
  const date: readonly [number, number, number] | null =
    month === undefined
      ? today && [today.getFullYear(), today.getMonth(), today.getDate()]
      : [Number(year), MONTHS.indexOf(month.toLowerCase()), Number(day)];
  if (date === null || date[1] < 0) return null;
  const at = new Date(...date, hour, Number(minutes) + 1).getTime();
  return Number.isFinite(at) ? at : null;
}

function kindOf({ message, status }: ServiceError): Kind {
  for (const [kind, pattern] of SENTENCES) if (pattern.test(message)) return kind;
  const told = /\bstatus:? (\d{3})\b/.exec(message)?.[1];
  const byStatus = kindOfStatus(told === undefined ? status : Number(told));
  if (byStatus !== null) return byStatus;
  return isErrorBody(message) ? 'permanent' : 'transient';
}

function kindOfStatus(status: number | null): Kind | null {
  if (status === null || status < 400) return null;
  if (status === 401 || status === 403) return 'auth';
  if (status === 402) return 'billing';
  if (status === 429) return 'rate-limited';
  return status >= 500 || status === 408 || status === 409 ? 'transient' : 'permanent';
}

/** A request that the service finds invalid is told by the body of its answer, as it came. */
function isErrorBody(message: string): boolean {
  return errorBody(message) !== '';
}

function errorBody(message: string): string {
  return textOf(fieldsOf(parseFields(message)?.error).message);
}

function readable(message: string): string {
  return errorBody(message) || message;
}

const MAX_MESSAGE = 2000;
const DEFAULT_MESSAGE = 'The agent reported an error without details.';

const MONTHS = [
  ...['jan', 'feb', 'mar', 'apr', 'may', 'jun'],
  ...['jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
];

/** "try again at Nov 17th, 2026 5:29 AM", and "try again at 11:40 PM" on the same day. */
const RESET =
  /try again at (?:([a-z]{3}) (\d{1,2})(?:st|nd|rd|th), (\d{4}) )?(\d{1,2}):(\d{2}) ([ap]m)/i;

const SENTENCES: readonly (readonly [Kind, RegExp])[] = [
  ['rate-limited', /usage limit/i],
  ['billing', /quota exceeded|insufficient[_ ]quota|out of credits|spend cap/i],
  ['auth', /missing environment variable|not logged in|sign in again|log in again|refresh token/i],
  ['permanent', /context window|context_length_exceeded/i],
  ['transient', /high demand|at capacity|stream disconnected/i],
];

const REFUSALS = [
  {
    pattern: /no rollout found|no saved session found/i,
    kind: 'session-lost',
    say: 'The agent no longer knows the session to resume.',
  },
  {
    pattern: /^error: (?:unexpected argument|invalid value|unrecognized)/,
    kind: 'permanent',
    say: 'This version of the agent does not accept its arguments.',
  },
  {
    pattern: /^Error: Model provider|^Error loading config|error.*config\.toml/i,
    kind: 'permanent',
    say: 'The agent’s own configuration is wrong.',
  },
  {
    pattern: /^Output schema file/,
    kind: 'permanent',
    say: 'The agent does not accept the task’s schema.',
  },
  { pattern: /not logged in/i, kind: 'auth', say: 'The agent has no account to work with.' },
] as const;
