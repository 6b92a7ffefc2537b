/**
 * The retry policy once more, written from DESIGN section 7 and not from `schedule/`: what the
 * engine does is judged by this.
 */

import type { Failure } from '../../src/model/failure.ts';
import type { LandingSpec, Plan, TaskId, TaskSpec } from '../../src/model/plan.ts';
import { AGENTS } from './plans.ts';
import { attemptEnding, mergeEnding } from './whims.ts';

/** What a task has used up since it last began with all of its retries. */
export interface Used {
  /** Which of its assignees it has come to; what is counted is counted for that one. */
  choice: number;
  counted: number;
  waits: number;
  reworks: number;
}

/** What has to follow a stop. */
export type Fate =
  | {
      readonly kind: 'attempt';
      readonly dueAt: number;
      /** By then it must have begun, where there is room. */
      readonly latest: number;
      readonly rework: boolean;
      /** Somebody else goes on, without a session. */
      readonly handed: boolean;
    }
  | { readonly kind: 'queue' }
  | { readonly kind: 'give-up' };

const COUNTED = [
  'transient',
  'exit-code',
  'idle-timeout',
  'workspace-failed',
  'checks-failed',
  'stuck',
  'session-lost',
];
const COUNTED_FOR_PROSE = ['no-change', 'out-of-scope'];
const LIMIT_PAUSES = [60_000, 300_000, 900_000, 1_800_000];
const GIVE_UP = { kind: 'give-up' } as const;

/** Books a failed attempt and says what has to follow it. */
export function afterAttempt(spec: TaskSpec, failure: Failure, at: number, used: Used): Fate {
  const again = (ms: number, most = ms): Fate => {
    return { kind: 'attempt', dueAt: at + ms, latest: at + most, rework: false, handed: false };
  };
  const passOn = (): Fate | null => {
    if (used.choice >= (spec.fallbacks?.length ?? 0)) return null;
    Object.assign(used, { choice: used.choice + 1, counted: 0, waits: 0 });
    return { kind: 'attempt', dueAt: at, latest: at, rework: false, handed: true };
  };
  if (failure.kind === 'interrupted') return again(0);
  if (failure.kind === 'auth' || failure.kind === 'billing') return passOn() ?? again(0);
  if (failure.kind === 'permanent') return passOn() ?? GIVE_UP;
  if (failure.kind === 'rate-limited') used.waits += 1;
  if (isCounted(spec, failure)) {
    used.counted += 1;
    const { pauseMs, factor = 1 } = spec.retry ?? { pauseMs: 1_000, factor: 2 };
    const pause = Math.min(pauseMs * factor ** (used.counted - 1), Math.max(pauseMs, 300_000));
    if (used.counted > spec.retries) return passOn() ?? GIVE_UP;
    return again(pause, pause * 1.25);
  }
  if (failure.kind !== 'rate-limited') return GIVE_UP;
  return used.waits > 20 ? (passOn() ?? GIVE_UP) : again(0);
}

/** An agent's limit, as its failures tell it. */
export interface Wall {
  until: number;
  /** Whether the agent said when it resets. */
  readonly known: boolean;
  readonly hits: number;
  /** Tasks that run against it. */
  readonly probes: Set<TaskId>;
}

/** The limit after an attempt ran into it; `probe` is one that began after it was known. */
export function wallAfter(
  before: Wall | null,
  failure: Failure & { kind: 'rate-limited' },
  at: number,
  probe: boolean,
): Wall {
  const { retryAt } = failure;
  if (before !== null && !probe) {
    if (retryAt === undefined) return before;
    const until = before.known ? Math.max(before.until, retryAt) : retryAt;
    return { ...before, known: true, until };
  }
  const hits = (before?.hits ?? 0) + 1;
  const pause = LIMIT_PAUSES[Math.min(hits, LIMIT_PAUSES.length) - 1]!;
  const probes = before?.probes ?? new Set<TaskId>();
  return { until: retryAt ?? at + pause, known: retryAt !== undefined, hits, probes };
}

function isCounted(spec: TaskSpec, failure: Failure): boolean {
  if (failure.kind === 'rate-limited') return failure.guessed === true;
  if (failure.kind === 'total-timeout') return spec.retry?.afterTimeout === true;
  if (COUNTED.includes(failure.kind)) return true;
  return AGENTS[spec.agent]!.prose && COUNTED_FOR_PROSE.includes(failure.kind);
}

/** Says what has to follow work that did not land. */
export function afterRejection(
  landing: LandingSpec,
  failure: Failure,
  at: number,
  page: { readonly spec: TaskSpec; readonly used: Used; readonly mended?: boolean },
): Fate {
  const { spec, used, mended = false } = page;
  if (failure.kind === 'interrupted') return { kind: 'queue' };
  const toAgent =
    (failure.kind === 'conflict' && landing.onConflict === 'agent') ||
    (failure.kind === 'gate-failed' && landing.onGateFailure === 'agent') ||
    (failure.kind === 'semantic' && landing.onSemantic === 'agent');
  if (!toAgent || used.reworks >= landing.reworks) return GIVE_UP;
  if ((spec.work !== undefined || mended) && !AGENTS[spec.agent]!.prose) return GIVE_UP;
  return { kind: 'attempt', dueAt: at, latest: at, rework: true, handed: false };
}

/**
 * Which tasks must end well, where nothing but their whims decides: no money, no commands, no
 * second chances. However often such a world crashes, it ends with these.
 */
export function expectedGood(seed: number, plan: Plan): ReadonlySet<TaskId> {
  const specs = new Map(plan.tasks.map((spec) => [spec.id, spec]));
  const known = new Map<TaskId, boolean>();
  const isGood = (id: TaskId): boolean => {
    const spec = specs.get(id)!;
    const good = known.get(id) ?? (spec.needs.every(isGood) && endsWell(seed, spec, plan.landing));
    known.set(id, good);
    return good;
  };
  return new Set(plan.tasks.map(({ id }) => id).filter(isGood));
}

function endsWell(seed: number, spec: TaskSpec, landing: LandingSpec): boolean {
  const used: Used = { choice: 0, counted: 0, waits: 0, reworks: 0 };
  let merges = 0;
  let isThere = spec.work !== undefined;
  for (let nth = isThere ? -1 : 0; ; nth += 1) {
    const ending = isThere ? ({ kind: 'work' } as const) : attemptEnding(seed, spec, nth);
    isThere = false;
    if (ending.kind === 'nothing') return true;
    if (ending.kind === 'failed') {
      if (afterAttempt(spec, ending.failure(0), 0, used).kind === 'give-up') return false;
      continue;
    }
    for (let fate: Fate = { kind: 'queue' }; fate.kind !== 'attempt'; ) {
      const verdict = mergeEnding({ seed, landing }, spec, merges);
      merges += 1;
      if (verdict.kind === 'landed') return true;
      fate = afterRejection(landing, verdict.failure([]), 0, { spec, used });
      if (fate.kind === 'give-up') return false;
    }
    used.reworks += 1;
  }
}
