/**
 * What runs leave besides workspaces, which of it `landfast cleanup` removes, and why. Facts in,
 * decisions out.
 *
 *   T1. A branch goes only if the target or a kept ref holds all of it. Branches that users named,
 *       and those that work was delivered on, do not even come here.
 *   T2. What a live run or one that can be resumed uses, stays.
 *   T3. What agents said goes only with runs that are as old as the user has said.
 */

import type { CleanupWish, Verdict } from './cleanup.ts';
import type { RunPlace } from './workspaces.ts';

/** Something that a run has left. */
export type Trace =
  | {
      readonly kind: 'branch';
      /** Without `refs/heads/`. */
      readonly path: string;
      readonly of: RunPlace;
      readonly task: string | null;
      /** A branch or a ref that holds all of it. */
      readonly heldBy: string | null;
      /** A worktree that has it checked out and that stays. */
      readonly usedBy: string | null;
    }
  /** Transcripts; a temporary folder; a folder for gates that git does not know. */
  | { readonly kind: 'data' | 'scratch' | 'folder'; readonly path: string; readonly of: RunPlace }
  /** A lock on a ref of ours; `busy` while some git works in the repository. */
  | { readonly kind: 'lock'; readonly path: string; readonly busy: boolean };

/** What is to become of each trace of the runs that are meant. */
export function planTraces(traces: readonly Trace[], wish: CleanupWish): readonly Verdict[] {
  return traces.filter((trace) => isMeant(trace, wish)).map((trace) => verdictOn(trace, wish.all));
}

function isMeant(trace: Trace, wish: CleanupWish): boolean {
  if (trace.kind === 'lock') return wish.run === null;
  const { run, state, live } = trace.of;
  if (wish.run !== null && wish.run !== run) return false;
  if (trace.kind === 'data' && wish.olderThanMs === 0) return false;
  if (trace.kind === 'branch' && trace.usedBy !== null) return false; // It goes or stays with that.
  return !live && wish.now - state.at >= wish.olderThanMs;
}

function verdictOn(trace: Trace, all: boolean): Verdict {
  const { kind, path } = trace;
  const run = trace.kind === 'lock' ? null : trace.of.run;
  const task = trace.kind === 'branch' ? trace.task : null;
  return { kind, path, run, task, live: false, ...fateOf(trace, all) };
}

function fateOf(trace: Trace, all: boolean): Pick<Verdict, 'remove' | 'why'> {
  const leave = (why: string) => ({ remove: false, why });
  const remove = (why: string) => ({ remove: true, why });
  switch (trace.kind) {
    case 'lock':
      return trace.busy
        ? leave('a git process works in the repository and may hold it')
        : remove('no git process works in the repository, so nobody holds it');
    case 'scratch':
      return remove('its engine is not alive any more');
    case 'folder':
      return remove('it holds no work, and git does not know it');
    case 'data':
    case 'branch':
      break;
  }
  const { outcome } = trace.of.state;
  if ((outcome === null || outcome === 'interrupted') && !all) {
    return leave(`its run can go on: landfast resume ${trace.of.run}`);
  }
  if (trace.kind !== 'branch') return remove('what agents said; the journal of the run stays');
  if (trace.heldBy === null) return leave('nothing else holds its commits');
  return remove(`all of it is in ${trace.heldBy}`);
}
