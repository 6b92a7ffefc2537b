/**
 * What Claude Code's errors mean, from the most certain sign to the least: how the turn ended, the
 * error's own code, the HTTP status, the words.
 *
 *   F1. An unknown error is transient: retries are bounded, giving up is final.
 */

import type { Failure, SimpleFailureKind } from '../../model/failure.ts';
import { clip } from '../json-fields.ts';

/** What is known of an error of the service. */
export interface ServiceError {
  /** Claude Code's own name for it, `''` where it has none. */
  readonly code: string;
  /** Null where no HTTP answer came. */
  readonly status: number | null;
  readonly message: string;
  /** When the limit that was hit resets (ms since 1970). */
  readonly retryAt?: number | undefined;
}

/** What is known of a turn that ended badly. */
export interface BadTurn extends ServiceError {
  readonly subtype: string;
  readonly terminalReason: string;
  readonly startFailure: string;
}

type Kind = SimpleFailureKind | 'rate-limited';

/** The failure an error of the service stands for. */
export function serviceFailure(error: ServiceError): Failure {
  const kind = KIND_OF_CODE.get(error.code) ?? kindOfStatus(error.status) ?? 'transient';
  const message = clip(error.message || DEFAULT_MESSAGE, MAX_MESSAGE);
  if (kind !== 'rate-limited') return { kind, message };
  return error.retryAt === undefined
    ? { kind, message }
    : { kind, message, retryAt: error.retryAt };
}

/** The failure a bad `result` stands for. */
export function turnFailure(turn: BadTurn): Failure {
  const message = clip(turn.message || DEFAULT_MESSAGE, MAX_MESSAGE);
  const limit = KIND_OF_SUBTYPE.get(turn.subtype);
  if (limit !== undefined) return { kind: limit, message };
  if (turn.terminalReason.startsWith('aborted')) {
    return { kind: 'interrupted', message: 'The agent was interrupted in the middle of its work.' };
  }
  const refusal = startFailure(message);
  if (refusal !== null) return refusal;
  if (turn.startFailure !== '') return { kind: 'permanent', message };
  const own = turn.subtype === 'error_during_execution';
  return serviceFailure(own ? { ...turn, message: `The agent itself failed. ${message}` } : turn);
}

/** The failure in what the CLI prints when it refuses to start; null where it did not refuse. */
export function startFailure(words: string): Failure | null {
  for (const { pattern, kind, say } of REFUSALS) {
    const line = words.split('\n').find((text) => pattern.test(text));
    if (line !== undefined) return { kind, message: say(clip(line.trim(), 500)) };
  }
  return null;
}

function kindOfStatus(status: number | null): Kind | null {
  if (status === null || status < 400) return null;
  if (status === 401 || status === 403) return 'auth';
  if (status === 429) return 'rate-limited';
  return status >= 500 || status === 408 || status === 409 ? 'transient' : 'permanent';
}

const MAX_MESSAGE = 2000;
const DEFAULT_MESSAGE = 'The agent reported an error without details.';

const KIND_OF_CODE: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['authentication_failed', 'auth'],
  ['oauth_org_not_allowed', 'auth'],
  ['account_on_hold', 'auth'],
  ['verification_required', 'auth'],
  ['cloud_credential_error', 'auth'],
  ['billing_error', 'billing'],
  ['rate_limit', 'rate-limited'],
  ['overloaded', 'transient'],
  ['server_error', 'transient'],
  ['invalid_request', 'permanent'],
  ['model_not_found', 'permanent'],
  ['max_output_tokens', 'permanent'],
]);

const KIND_OF_SUBTYPE: ReadonlyMap<string, SimpleFailureKind> = new Map<string, SimpleFailureKind>([
  ['error_max_turns', 'turns'],
  ['error_max_budget_usd', 'budget'],
  ['error_max_structured_output_retries', 'schema'],
]);

interface Refusal {
  readonly pattern: RegExp;
  readonly kind: 'auth' | 'permanent' | 'session-lost';
  readonly say: (line: string) => string;
}

const REFUSALS: readonly Refusal[] = [
  {
    pattern: /^(?:error: )?No conversation found/i,
    kind: 'session-lost',
    say: (line) => `The agent no longer knows the session to resume. ${line}`,
  },
  {
    pattern: /^Not logged in/i,
    kind: 'auth',
    say: (line) => `The agent has no account to work with. ${line}`,
  },
  {
    pattern: /^error: (?:unknown option|option '.*' argument)/i,
    kind: 'permanent',
    say: (line) => `This version of the agent does not accept its arguments. ${line}`,
  },
  {
    pattern: /^--agent '.*' not found/i,
    kind: 'permanent',
    say: (line) => `The agent does not know the task's role. ${line}`,
  },
  {
    pattern: /cannot be used with root/i,
    kind: 'permanent',
    say: (line) =>
      'The agent does not skip permissions for root. Work as another user, choose other ' +
      'permissions, or set IS_SANDBOX=1 on a disposable machine. ' +
      line,
  },
];
