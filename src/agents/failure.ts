/**
 * What the errors of services and programs mean that every agent meets.
 *
 *   F1. An unknown error is transient: retries are bounded, giving up is final.
 */

import type { Failure, SimpleFailureKind } from '../model/failure.ts';
import { clip } from './json-fields.ts';

export type Kind = SimpleFailureKind | 'rate-limited';

/** A failure that the agent reported; `retryAt` is when a limit resets, where that is known. */
export function reportedFailure(kind: Kind, words: string, retryAt = Number.NaN): Failure {
  const message = clip(words || NO_DETAILS, MAX_MESSAGE);
  if (kind !== 'rate-limited' || Number.isNaN(retryAt)) return { kind, message };
  return { kind, message, retryAt };
}

/** The failure behind an error of which only the words are known. */
export function guessedFailure(words: string): Failure {
  const message = clip(words, MAX_MESSAGE);
  return LIMIT_WORDS.test(words)
    ? { kind: 'rate-limited', message, guessed: true }
    : { kind: 'transient', message };
}

/** What an HTTP status means; null where it is no error. */
export function kindOfStatus(status: number): Kind | null {
  if (status < 400 || status > 599) return null;
  if (status === 401 || status === 403) return 'auth';
  if (status === 402) return 'billing';
  if (status === 429) return 'rate-limited';
  return status >= 500 || status === 408 || status === 409 ? 'transient' : 'permanent';
}

/** A line that a program prints when it refuses to start, what it means, and how to say so. */
export type Refusal = readonly [kind: SimpleFailureKind, pattern: RegExp, say: string];

/** The failure of a program that refused to start; null where no line says so. */
export function refusalIn(lines: readonly string[], refusals: readonly Refusal[]): Failure | null {
  for (const [kind, pattern, say] of refusals) {
    const line = lines.find((text) => pattern.test(text));
    if (line !== undefined) return { kind, message: `${say} ${clip(line.trim(), 500)}` };
  }
  return null;
}

export const REFUSED = {
  session: 'The agent no longer knows the session to resume.',
  account: 'The agent has no account to work with.',
  arguments: 'This version of the agent does not accept its arguments.',
} as const;

/** Codes that services, and agents after them, give their errors. */
export const KIND_OF_CODE: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['authentication_failed', 'auth'],
  ['oauth_org_not_allowed', 'auth'],
  ['billing_error', 'billing'],
  ['rate_limit', 'rate-limited'],
  ['overloaded', 'transient'],
  ['server_error', 'transient'],
  ['invalid_request', 'permanent'],
  ['model_not_found', 'permanent'],
  ['max_output_tokens', 'permanent'],
]);

export const BILLING_WORDS = /credit balance is too low|insufficient[ _]quota|billing_error/i;
const LIMIT_WORDS = /rate.?limit|too many requests|\b429\b|quota|usage limit/i;
const MAX_MESSAGE = 2000;
export const NO_DETAILS = 'The agent reported an error without details.';
