/**
 * How things turn out. A whim hangs on the seed, the task and how many results of its kind the task
 * has had before, never on time or on how often the engine was restarted: an attempt that a crash
 * swallowed turns out the same way when it is made again.
 */

import type { Failure, FailureKind } from '../../src/model/failure.ts';
import type { LandingSpec, TaskId, TaskSpec } from '../../src/model/plan.ts';
import { Random } from './random.ts';

export type AttemptEnding =
  | { readonly kind: 'work' }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'failed'; readonly failure: (now: number) => Failure };

export type MergeEnding =
  | { readonly kind: 'landed' }
  | {
      readonly kind: 'rejected';
      readonly cause: FailureKind;
      readonly failure: (since: readonly TaskId[]) => Failure;
    };

/** Weights of the ways in which an attempt fails. */
const FAILURES: readonly (readonly [FailureKind | 'limit-guessed' | 'limit-unknown', number])[] = [
  ['transient', 6],
  ['exit-code', 2],
  ['idle-timeout', 5],
  ['workspace-failed', 3],
  ['checks-failed', 5],
  ['no-change', 4],
  ['out-of-scope', 4],
  ['rate-limited', 8],
  ['limit-guessed', 3],
  ['limit-unknown', 2],
  ['interrupted', 5],
  ['auth', 4],
  ['billing', 1],
  ['budget', 1],
  ['turns', 1],
  ['schema', 1],
  ['stuck', 2],
  ['session-lost', 2],
  ['permanent', 1],
  ['cancelled', 0.5],
  ['total-timeout', 1],
  ['commit-failed', 1],
];

/** How the nth counted end of a task's attempts turns out. */
export function attemptEnding(seed: number, spec: TaskSpec, nth: number): AttemptEnding {
  const random = new Random(seed, 'attempt', spec.id, nth);
  if (random.chance(0.35)) {
    const whim = random.weighted(FAILURES);
    // Who is refused when depends on time, and nothing in a calm world may.
    const isCalm = seed % 2 === 0;
    const kind = isCalm && (whim === 'auth' || whim === 'billing') ? 'permanent' : whim;
    const waitMs = random.between(-500, 8_000);
    return { kind: 'failed', failure: (now) => failureOf(kind, now + waitMs) };
  }
  if (spec.mode !== 'write') return { kind: 'nothing' };
  if (random.chance(0.9)) return { kind: 'work' };
  if (spec.allowEmpty) return { kind: 'nothing' };
  return { kind: 'failed', failure: () => failureOf('no-change', 0) };
}

/** How the nth judged landing of a task turns out, or its delivery where nothing is merged. */
export function mergeEnding(
  { seed, landing }: { readonly seed: number; readonly landing: LandingSpec },
  spec: TaskSpec,
  nth: number,
): MergeEnding {
  const random = new Random(seed, 'merge', spec.id, nth);
  if (random.chance(0.65)) return { kind: 'landed' };
  const merges = landing.strategy !== 'none';
  const kind = random.weighted([
    ['conflict', merges ? 5 : 0],
    ['gate-failed', 5],
    ['interrupted', 2],
    ['workspace-failed', 0.5],
    ['push-failed', !merges && landing.push !== undefined ? 5 : 0],
  ] as const);
  return { kind: 'rejected', cause: kind, failure: (since) => rejectionOf(kind, since) };
}

function failureOf(
  kind: FailureKind | 'limit-guessed' | 'limit-unknown',
  retryAt: number,
): Failure {
  const message = `It was ${kind}.`;
  switch (kind) {
    case 'rate-limited':
      return { kind, message, retryAt };
    case 'limit-guessed':
      return { kind: 'rate-limited', message, guessed: true };
    case 'limit-unknown':
      return { kind: 'rate-limited', message };
    case 'idle-timeout':
    case 'total-timeout':
      return { kind, message, afterMs: 60_000 };
    case 'out-of-scope':
      return { kind, message, files: ['elsewhere'] };
    case 'checks-failed':
      return { kind, message, check: 'npm test', output: 'red' };
    case 'gate-failed':
    case 'semantic':
    case 'conflict':
    case 'push-failed':
    case 'dependency-failed':
      throw new Error(`no attempt ends with ${kind}`);
    default:
      return { kind, message };
  }
}

function rejectionOf(
  kind: 'conflict' | 'gate-failed' | 'interrupted' | 'workspace-failed' | 'push-failed',
  landedSince: readonly TaskId[],
): Failure {
  const message = `It was ${kind}.`;
  if (kind === 'conflict') return { kind, message, files: ['same.txt'], landedSince };
  if (kind === 'gate-failed') return { kind, message, gate: 'tests', output: 'red', landedSince };
  if (kind === 'push-failed') return { kind, message, remote: 'origin', branch: 'b' };
  return { kind, message };
}
