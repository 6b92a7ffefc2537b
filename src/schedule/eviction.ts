/**
 * eviction: what goes when runs take more of the disk than they may. Pure.
 *
 *   V1. Only what holds no work goes: workspaces that wait for a task or for a gate and that no
 *       engine uses, and what agents said in runs that have succeeded, the oldest first.
 */

import type { RunOutcome } from '../model/event.ts';

export interface Evictable {
  readonly kind: 'workspace' | 'transcripts';
  readonly path: string;
  readonly run: string;
  /** When its run last did something (ms since 1970). */
  readonly at: number;
  /** Whether an engine works on its run. */
  readonly live: boolean;
  readonly outcome: RunOutcome | null;
}

/** What may go, in the order in which it goes. */
export function evictionOrder(given: readonly Evictable[]): readonly Evictable[] {
  const may = given.filter(
    ({ kind, live, outcome }) => !live && (kind === 'workspace' || outcome === 'succeeded'),
  );
  const rank = ({ kind }: Evictable): number => (kind === 'workspace' ? 0 : 1);
  return may.sort((one, other) => rank(one) - rank(other) || one.at - other.at);
}
