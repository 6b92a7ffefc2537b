/**
 * What Gemini CLI's errors mean, from the most certain sign to the least: the CLI's own name for the
 * error, the service's code and reason inside of its message, the words, the exit code.
 *
 *   F1. An unknown error is transient: retries are bounded, giving up is final.
 *   F2. A wrong key is answered with 400, not 401: the reason counts before the code.
 */

import type { Failure, SimpleFailureKind } from '../../model/failure.ts';
import { clip, fieldsOf, listOf, numberOf, parseFields, textOf } from '../json-fields.ts';

type Kind = SimpleFailureKind | 'rate-limited';

/** What is known of an error when it is told. */
export interface ToldError {
  /** The CLI's own name for it, `''` where it has none. */
  readonly name: string;
  readonly message: string;
  /** The HTTP status where it is told apart from the message. */
  readonly status?: number;
  /** When it was told (ms since 1970), NaN where that is not known. */
  readonly at: number;
}

/** The failure that an error stands for. */
export function toldFailure(error: ToldError): Failure {
  const service = serviceError(error);
  const kind = KIND_OF_NAME.get(error.name) ?? kindOfService(service) ?? 'transient';
  const message = clip(describe(service) || DEFAULT_MESSAGE, MAX_MESSAGE);
  if (kind !== 'rate-limited') return { kind, message };
  const retryAt = error.at + waitMs(service.message);
  return Number.isNaN(retryAt) ? { kind, message } : { kind, message, retryAt };
}

/** What an exit code says of an error that has no other sign; null where it says nothing. */
export function kindOfExit(code: number, stderr: string): Kind | null {
  if (/\bModelNotFoundError\b/.test(stderr)) return 'permanent';
  return KIND_OF_EXIT.get(code) ?? kindOfStatus(code + 256);
}

/** The failure of a CLI that refused to start; null where it did not. */
export function startFailure(code: number, stderr: string): Failure | null {
  const lines = stderr
    .replace(ANSI, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  for (const refusal of REFUSALS.filter((each) => each.code === code)) {
    const line = lines.findLast((text) => refusal.pattern.test(text));
    if (line === undefined) continue;
    const kind = refusal.kind ?? KIND_OF_EXIT.get(code) ?? 'permanent';
    return { kind, message: `${refusal.say} ${clip(line, 500)}` };
  }
  return null;
}

interface ServiceError {
  readonly status: number;
  readonly reasons: readonly string[];
  readonly message: string;
}

/** The service's own answer stands in the message as JSON, sometimes once more inside of itself. */
function serviceError({ message, status = 0 }: ToldError): ServiceError {
  const { code, message: inner, details } = errorFields(message);
  const deeper = errorFields(textOf(inner)).message;
  return {
    status: numberOf(code) || status || (TOO_MANY.test(message) ? 429 : 0),
    reasons: listOf(details).map((detail) => textOf(fieldsOf(detail).reason)),
    message: textOf(deeper) || textOf(inner) || message.replace(API_ERROR, '$1').trim(),
  };
}

function errorFields(text: string) {
  const json = parseFields(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
  return fieldsOf(json?.error);
}

function kindOfService({ status, reasons, message }: ServiceError): Kind | null {
  if (reasons.includes('API_KEY_INVALID') || WRONG_KEY.test(message)) return 'auth';
  if (reasons.includes('INSUFFICIENT_G1_CREDITS_BALANCE')) return 'billing';
  if (status !== 429 && NEEDS_BILLING.test(message)) return 'billing';
  return (
    kindOfStatus(status) ?? KIND_OF_WORDS.find(([, words]) => words.test(message))?.[0] ?? null
  );
}

function kindOfStatus(status: number): Kind | null {
  if (status < 400 || status > 599) return null;
  if (status === 401 || status === 403) return 'auth';
  if (status === 402) return 'billing';
  if (status === 429) return 'rate-limited';
  return status >= 499 || status === 408 || status === 409 ? 'transient' : 'permanent';
}

function describe({ status, message }: ServiceError): string {
  return status === 0 ? message : `The service answered ${status}: ${message}`;
}

/** How long the service asks to wait; NaN where it does not say. */
function waitMs(message: string): number {
  const [, amount, unit] = /retry (?:in|after) ([\d.]+)(ms|s)\b/i.exec(message) ?? [];
  return Math.ceil(Number(amount) * (unit === 'ms' ? 1 : 1000));
}

const MAX_MESSAGE = 2000;
const DEFAULT_MESSAGE = 'The agent reported an error without details.';

/** The CLI puts the service's words in brackets and its own advice behind them. */
const API_ERROR = /^\[API Error: (.*)\](?:\n.*)?$/s;
/** The advice it gives for a 429, whose code is not in the message. */
const TOO_MANY = /\]\n(?:Possible quota limitations|Please wait and try again later)/;
const WRONG_KEY = /API key (?:not valid|expired)|invalid authentication credentials/i;
const NEEDS_BILLING = /enable billing|billing to be enabled|billing account/i;
const ANSI = /\u001b\[[\d;]*m/g;

const KIND_OF_WORDS: readonly (readonly [Kind, RegExp])[] = [
  ['rate-limited', /\bquota\b|rate limit|resource (?:has been )?exhausted/i],
  ['permanent', /blocked due to|exceeded the token limit/i],
];

const KIND_OF_NAME: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['FatalAuthenticationError', 'auth'],
  ['FatalTurnLimitedError', 'turns'],
  ['FatalInputError', 'permanent'],
  ['FatalConfigError', 'permanent'],
  ['FatalSandboxError', 'permanent'],
  ['FatalUntrustedWorkspaceError', 'permanent'],
  ['FatalCancellationError', 'interrupted'],
]);

/** The CLI's own codes. Others are an HTTP status modulo 256. */
const KIND_OF_EXIT: ReadonlyMap<number, SimpleFailureKind> = new Map<number, SimpleFailureKind>([
  [41, 'auth'],
  [42, 'permanent'],
  [44, 'permanent'],
  [52, 'permanent'],
  [53, 'turns'],
  [55, 'permanent'],
  [130, 'interrupted'],
]);

interface Refusal {
  readonly code: number;
  /** The line of standard error that tells; of several the last. */
  readonly pattern: RegExp;
  /** Where it is another than the code's. */
  readonly kind?: SimpleFailureKind;
  readonly say: string;
}

const REFUSALS: readonly Refusal[] = [
  { code: 41, pattern: /auth|API_KEY/i, say: 'The agent has no account to work with.' },
  {
    code: 42,
    pattern: /^Error resuming session/,
    kind: 'session-lost',
    say: 'The agent no longer knows the session to resume.',
  },
  { code: 42, pattern: /./, say: 'The agent did not accept its input.' },
  { code: 44, pattern: /./, say: 'The agent’s own sandbox failed.' },
  { code: 52, pattern: /./, say: 'The agent’s configuration is wrong.' },
  { code: 55, pattern: /trust/, say: 'The agent does not trust its workspace.' },
  {
    code: 1,
    pattern: /^(?:Unknown argument|Invalid values)/,
    say: 'This version of the agent does not accept its arguments.',
  },
];
