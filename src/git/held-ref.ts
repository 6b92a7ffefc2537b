/**
 * Moves a ref together with something else: while that is done the ref is locked, and the user's
 * hook (reference-transaction) has agreed to the move.
 *
 *   H1. The ref moves after the work has said yes, and not at all after a no or an error.
 *   H2. Nobody else can move it meanwhile. If we die git lets go of it, where it was.
 */

import { Conversation } from './conversation.ts';
import type { Sha } from './git.ts';

export interface Move {
  readonly ref: string;
  readonly to: Sha;
  readonly from: Sha;
  /** For the reflog. */
  readonly message: string;
}

export type HeldMove =
  | { readonly kind: 'moved' }
  /** The work said no. */
  | { readonly kind: 'kept' }
  /** A hook does not let the ref move. */
  | { readonly kind: 'refused'; readonly said: string }
  /** The ref is somewhere else. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'failed'; readonly why: string };

/** How long another one that holds the ref is waited for. */
const PATIENCE_MS = 20_000;

/** Moves the ref if the work says so; it is done only where nothing else is against the move. */
export async function moveHeld(
  dir: string,
  move: Move,
  work: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<HeldMove> {
  const { ref, to, from, message } = move;
  const patience = ['-c', `core.filesRefLockTimeout=${PATIENCE_MS}`];
  const update = [...patience, 'update-ref', '-m', message, '--stdin'];
  await using talk = new Conversation(dir, update, signal);
  await talk.say(`start\nupdate ${ref} ${to} ${from}\nprepare\n`);
  if ((await talk.hear((line) => line === 'prepare: ok')) === null) return whyNot(talk);
  if (!(await work())) return { kind: 'kept' }; // Without a commit git aborts.
  await talk.say('commit\n');
  const isMoved = (await talk.hear((line) => line === 'commit: ok')) !== null;
  return isMoved ? { kind: 'moved' } : whyNot(talk);
}

/** What git said at its end, or how it ended without a word. */
async function whyNot(talk: Conversation): Promise<HeldMove> {
  const exit = await talk.ended;
  const text = talk.errors;
  const said = objectionIn(text);
  if (said !== null) return { kind: 'refused', said };
  if (ELSEWHERE.test(text)) return { kind: 'lost' };
  const end = exit?.kind === 'signalled' ? exit.signal : 'it ended';
  return { kind: 'failed', why: text === '' ? `git update-ref did not answer: ${end}.` : text };
}

/** The words of a hook that did not let a ref move, each line once; null where it was no hook. */
export function objectionIn(stderr: string): string | null {
  const lines = stderr.trim().split('\n');
  if (!lines.some((line) => BY_HOOK.test(line))) return null;
  return [...new Set(lines)].filter((line) => !BY_HOOK.test(line)).join('\n');
}

const BY_HOOK = /^fatal: .*aborted by (?:the reference-transaction )?hook/;
const ELSEWHERE = /but expected|unable to resolve reference|reference is missing/;
