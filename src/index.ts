/**
 * Landfast as a library. Everything that other programs may import is named here; the types are
 * written in app/api.ts.
 */

import { homedir } from 'node:os';
import type {
  CheckedPlan,
  OpenOptions,
  Repository,
  SimulatedRun,
  SimulateOptions,
} from './app/api.ts';
import { hostFor, openHosted, simulatePlan } from './app/library.ts';

export type {
  CustomAgent,
  CustomContext,
  CustomEvent,
  CustomFailure,
  CustomJob,
  CustomResult,
} from './agents/function-agent.ts';
export type * from './app/api.ts';
export { ProblemsError as PlanError } from './app/problems.ts';
export { OperationalError, UserError } from './base/errors.ts';
export type { Entry, Event, ReviewComment } from './model/event.ts';
export type { NativePlan } from './plan/formats/native/native-plan.ts';
export { definePlan } from './plan/formats/native/native-plan.ts';
export type { Problem } from './plan/problem.ts';
export type { GateAnswer, GateCandidate, GateFunction } from './workspace/run-context.ts';

/** Opens the git repository of a folder. */
export function openRepository(dir: string, options: OpenOptions = {}): Promise<Repository> {
  const { env, platform } = process;
  const host = hostFor(options, { env, platform, home: homedir(), cwd: process.cwd() });
  return openHosted(dir, host, options.signal ?? new AbortController().signal);
}

/** Tells when a plan would be done with so many workers, if tasks take what `durations` says. */
export function simulate(plan: CheckedPlan, options: SimulateOptions): SimulatedRun {
  return simulatePlan(plan, options);
}
