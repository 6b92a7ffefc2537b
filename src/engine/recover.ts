/**
 * recover: what an engine finds when it opens a run that another one left. Pure.
 *
 * An attempt cannot be taken up in the middle: it failed as `interrupted`, and the ordinary rule
 * resumes it by its session. A merge, a release and a publication are idempotent: they are simply
 * performed again, and where they had been done they find that and report it. A merge onto work
 * that has left the queue is useless: its work goes back and waits for its turn.
 */

import { UserError } from '../base/errors.ts';
import type { ReopeningCommand } from '../model/command.ts';
import type { Effect } from '../model/effect.ts';
import type { Event, MendedWork } from '../model/event.ts';
import type { LimitChanges, Plan, Sha, TaskId } from '../model/plan.ts';
import {
  type Candidate,
  chainOf,
  failedBecauseOf,
  isEnding,
  type RunState,
} from '../model/state.ts';
import { releaseEffect } from '../schedule/decide.ts';
import { landEffect, unfinished } from '../schedule/landing.ts';
import { publishEffect } from '../schedule/publishing.ts';
import { replan, replanning, retriedByPlan } from '../schedule/replan.ts';
import { commitOf, landingWith } from '../schedule/withdrawals.ts';
import { respond } from './commands.ts';

export interface Unfinished {
  readonly facts: readonly Event[];
  readonly effects: readonly Effect[];
}

/** Closes or continues everything that was under way. A new run has nothing of the kind. */
export function recover(state: RunState): Unfinished {
  const facts: Event[] = [];
  const effects: Effect[] = [];
  for (const task of state.tasks.values()) {
    const id = task.spec.id;
    if (task.status.kind === 'running') {
      const message = 'The engine was ended while this attempt ran.';
      const failure = { kind: 'interrupted', message } as const;
      const attempt = task.attempts.length;
      facts.push({ type: 'attempt.failed', task: id, attempt, failure, exitCode: null });
    }
    if (task.workspace === 'released') {
      effects.push(releaseEffect(state, task));
    }
  }
  // What lands already needs no verdict any more.
  const landing = state.landing === null ? [] : landingWith(state, state.landing);
  const orphan = orphanOf(state);
  for (const candidate of state.queue.filter((each) => !landing.includes(each))) {
    const effect = candidate === orphan ? null : unfinished(state, candidate);
    if (effect !== null) effects.push(effect);
  }
  if (orphan !== null) {
    const why = 'What it was being merged with has left the queue.';
    facts.push({ type: 'merge.withdrawn', task: orphan.task, ahead: null, why });
  }
  if (state.landing !== null) effects.push(landEffect(state, state.landing));
  if (state.publish.kind === 'running' && state.target !== null) {
    effects.push(publishEffect(state, state.publish.head, state.target));
  }
  return { facts, effects };
}

/** The candidate that was being built on what is not there any more; it can only be the last. */
function orphanOf(state: RunState): Candidate | null {
  const chain = chainOf(state);
  const last = chain.at(-1);
  if (last === undefined || last.built !== null) return null;
  const below = chain.length === 1 ? state.head : commitOf(chain.at(-2)!);
  return last.onto === below ? null : last;
}

/** What happened to the run's work while it had no engine. */
export interface Meanwhile {
  /** Where the target is, if it has gone on from the run's head. */
  readonly head: Sha;
  /** Failed tasks whose work was merged there. */
  readonly landed: readonly TaskId[];
}

export interface EditedPlan {
  /** Without its secrets. */
  readonly plan: Plan;
  readonly hash: string;
}

export interface Reopening {
  readonly meanwhile: Meanwhile | null;
  /** The command to begin with; null to retry all failed tasks. */
  readonly retry: ReopeningCommand | null;
  readonly attended?: boolean;
  readonly changed: LimitChanges;
  /** An edited plan, and the hash of its text. */
  readonly next: EditedPlan | null;
  /** What people have committed to branches of tasks that are not good. */
  readonly mended: readonly MendedWork[];
}

/** The facts that reopen a run. One that had ended retries its failed tasks, unless given up. */
export function reopen(state: RunState, reopening: Reopening): readonly Event[] {
  const { meanwhile, retry: command, changed, next } = reopening;
  const tasks = [...state.tasks.values()];
  const landed = meanwhile?.landed ?? [];
  const skipped = new Set(tasks.filter((task) => task.skipped !== null).map(({ spec }) => spec.id));
  const givenUp = [...skipped, ...failedBecauseOf(state, skipped)];
  const edits = next === null ? NO_EDITS : editsOf(state, next, landed);
  const out = new Set([...givenUp, ...landed, ...edits.removed, ...edits.again]);
  const failed = tasks.filter(({ status }) => status.kind === 'failed');
  const ids = failed.map(({ spec }) => spec.id).filter((id) => !out.has(id));
  const retry = state.outcome === null || command !== null ? [] : ids;
  const attended = reopening.attended === true ? ({ attended: true } as const) : {};
  const head = meanwhile === null ? {} : { head: meanwhile.head };
  const open = reopening.mended.filter(({ task }) => !landed.includes(task));
  const unwanted = new Set(
    [...givenUp, ...edits.removed].filter((id) => !edits.again.includes(id)),
  );
  const taken =
    command === null
      ? open.filter(({ task }) => !unwanted.has(task) && !isEnding(state)).map(mending)
      : factsOf(command.kind === 'retry' ? { ...command, mended: open } : command, state);
  return [
    { type: 'run.resumed', retry, ...head, ...changed, ...attended },
    ...landedByHand(reopening),
    ...edits.facts,
    ...taken,
  ];
}

/** The facts of an edited plan, and the tasks they concern. */
interface Edits {
  readonly facts: readonly Event[];
  readonly removed: readonly TaskId[];
  /** Tasks that begin again because of it. */
  readonly again: readonly TaskId[];
}

const NO_EDITS: Edits = { facts: [], removed: [], again: [] };

function editsOf(state: RunState, next: EditedPlan, landed: readonly TaskId[]): Edits {
  const edited = replan(state, next.plan);
  if (edited.kind === 'refused') throw new UserError(edited.why, edited.remedy);
  const { difference } = edited;
  const again = retriedByPlan(state, difference).filter(({ task }) => !landed.includes(task));
  const facts = [
    ...replanning(state, edited, next.hash),
    ...again.map(({ task, fresh }): Event => ({ type: 'task.retried', task, fresh })),
  ];
  return { facts, removed: difference.removed, again: again.map(({ task }) => task) };
}

/** Work that a person has merged, as it was when that happened. */
function landedByHand({ meanwhile, mended }: Reopening): readonly Event[] {
  if (meanwhile === null) return [];
  const { head } = meanwhile;
  return meanwhile.landed.flatMap((task): readonly Event[] => [
    ...mended.filter((work) => work.task === task).map(mending),
    { type: 'merge.landed', task, onto: head, commit: head },
  ]);
}

function mending(work: MendedWork): Event {
  return { type: 'work.mended', ...work };
}

/** What a command makes true in a run that has just been resumed. */
function factsOf(command: ReopeningCommand, state: RunState): readonly Event[] {
  const answer = respond(command, { ...state, outcome: null, stopping: null });
  return answer.kind === 'accepted' ? answer.events : [];
}
