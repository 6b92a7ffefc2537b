/**
 * What Gemini CLI's errors mean, from the most certain sign to the least: the CLI's own name for the
 * error, the service's code and reason inside its message, the words, the exit code.
 *
 *   F1. A wrong key is answered with 400, not 401: the reason counts before the code.
 */

import type { Failure, SimpleFailureKind } from '../../model/failure.ts';
import type { Kind, Refusal } from '../failure.ts';
import { kindOfStatus, REFUSED, refusalIn, reportedFailure } from '../failure.ts';
import { fieldsOf, listOf, numberOf, parseFields, textOf } from '../json-fields.ts';

interface ToldError {
  /** The CLI's own name for it, `''` where it has none. */
  readonly name: string;
  readonly message: string;
  /** The HTTP status, where it is not in the message. */
  readonly status?: number;
  /** When it was reported (ms since 1970); NaN if unknown. */
  readonly at: number;
}

export function toldFailure(error: ToldError): Failure {
  const service = serviceError(error);
  const { status, message } = service;
  const kind = KIND_OF_NAME.get(error.name) ?? kindOfService(service) ?? 'transient';
  const words = status === 0 ? message : `The service answered ${status}: ${message}`;
  return reportedFailure(kind, words, error.at + waitMs(message));
}

/** What an exit code says of an error that has no other sign; null where it says nothing. */
export function kindOfExit(code: number, stderr: string): Kind | null {
  if (/\bModelNotFoundError\b/.test(stderr)) return 'permanent';
  return KIND_OF_EXIT.get(code) ?? kindOfAnswer(code + 256);
}

/** The failure of a CLI that refused to start; null where it did not. The last line counts. */
export function startFailure(code: number, stderr: string): Failure | null {
  const lines = stderr
    .replace(ANSI, '')
    .split('\n')
    .map((line) => line.trim());
  const refusals = REFUSALS.filter(([of]) => of === code).map(([, ...refusal]): Refusal => refusal);
  return refusalIn(lines.toReversed(), refusals);
}

interface ServiceError {
  readonly status: number;
  readonly reasons: readonly string[];
  readonly message: string;
}

/** The message holds the service's answer as JSON, sometimes nested in itself. */
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
  const byWords = KIND_OF_WORDS.find(([, words]) => words.test(message))?.[0];
  return kindOfAnswer(status) ?? byWords ?? null;
}

/** 499 is a request that was given up. */
function kindOfAnswer(status: number): Kind | null {
  return status === 499 ? 'transient' : kindOfStatus(status);
}

/** How long the service asks to wait; NaN where it does not say. */
function waitMs(message: string): number {
  const [, amount, unit] = /retry (?:in|after) ([\d.]+)(ms|s)\b/i.exec(message) ?? [];
  return Math.ceil(Number(amount) * (unit === 'ms' ? 1 : 1000));
}

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

const REFUSALS: readonly (readonly [code: number, ...Refusal])[] = [
  [1, 'permanent', /^(?:Unknown argument|Invalid values)/, REFUSED.arguments],
  [41, 'auth', /auth|API_KEY/i, REFUSED.account],
  [42, 'session-lost', /^Error resuming session/, REFUSED.session],
  [42, 'permanent', /./, 'The agent did not accept its input.'],
  [44, 'permanent', /./, 'The agent’s own sandbox failed.'],
  [52, 'permanent', /./, 'The agent’s configuration is wrong.'],
  [55, 'permanent', /trust/, 'The agent does not trust its workspace.'],
];
