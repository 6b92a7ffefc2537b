/**
 * replan: what an edited plan means for each task of a run that continues.
 *
 * - What has succeeded stays, whatever the edited plan says. Finished work lands as it is.
 * - A task that was tried and is gone from the plan stays in the run as given up, so that its
 *   workspace and branch are not forgotten; nothing needs it any more.
 * - The order of tasks is that of the edited plan alone, which has no cycle.
 * - An unfinished task starts over where its agent would be told something else; otherwise it
 *   continues.
 */

import type { ChangedTask, Event, PlanDifference } from '../model/event.ts';
import type { Plan, TaskSpec } from '../model/plan.ts';
import {
  chainOf,
  failedBecauseOf,
  isEnding,
  isGood,
  type RunState,
  type TaskState,
  waitsToLand,
} from '../model/state.ts';
import { landingWith } from './withdrawals.ts';

export type Replanned =
  | { readonly kind: 'planned'; readonly plan: Plan; readonly difference: PlanDifference }
  | { readonly kind: 'refused'; readonly why: string; readonly remedy: string };

/** The plan that the run continues with, and how it differs from the old one. */
export function replan(state: RunState, next: Plan): Replanned {
  const refusal = refusalOf(state, next);
  if (refusal !== null) return refusal;
  const wanted = new Map(next.tasks.map((spec) => [spec.id, spec]));
  const tasks = [...state.tasks.values()];
  const gone = tasks.filter(({ spec }) => !wanted.has(spec.id));
  const kept = gone.filter(staysIn).map(({ spec }) => withNeeds(spec, null));
  const own = next.tasks.map((spec) => {
    const known = state.tasks.get(spec.id);
    return known !== undefined && isGood(known) ? withNeeds(known.spec, spec) : spec;
  });
  const { target, base } = state.plan;
  const { target: _, base: __, ...rest } = next;
  const plan: Plan = {
    ...rest,
    ...(target === undefined ? {} : { target }),
    ...(base === undefined ? {} : { base }),
    tasks: [...own, ...kept],
  };
  return { kind: 'planned', plan, difference: differenceOf(state, plan, gone) };
}

/** Whether nothing is different. */
export function isSamePlan({ added, changed, removed, sections }: PlanDifference): boolean {
  return added.length + changed.length + removed.length + sections.length === 0;
}

/**
 * The facts that make a plan the run's own, in a run that has just been resumed. Candidates that
 * are not landing yet were verified by the gates of the plan before: they queue again.
 */
export function replanning(
  state: RunState,
  { plan, difference }: Replanned & { kind: 'planned' },
  planHash: string,
): readonly Event[] {
  const { landing, plan: before } = state;
  const verifies = before.gates.length > 0 && before.landing.strategy !== 'none';
  const lands = landing === null ? [] : landingWith(state, landing);
  const left = verifies ? state.queue.filter((each) => !lands.includes(each)) : [];
  const chain = chainOf(state);
  const later = left.toSorted((a, b) => chain.indexOf(b) - chain.indexOf(a));
  const withdrawn = later.map(({ task }): Event => {
    return { type: 'merge.withdrawn', task, ahead: null, why: 'The plan has changed.' };
  });
  return [...withdrawn, { type: 'run.replanned', plan, planHash, difference }];
}

/** Which tasks begin again because of the edits, and whether from the start. */
export function retriedByPlan(
  state: RunState,
  { changed, removed }: PlanDifference,
): readonly Pick<ChangedTask, 'task' | 'fresh'>[] {
  const own = changed.filter(({ task, fresh }) => {
    const status = state.tasks.get(task)?.status;
    if (status?.kind === 'stopped') return !waitsToLand(status);
    return status?.kind === 'failed' || (status?.kind === 'running' && fresh);
  });
  const known = new Set([...changed.map(({ task }) => task), ...removed]);
  const freed = failedBecauseOf(state, known).filter((task) => !known.has(task));
  return [...own, ...freed.map((task) => ({ task, fresh: false }))];
}

