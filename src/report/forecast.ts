/**
 * How long a run will still take, from what its tasks have taken so far.
 *
 * The rest of the run is simulated many times: each open task takes as long as a finished one drawn
 * at random, on the run's workers. The median end is p50. Draws come from a fixed sequence, so the
 * same state gives the same forecast; it is refreshed on progress and every few seconds.
 */

import { stages } from '../model/graph.ts';
import type { Plan, TaskId } from '../model/plan.ts';
import { isGood, isOver, type RunState, type TaskState } from '../model/state.ts';
import { workMs } from './outcome.ts';

export interface Forecast {
  readonly p50: number;
  readonly p90: number;
}

/** How long a finished task worked, and took to land. */
interface Sample {
  readonly workMs: number;
  readonly landMs: number;
}

const MOST_ROUNDS = 60;
/** Limit on simulated tasks over all rounds. */
const MOST_STEPS = 20_000;
const REFRESH_MS = 5_000;

const known = new WeakMap<Plan, { readonly key: string; readonly forecast: Forecast | null }>();

/** Null before anything has finished, and once nothing is left. */
export function forecastOf(state: RunState, now: number): Forecast | null {
  const key = `${progressKey(state)} ${Math.floor(now / REFRESH_MS)}`;
  const last = known.get(state.plan);
  if (last?.key === key) return last.forecast;
  const forecast = makeForecast(state, now);
  known.set(state.plan, { key, forecast });
  return forecast;
}

/** Changes whenever an attempt or a task starts or ends. */
function progressKey({ tasks, plan }: RunState): string {
  const kinds: Record<string, number> = {};
  let attempts = 0;
  for (const { status, attempts: tried } of tasks.values()) {
    kinds[status.kind] = (kinds[status.kind] ?? 0) + 1;
    attempts += tried.length;
  }
  return JSON.stringify([kinds, attempts, plan.limits.workers]);
}

function makeForecast(state: RunState, now: number): Forecast | null {
  const samples = samplesOf(state);
  const open = inOrder(state).filter((task) => !isOver(task));
  if (samples.length === 0 || open.length === 0) return null;
  const draw = lots();
  const workers = Math.max(1, state.plan.limits.workers);
  const rounds = Math.max(5, Math.min(MOST_ROUNDS, Math.floor(MOST_STEPS / open.length)));
  const ends: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const sample = () => samples[Math.floor(draw() * samples.length)]!;
    ends.push(play(open, now, new Array(workers).fill(0), sample));
  }
  ends.sort((a, b) => a - b);
  const at = (share: number): number => ends[Math.min(rounds - 1, Math.floor(share * rounds))]!;
  return { p50: at(0.5), p90: at(0.9) };
}

/** Tasks that succeeded without an attempt are no samples. */
function samplesOf({ tasks, landed }: RunState): readonly Sample[] {
  const landedAt = new Map(landed.map(({ task, at }) => [task, at]));
  return [...tasks.values()].filter(isGood).flatMap((task) => {
    const finishedAt = task.attempts.at(-1)?.endedAt ?? null;
    if (finishedAt === null) return [];
    const landMs = Math.max(0, (landedAt.get(task.spec.id) ?? finishedAt) - finishedAt);
    return [{ workMs: workMs(task, finishedAt), landMs }];
  });
}

/** Running tasks first, then by stage. */
function inOrder({ plan, tasks }: RunState): readonly TaskState[] {
  const stageOf = stages(plan.tasks);
  const rank = (task: TaskState): number =>
    task.status.kind === 'running' ? 0 : (stageOf.get(task.spec.id) ?? 1);
  return [...tasks.values()].sort((a, b) => rank(a) - rank(b));
}

/** Simulates the rest of the run with drawn durations; `slots` are when workers are free. */
function play(open: readonly TaskState[], now: number, slots: number[], draw: () => Sample) {
  const doneAt = new Map<TaskId, number>();
  for (const { spec, status, attempts } of open) {
    const sample = draw();
    let end = 0;
    if (status.kind !== 'committed' && status.kind !== 'merging') {
      const spent = status.kind === 'running' ? now - (attempts.at(-1)?.startedAt ?? now) : 0;
      const slot = slots.indexOf(Math.min(...slots));
      const ready = Math.max(0, ...spec.needs.map((need) => doneAt.get(need) ?? 0));
      end = Math.max(ready, slots[slot]!) + left(sample.workMs, spent);
      slots[slot] = end;
    }
    doneAt.set(spec.id, end + sample.landMs);
  }
  return Math.max(...doneAt.values());
}

/** A task past its drawn duration is expected to take a while longer. */
function left(drawnMs: number, spentMs: number): number {
  return drawnMs > spentMs ? drawnMs - spentMs : spentMs * OVERTIME;
}

const OVERTIME = 0.25;

/** A fixed sequence of numbers from 0 to 1 (linear congruential generator). */
function lots(): () => number {
  let seed = 1;
  return () => {
    seed = (seed * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return seed / 4_294_967_296;
  };
}
