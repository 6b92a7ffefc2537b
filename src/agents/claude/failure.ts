/**
 * What Claude Code's errors mean, from the most certain sign to the least: how the turn ended, the
 * error's own code, the HTTP status, the words.
 */

import type { Failure, SimpleFailureKind } from '../../model/failure.ts';
import {
  KIND_OF_CODE,
  kindOfStatus,
  NO_DETAILS,
  REFUSED,
  refusalIn,
  reportedFailure,
} from '../failure.ts';

export interface ServiceError {
  /** Claude Code's own name for it, `''` where it has none. */
  readonly code: string;
  /** 0 where no HTTP answer came. */
  readonly status: number;
  readonly message: string;
  /** When the limit that was hit resets (ms since 1970). */
  readonly retryAt?: number | undefined;
}

interface BadTurn extends ServiceError {
  readonly subtype: string;
  readonly terminalReason: string;
  readonly startFailure: string;
}

export function serviceFailure({ code, status, message, retryAt }: ServiceError): Failure {
  const known = ACCOUNT_CODES.has(code) ? 'auth' : KIND_OF_CODE.get(code);
  const byStatus = status === 402 ? 'permanent' : kindOfStatus(status);
  return reportedFailure(known ?? byStatus ?? 'transient', message, retryAt);
}

/** The failure behind a bad `result`. */
export function turnFailure(turn: BadTurn): Failure {
  const { message, subtype } = turn;
  const limit = KIND_OF_SUBTYPE.get(subtype);
  if (limit !== undefined) return reportedFailure(limit, message);
  if (turn.terminalReason.startsWith('aborted')) {
    return { kind: 'interrupted', message: 'The agent was interrupted in the middle of its work.' };
  }
  const refusal = startFailure(message);
  if (refusal !== null) return refusal;
  if (turn.startFailure !== '') return reportedFailure('permanent', message);
  if (subtype !== 'error_during_execution') return serviceFailure(turn);
  return serviceFailure({ ...turn, message: `The agent itself failed. ${message || NO_DETAILS}` });
}

/** The failure in what the CLI prints when it refuses to start; null where it did not refuse. */
export function startFailure(words: string): Failure | null {
  return refusalIn(words.split('\n'), REFUSALS);
}

const ACCOUNT_CODES: ReadonlySet<string> = new Set([
  'account_on_hold',
  'verification_required',
  'cloud_credential_error',
]);

const KIND_OF_SUBTYPE: ReadonlyMap<string, SimpleFailureKind> = new Map<string, SimpleFailureKind>([
  ['error_max_turns', 'turns'],
  ['error_max_budget_usd', 'budget'],
  ['error_max_structured_output_retries', 'schema'],
]);

const ROOT =
  'The agent does not skip permissions for root. Work as another user, choose other ' +
  'permissions, or set IS_SANDBOX=1 on a disposable machine.';

const REFUSALS = [
  ['session-lost', /^(?:error: )?No conversation found/i, REFUSED.session],
  ['auth', /^Not logged in/i, REFUSED.account],
  ['permanent', /^error: (?:unknown option|option '.*' argument)/i, REFUSED.arguments],
  ['permanent', /^--agent '.*' not found/i, "The agent does not know the task's role."],
  ['permanent', /cannot be used with root/i, ROOT],
] as const;
