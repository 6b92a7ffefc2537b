/**
 * recover: what an engine finds when it opens a run that another one left. Pure.
 *
 * An attempt cannot be taken up in the middle: it failed as `interrupted`, and the ordinary rule
 * resumes it by its session. A merge, a release and a publication are idempotent: they are simply
 * performed again, and where they had been done they find that and report it. A merge onto work
 * that has left the queue is of no use to anybody: its work goes back and waits for its turn.
 */

import type { Command } from '../model/command.ts';
import type { Effect } from '../model/effect.ts';
import type { Event } from '../model/event.ts';
import type { NewLimits } from '../model/new-limits.ts';
import type { Sha, TaskId } from '../model/plan.ts';
import { type Candidate, chainOf, type RunState } from '../model/state.ts';
import { releaseEffect } from '../schedule/decide.ts';
import { landEffect, unfinished } from '../schedule/landing.ts';
import { publishEffect } from '../schedule/publishing.ts';
import { commitOf, landingWith } from '../schedule/withdrawing.ts';
import { failedFor, respond } from './commands.ts';

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

/** What happened to the run's work while no engine looked. */
export interface Meanwhile {
  /** Where the target is, if it has gone on from the run's head. */
  readonly head: Sha;
  /** Failed tasks whose work somebody has merged there. */
  readonly landed: readonly TaskId[];
}

export interface Reopening {
  readonly meanwhile: Meanwhile | null;
  /** The only tasks that get a new chance; null for all that have failed. */
  readonly retry: (Command & { kind: 'retry' }) | null;
  readonly changed: NewLimits;
}

/**
 * The facts that reopen a run: one that had ended gives its failed tasks a new chance, but not
 * those that somebody gave up.
 */
export function reopen(
  state: RunState,
  { meanwhile, retry: wish, changed }: Reopening,
): readonly Event[] {
  const tasks = [...state.tasks.values()];
  const skipped = new Set(tasks.filter((task) => task.skipped !== null).map(({ spec }) => spec.id));
  const out = new Set([...skipped, ...failedFor(state, skipped), ...(meanwhile?.landed ?? [])]);
  const failed = tasks.filter(({ status }) => status.kind === 'failed');
  const ids = failed.map(({ spec }) => spec.id).filter((id) => !out.has(id));
  const retry = state.outcome === null || wish !== null ? [] : ids;
  const retried = wish === null ? [] : retriedBy(wish, state);
  if (meanwhile === null) return [{ type: 'run.resumed', retry, ...changed }, ...retried];
  const { head } = meanwhile;
  const byHand = meanwhile.landed.map((task): Event => {
    return { type: 'merge.landed', task, onto: head, commit: head };
  });
  return [{ type: 'run.resumed', retry, head, ...changed }, ...byHand, ...retried];
}

/** What a wish to retry makes true in a run that has just been resumed. */
function retriedBy(wish: Command, state: RunState): readonly Event[] {
  const answer = respond(wish, { ...state, outcome: null, stopping: null });
  return answer.kind === 'accepted' ? answer.events : [];
}
