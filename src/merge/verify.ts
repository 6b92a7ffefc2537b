/**
 * verify: run the gates on exactly a candidate's tree.
 *
 *   V1. A gate sees the candidate's files and nothing of an earlier one's: the workspace is moved
 *       to the commit and cleaned first, of ignored files too; only what set-up made may stay.
 *   V2. The first red gate decides; those after it are not run.
 *   V3. Interrupted is not red.
 *   V4. A gate that was green on the same input (verdict-key.ts), in this run or another, is not
 *       run again. A verdict is not remembered if the user changed a copied file meanwhile.
 */

import { timed } from '../base/timing.ts';
import { filesBetween } from '../git/diff.ts';
import type { Event } from '../model/event.ts';
import type { GateSpec, Sha, TaskId } from '../model/plan.ts';
import { inScope } from '../model/scope.ts';
import { bring } from '../workspace/bring.ts';
import { check } from '../workspace/check.ts';
import { type Ground, gateDir } from '../workspace/ground.ts';
import { copiedFiles } from './copied-files.ts';
import { moveTo, takeSlot } from './gate-workspace.ts';
import { type GateInputs, gateInputs, verdictKey } from './verdict-key.ts';

export type Verdict =
  | { readonly kind: 'green'; readonly ms?: number }
  | { readonly kind: 'red'; readonly gate: string; readonly output: string }
  | { readonly kind: 'stopped' };

export interface ToVerify {
  readonly task: TaskId | null;
  readonly commit: Sha;
  readonly tree: Sha;
  /** What the gates' paths are compared with; absent means that every gate is due. */
  readonly since?: Sha;
}

/** Runs the gates that are due on a candidate, one after the other, in a workspace of its own. */
export async function verify(
  ground: Ground,
  candidate: ToVerify,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<Verdict> {
  if (ground.plan.landing.verify === 'off') return { kind: 'green' };
  const due = await dueGates(ground, candidate, report, signal);
  if (due.length === 0) return { kind: 'green' };
  using slot = takeSlot(ground);
  const place = { ...candidate, dir: gateDir(ground, slot.number), mark: slot.mark };
  for (const one of due) {
    const verdict = await runRepeatedly(ground, { ...place, ...one }, report, signal);
    if (verdict.kind !== 'green') return verdict;
  }
  return { kind: 'green' };
}

/** Whether no gate has to be run on a candidate; why not is told only then. */
export async function isSpared(
  ground: Ground,
  candidate: ToVerify,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<boolean> {
  const spared: Event[] = [];
  const due = await dueGates(ground, candidate, (fact) => spared.push(fact), signal);
  if (due.length > 0) return false;
  for (const fact of spared) report(fact);
  return true;
}

interface Due {
  readonly gate: GateSpec;
  readonly inputs: GateInputs;
  readonly key: string;
}

/** The gates whose verdict is neither known nor spared by their paths, the cheapest first. */
async function dueGates(
  ground: Ground,
  { task, tree, commit, since }: ToVerify,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<readonly Due[]> {
  const { verdicts, plan, repository } = ground;
  const scoped = plan.gates.some(({ paths }) => paths !== undefined);
  const changed =
    scoped && since !== undefined
      ? await filesBetween(repository.commonDir, since, commit, signal)
      : null;
  const due: Due[] = [];
  let inputs: GateInputs | null = null;
  for (const gate of plan.gates) {
    const spare = (spared: 'memory' | 'paths', by?: string): void => {
      const told = { spared, ...(by === undefined ? {} : { by }) };
      const fact = { type: 'gate.finished', task, gate: gate.name, tree, ok: true } as const;
      report({ ...fact, ms: 0, output: '', ...told });
    };
    const { paths } = gate;
    if (changed !== null && paths !== undefined && !changed.some((f) => inScope(f, paths))) {
      spare('paths');
      continue;
    }
    inputs ??= await gateInputs(ground, { tree, commit }, signal);
    const key = verdictKey(inputs, gate);
    const by = verdicts.recall(key);
    if (by !== null) spare('memory', by);
    else due.push({ gate, inputs, key });
  }
  const cost = ({ gate }: Due): number => verdicts.cost(gate.name) ?? 0;
  return due.map((one) => ({ ...one, ms: cost(one) })).sort((a, b) => a.ms - b.ms);
}

/** A red gate is run again as often as it says; in quarantine red does not count. */
async function runRepeatedly(
  ground: Ground,
  todo: Placed & Due,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<Verdict> {
  const { gate, inputs, key, tree } = todo;
  let verdict: Verdict = { kind: 'stopped' };
  for (let nth = 0; nth <= (gate.retries ?? 0); nth += 1) {
    const broken = await prepare(ground, todo, report, signal);
    verdict = broken ?? (await runGate(ground, todo, report, signal));
    if (verdict.kind !== 'red') break;
  }
  if (verdict.kind === 'green' && (await copiedFiles(ground, signal)) === inputs.copied) {
    const green = { key, gate: gate.name, tree, ms: verdict.ms ?? 0, run: ground.run };
    ground.assertHeld(); // Another engine may have brought other files to where the gate ran.
    ground.verdicts.learn(green, Date.now());
  }
  return verdict.kind === 'red' && gate.quarantine === true ? { kind: 'green', ms: 0 } : verdict;
}

type Placed = ToVerify & { readonly dir: string; readonly mark: string };

/**
 * The candidate's files and their set-up, for each gate anew: none sees what another one did. A
 * verdict only where that did not work.
 */
async function prepare(
  ground: Ground,
  { task, tree, commit, dir, mark }: Placed,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<Verdict | null> {
  await moveTo(ground, dir, commit, signal);
  const place = { dir, of: task, unkeyed: commit, goesOn: false, mark, suspension: null };
  const brought = await bring(ground, place, signal);
  if (brought.kind === 'stopped') return brought;
  if (brought.kind === 'ready') return null;
  const output = `${brought.message}\n${brought.output}`;
  report({ type: 'gate.finished', task, gate: SETUP, tree, ok: false, ms: 0, output });
  return { kind: 'red', gate: SETUP, output };
}

/** How the set-up of a gate workspace is called where it fails. */
const SETUP = 'setup';

async function runGate(
  ground: Ground,
  { gate, task, tree, dir, mark }: Placed & { readonly gate: GateSpec },
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<Verdict> {
  const { run: command, timeoutMs, name, quarantine } = gate;
  const env = { ...ground.env, ...gate.env };
  const span = { kind: 'gate', of: task, name };
  report({ type: 'gate.started', task, gate: name, tree });
  const result = await timed(span, () =>
    check({ dir, command, env, timeoutMs, mark, suspension: null }, signal),
  );
  if (result.kind === 'stopped') return result;
  const ok = result.kind === 'passed';
  const output = ok ? '' : result.output;
  const { ms } = result;
  const told = !ok && quarantine === true ? ({ quarantined: true } as const) : {};
  report({ type: 'gate.finished', task, gate: name, tree, ok, ms, output, ...told });
  return ok ? { kind: 'green', ms } : { kind: 'red', gate: name, output };
}
