/**
 * What errors and endings of the Agent Client Protocol mean, from the most certain sign to the
 * least: the agent's own name for the error, the protocol's code, the HTTP status that some agents
 * give as the code, the words.
 *
 *   F1. A session that does not load is lost, for whatever reason: a new one continues the work.
 *       Only an error that a new session would meet as well is reported as itself.
 */

import type { Failure } from '../../model/failure.ts';
import type { Kind } from '../failure.ts';
import { BILLING_WORDS, guessedFailure, KIND_OF_CODE, kindOfStatus } from '../failure.ts';
import { clip, type Fields, fieldsOf, numberOf, parseFields, textOf } from '../json-fields.ts';

export function errorFailure(error: Fields): Failure {
  const message = clip(wordsOf(error), 2000);
  const code = numberOf(error.code);
  const kind =
    KIND_OF_CODE.get(textOf(fieldsOf(error.data).errorKind)) ??
    KIND_OF_RPC_CODE.get(code) ??
    KIND_OF_WORDS.find(([, pattern]) => code < 500 && pattern.test(message))?.[0] ??
    kindOfStatus(code);
  return kind === null ? guessedFailure(message) : { kind, message };
}

/** The failure behind an error when a session is loaded. */
export function loadFailure(error: Fields): Failure {
  const failure = errorFailure(error);
  if (['auth', 'billing', 'rate-limited'].includes(failure.kind)) return failure;
  const message = `The agent could not load its earlier session. ${failure.message}`;
  return { kind: 'session-lost', message };
}

/** The failure behind the end of a turn; null if it ended well. */
export function stopFailure(reason: string): Failure | null {
  if (reason === 'end_turn') return null;
  return (
    STOPS.get(reason) ?? {
      kind: 'transient',
      message: `The agent stopped for an unknown reason: ${clip(reason, 100) || 'none'}.`,
    }
  );
}

/** Some agents put the service's whole answer into the message, others the reason beside it. */
function wordsOf({ message, data }: Fields): string {
  const inner = fieldsOf(parseFields(textOf(message))?.error);
  const said = textOf(inner.message) || textOf(message) || 'The agent reported an error.';
  const { details, message: more } = fieldsOf(data);
  const detail = textOf(data) || textOf(details) || textOf(more);
  return said.includes(detail) ? said : `${said}: ${detail}`;
}

/** Log-in required; a resource, a method or a parameter that is not known. */
const KIND_OF_RPC_CODE: ReadonlyMap<number, Kind> = new Map<number, Kind>([
  [-32000, 'auth'],
  [-32002, 'permanent'],
  [-32600, 'permanent'],
  [-32601, 'permanent'],
  [-32602, 'permanent'],
]);

const ACCOUNT_WORDS =
  /api[ -]key not valid|invalid (?:x-)?api[ _-]?key|authentication|unauthorized|not logged in/i;

const KIND_OF_WORDS = [
  ['auth', ACCOUNT_WORDS],
  ['billing', BILLING_WORDS],
] as const;

const STOPS: ReadonlyMap<string, Failure> = new Map<string, Failure>([
  ['max_tokens', { kind: 'permanent', message: 'The model’s answer reached its maximum length.' }],
  ['max_turn_requests', { kind: 'turns', message: 'The agent reached its own limit of turns.' }],
  ['refusal', { kind: 'permanent', message: 'The model refused the task.' }],
  ['cancelled', { kind: 'interrupted', message: 'The agent says that it was cancelled.' }],
]);