/** It was tried, or holds work: there is something of it. */
function staysIn({ attempts, status }: TaskState): boolean {
  const isUntouched = status.kind === 'waiting' || status.kind === 'failed';
  return attempts.length > 0 || !isUntouched;
}

/** A task as it was, in the order of the edited plan. */
function withNeeds({ forks: _, ...spec }: TaskSpec, edited: TaskSpec | null): TaskSpec {
  return { ...spec, needs: edited?.needs ?? [], hears: [] };
}

function differenceOf(state: RunState, plan: Plan, gone: readonly TaskState[]): PlanDifference {
  const added = plan.tasks.filter(({ id }) => !state.tasks.has(id)).map(({ id }) => id);
  const removed = gone.filter((task) => !isGood(task) && !task.removed).map(({ spec }) => spec.id);
  const changed = plan.tasks.flatMap((spec): readonly ChangedTask[] => {
    const known = state.tasks.get(spec.id);
    if (known === undefined || isGood(known) || gone.includes(known)) return [];
    const keys = differing(known.spec, spec);
    if (keys.length === 0 && !known.removed) return [];
    return [{ task: spec.id, keys, fresh: keys.some((key) => TOLD.has(key)) }];
  });
  const sections = differing(state.plan, plan).filter((key) => key !== 'tasks');
  return { added, changed, removed, sections };
}

/** The agent and its instructions: a change makes the old conversation useless. */
const TOLD: ReadonlySet<string> = new Set(['prompt', 'rules', 'agent', 'role', 'model', 'mode']);

/** Edits that a run cannot continue with, because its work depends on the old value. */
function refusalOf(state: RunState, next: Plan): (Replanned & { kind: 'refused' }) | null {
  const { plan } = state;
  if (isEnding(state)) {
    const remedy = 'Resume it without the edited plan first: that completes publishing.';
    return { kind: 'refused', why: 'The run is being published.', remedy };
  }
  const remedy = 'Keep that as it was, or start a new run with the edited plan.';
  const refused = (why: string): Replanned & { kind: 'refused' } => {
    return { kind: 'refused', why, remedy };
  };
  const names = differing(plan.conventions, next.conventions);
  if (names.length > 0) return refused(`The plan is of another kind (${names.join(', ')}).`);
  const hasWork = [...state.tasks.values()].some(staysIn);
  if (hasWork && plan.workspace.dir !== next.workspace.dir) {
    return refused('Workspaces already exist: `workspace.dir` can no longer change.');
  }
  const hasLanded = [...state.tasks.values()].some(isGood);
  if (hasLanded && plan.landing.strategy !== next.landing.strategy) {
    return refused('Work has already landed: `land.strategy` can no longer change.');
  }
  const moved = next.tasks.find((spec) => isMoved(state.tasks.get(spec.id), spec));
  if (moved === undefined) return null;
  return refused(`Task ${moved.id} has been attempted: its branch and mode can no longer change.`);
}

function isMoved(known: TaskState | undefined, spec: TaskSpec): boolean {
  if (known === undefined || isGood(known) || !staysIn(known)) return false;
  const { branch, mode, work } = known.spec;
  return branch !== spec.branch || mode !== spec.mode || work !== spec.work;
}

/** The keys in which two objects differ. */
function differing(one: object, other: object): readonly string[] {
  const [a, b] = [one, other] as readonly Readonly<Record<string, unknown>>[];
  const keys = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return keys.filter((key) => textOf(a?.[key]) !== textOf(b?.[key]));
}

/** The same text for the same value, whatever the order of its keys. */
function textOf(value: unknown): string {
  return (
    JSON.stringify(value, (_, each: unknown) => {
      if (each === null || typeof each !== 'object' || Array.isArray(each)) return each;
      return Object.fromEntries(Object.entries(each).sort(([x], [y]) => (x < y ? -1 : 1)));
    }) ?? ''
  );
}
