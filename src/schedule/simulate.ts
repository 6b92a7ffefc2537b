/**
 * simulate: when a plan would be done. The real fold and scheduler play it on a clock of their own:
 * every attempt succeeds and takes the time it is given, merges and landings take none.
 */

import { assert, unreachable } from '../base/assert.ts';
import { fnv1a } from '../base/fnv1a.ts';
import type { Effect } from '../model/effect.ts';
import type { Event } from '../model/event.ts';
import { apply } from '../model/fold.ts';
import type { Plan, TaskId } from '../model/plan.ts';
import type { RunState } from '../model/state.ts';
import { decide } from './decide.ts';
import type { AgentsKnown } from './next-attempt.ts';

/** How long things take, in milliseconds. */
export interface Durations {
  task(id: TaskId): number;
  /** The gates of one candidate. */
  readonly gates: number;
}

/** When things happen, in milliseconds after the start. */
export interface Simulation {
  readonly endMs: number;
  readonly tasks: ReadonlyMap<TaskId, { readonly startMs: number; readonly endMs: number }>;
}

interface Due {
  readonly at: number;
  readonly facts: readonly Event[];
}

/** Plays the plan to its end. */
export function simulate(plan: Plan, durations: Durations, agents: AgentsKnown): Simulation {
  const due: Due[] = [];
  let now = 0;
  let state: RunState | null = null;
  const record = (event: Event): void => {
    state = apply(state, { seq: (state?.seq ?? 0) + 1, at: now, event });
  };
  record({ type: 'run.started', plan, planHash: '', base: commitNumber(0), target: 'main' });
  for (let turn = 0; ; turn += 1) {
    const known: RunState = state!;
    if (known.outcome !== null) return { endMs: now, tasks: spans(known) };
    assert(turn < 1_000 * (plan.tasks.length + 10), 'a simulated run comes to an end');
    const { decisions, wakeAt } = decide(known, now, agents);
    for (const { record: event, perform } of decisions) {
      record(event);
      if (perform !== undefined) due.push(outcomeOf(perform, now, durations, known));
    }
    if (decisions.length > 0) continue;
    due.sort((a, b) => a.at - b.at);
    const next = due.shift();
    const waits = wakeAt !== null && (next === undefined || wakeAt < next.at);
    assert(next !== undefined || waits, 'a simulated run never waits for a person');
    now = Math.max(now, waits ? wakeAt! : next!.at);
    if (waits && next !== undefined) due.unshift(next);
    else for (const fact of next?.facts ?? []) record(fact);
  }
}

function outcomeOf(effect: Effect, now: number, durations: Durations, { tasks }: RunState): Due {
  switch (effect.kind) {
    case 'attempt': {
      const { task, attempt } = effect;
      const lands = tasks.get(task)?.spec.mode === 'write';
      const commit = lands ? commitNumber(fnv1a(task)) : null;
      const work = { commit, files: [], outside: [] };
      const end = { exitCode: 0, text: '' };
      const fact: Event = { type: 'attempt.finished', task, attempt, ...work, ...end };
      return { at: now + durations.task(task), facts: [fact] };
    }
    case 'merge': {
      const { task, onto, lands } = effect;
      const commit = commitNumber(fnv1a(`${task} on ${onto}`));
      const built: Event = { type: 'candidate.built', task, commit, tree: commit };
      return { at: now, facts: [lands ? { type: 'merge.landed', task, onto, commit } : built] };
    }
    case 'verify': {
      const { task, commit } = effect;
      const fact: Event = { type: 'candidate.verified', task, commit, failure: null };
      return { at: now + durations.gates, facts: [fact] };
    }
    case 'land': {
      const facts = effect.candidates.map(({ task, commit }, index): Event => {
        const onto = effect.candidates[index - 1]?.commit ?? effect.onto;
        return { type: 'merge.landed', task, onto, commit };
      });
      return { at: now, facts };
    }
    case 'release':
      return { at: now, facts: [{ type: 'workspace.removed', task: effect.task }] };
    case 'publish': {
      const { target, head: commit } = effect;
      return { at: now, facts: [{ type: 'publish.finished', target, commit, checkout: 'none' }] };
    }
    default:
      return unreachable(effect);
  }
}

function spans({ tasks, landed }: RunState): Simulation['tasks'] {
  const landedAt = new Map(landed.map(({ task, at }) => [task, at]));
  return new Map(
    [...tasks].map(([id, { attempts }]) => {
      const last = attempts.at(-1);
      const startMs = attempts[0]?.startedAt ?? landedAt.get(id) ?? 0;
      return [id, { startMs, endMs: landedAt.get(id) ?? last?.endedAt ?? startMs }];
    }),
  );
}

/** Stands for an object id. */
function commitNumber(number: number): string {
  return number.toString(16).padStart(40, '0');
}
