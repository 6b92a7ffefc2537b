/**
 * Whether a candidate is green, and if not, what causes it. Before a combination is blamed, the
 * work is verified alone; a message names one of the two only if both were verified. A gate that
 * was never green in the run is run on the base before work is blamed: red there as well, the gate
 * is broken, not the work.
 */

import { explained, OperationalError } from '../base/errors.ts';
import type { VerifyEffect } from '../model/effect.ts';
import type { Event } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import { couldNotRun } from '../model/gate.ts';
import type { Sha, TaskId } from '../model/plan.ts';
import type { RunContext } from '../workspace/run-context.ts';
import { runGateOn, runGates, type Verdict } from './gates.ts';

/** Performs a verify effect: says whether the candidate is green, unless it was stopped. */
export async function verifyWork(
  context: RunContext,
  effect: VerifyEffect,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<void> {
  const { task, commit } = effect;
  const answer = await judge(context, effect, report, signal).catch((error: unknown) => {
    if (signal.aborted) return 'stopped';
    if (!(error instanceof OperationalError)) throw error;
    const message = `It could not be verified. ${explained(error)}`;
    return { kind: 'commit-failed', message } as const;
  });
  if (answer === 'stopped') return;
  if (answer !== null && 'type' in answer) return report(answer);
  report({ type: 'candidate.verified', task, commit, failure: answer });
}

/** Why a candidate is red, or that its gate is broken; null where it is green. */
async function judge(
  context: RunContext,
  effect: VerifyEffect,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<Failure | Broken | null | 'stopped'> {
  const { alone, task, since: base, unproven } = effect;
  if (alone !== undefined) {
    const verdict = await runGateOn(context, { task, ...alone, on: 'alone' }, report, signal);
    if (verdict.kind === 'stopped') return 'stopped';
    if (verdict.kind === 'red') return redGate(effect, verdict, 'red');
  }
  const verdict = await runGates(context, effect, report, signal);
  if (verdict.kind === 'stopped') return 'stopped';
  if (verdict.kind === 'green') return null;
  const broken = await brokenGate(context, { task, base, unproven, verdict }, report, signal);
  return broken ?? redGate(effect, verdict, alone?.gate === verdict.gate ? 'green' : null);
}

type Red = Verdict & { kind: 'red' };
type Broken = Event & { type: 'gate.broken' };

/** Runs a red gate that was never green on the base; null where the gate works. */
export async function brokenGate(
  context: RunContext,
  of: {
    readonly task: TaskId;
    readonly base: Sha;
    readonly unproven: readonly string[];
    readonly verdict: Red;
  },
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<Broken | 'stopped' | null> {
  const { task, base: commit, unproven, verdict } = of;
  const { gate } = verdict;
  if (!unproven.includes(gate)) return null;
  const onBase = await runGateOn(context, { task, commit, gate, on: 'base' }, report, signal);
  if (onBase.kind === 'stopped') return 'stopped';
  if (onBase.kind === 'green') return null;
  const { kind: _, ...said } = onBase;
  const why = couldNotRun(said.exitCode) ? 'not-run' : 'red';
  return { type: 'gate.broken', task, ...said, gate, why, attended: context.attended === true };
}

/** The failure of work with a red gate; `alone` is its verdict on the work by itself. */
export function redGate(
  { landedSince }: Pick<VerifyEffect, 'landedSince'>,
  { gate, command, exitCode, output }: Red,
  alone: 'red' | 'green' | null = null,
): Failure {
  const said = { gate, command, exitCode, output };
  const others = landedSince.join(', ');
  if (alone === 'red' || landedSince.length === 0) {
    const message = `Gate ${gate} is red on this work${alone === null ? '' : ' by itself'}.`;
    return { kind: 'gate-failed', message, ...said, landedSince: [] };
  }
  const how = alone === 'green' ? 'green on this work by itself, but red' : 'red on this work';
  const message = `Gate ${gate} is ${how} combined with what landed meanwhile (${others}).`;
  return { kind: 'gate-failed', message, ...said, landedSince };
}
