/**
 * What Codex's errors mean, from the most certain sign to the least: the sentences it has for
 * limits and accounts, the HTTP status, other words.
 */

import type { Failure } from '../../model/failure.ts';
import { type Kind, kindOfStatus, REFUSED, refusalIn, reportedFailure } from '../failure.ts';
import { fieldsOf, parseFields, textOf } from '../json-fields.ts';

interface ServiceError {
  readonly message: string;
  /** The status of the last HTTP answer, if the log reported it. */
  readonly status: number | null;
  /** The time of the log's last entry (ms since 1970), where there was one. */
  readonly now: number | null;
}

export function serviceFailure({ message, status, now }: ServiceError): Failure {
  // For an invalid request the message is the body of the service's answer.
  const body = textOf(fieldsOf(parseFields(message)?.error).message);
  const told = Number(/\bstatus:? (\d{3})\b/.exec(message)?.[1] ?? status);
  const kind =
    SENTENCES.find(([, pattern]) => pattern.test(message))?.[0] ??
    kindOfStatus(told) ??
    (body === '' ? 'transient' : 'permanent');
  return reportedFailure(kind, body || message, resetTime(message, now) ?? undefined);
}

/** The failure in what the CLI prints when it refuses to start; null where it did not refuse. */
export function startFailure(words: string): Failure | null {
  return refusalIn(words.split('\n'), REFUSALS);
}

/**
 * When a limit resets (ms since 1970): Codex writes it in the time zone that it shares with us, and
 * without seconds, so the end of that minute counts.
 */
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

const OWN_CONFIG = /^Error: Model provider|^Error loading config|error.*config\.toml/i;

const REFUSALS = [
  ['session-lost', /no rollout found|no saved session found/i, REFUSED.session],
  ['permanent', /^error: (?:unexpected argument|invalid value|unrecognized)/, REFUSED.arguments],
  ['permanent', OWN_CONFIG, 'The agent’s own configuration is wrong.'],
  ['permanent', /^Output schema file/, 'The agent does not accept the task’s schema.'],
  ['auth', /not logged in/i, REFUSED.account],
] as const;
