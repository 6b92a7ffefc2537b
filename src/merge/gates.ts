/**
 * Runs the gates on exactly a candidate's tree. The first red gate decides; interrupted is not red.
 * A gate that was green on the same input (verdict-key.ts), in this run or another, is not run
 * again. A verdict is not remembered if the user changed a copied file meanwhile.
 */

import { assert } from '../base/assert.ts';
import { timed } from '../base/timing.ts';
import { filesBetween } from '../git/diff.ts';
import { treeOf } from '../git/refs.ts';
import type { Event } from '../model/event.ts';
import { type GateTree, inGateOrder, SETUP } from '../model/gate.ts';
import type { GateSpec, Sha, TaskId } from '../model/plan.ts';
import { inScope } from '../model/scope.ts';
import { check, checkFunction } from '../workspace/check.ts';
import { gateDir } from '../workspace/folders.ts';
import { prepareWorkspace } from '../workspace/prepare.ts';
import type { GateSlot, RunContext } from '../workspace/run-context.ts';
import { moveTo } from './gate-workspace.ts';
import { copiedFiles, type GateInputs, gateInputs, verdictKey } from './verdict-key.ts';

export type Verdict =
  | { readonly kind: 'green'; readonly ms?: number }
  | ({ readonly kind: 'red'; readonly gate: string } & Failed)
  | { readonly kind: 'stopped' };

interface Failed {
  readonly command: string;
  readonly exitCode: number | null;
  readonly output: string;
}

interface ToVerify {
  readonly task: TaskId | null;
  readonly commit: Sha;
  readonly tree: Sha;
  /** The commit that changed paths are compared with; absent means that every gate is due. */
  readonly since?: Sha;
}

/** Runs the gates that are due on a candidate, one after the other, in a workspace of its own. */
export async function runGates(
  context: RunContext,
  candidate: ToVerify,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<Verdict> {
  if (context.plan.landing.verify === 'off') return { kind: 'green' };
  const due = await dueGates(context, candidate, report, signal);
  if (due.length === 0) return { kind: 'green' };
  using slot = context.session.gateSlots.take();
  const place = { ...candidate, slot };
  for (const one of due) {
    const verdict = await runRepeatedly(context, { ...place, ...one }, report, signal);
    if (verdict.kind !== 'green') return verdict;
  }
  return { kind: 'green' };
}

/** One gate on a commit other than a candidate: its base, or the work alone. */
interface OneGate {
  readonly task: TaskId;
  readonly commit: Sha;
  readonly gate: string;
  readonly on: GateTree;
}

/** Runs one gate on such a commit, or recalls that it was green there. */
export async function runGateOn(
  context: RunContext,
  { task, commit, gate: name, on }: OneGate,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<Verdict> {
  const tree = await treeOf(context.repository.commonDir, commit, signal);
  using slot = context.session.gateSlots.take();
  const place = { task, commit, tree, on, slot };
  const gate = context.plan.gates.find((each) => each.name === name);
  if (gate === undefined) {
    return (await prepare(context, place, report, signal)) ?? { kind: 'green' }; // Set-up alone.
  }
  const inputs = await gateInputs(context, { tree, commit }, signal);
  const key = verdictKey(inputs, gate);
  const by = context.verdicts.recall(key);
  if (by === null) {
    // Awaited here: the slot is freed on return.
    return await runRepeatedly(context, { ...place, gate, inputs, key }, report, signal);
  }
  const known = { ok: true, ms: 0, output: '', spared: 'memory', by, on } as const;
  report({ type: 'gate.finished', task, gate: name, tree, ...known });
  return { kind: 'green' };
}

/** Whether no gate has to run on a candidate; only then are the spared ones reported. */
export async function isSpared(
  context: RunContext,
  candidate: ToVerify,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<boolean> {
  const spared: Event[] = [];
  const due = await dueGates(context, candidate, (fact) => spared.push(fact), signal);
  if (due.length > 0) return false;
  for (const fact of spared) report(fact);
  return true;
}

interface Due {
  readonly gate: GateSpec;
  readonly inputs: GateInputs;
  readonly key: string;
}

/** The gates that have to run, in order: no known verdict, and paths that changed. */
async function dueGates(
  context: RunContext,
  { task, tree, commit, since }: ToVerify,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<readonly Due[]> {
  const { verdicts, plan, repository } = context;
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
    inputs ??= await gateInputs(context, { tree, commit }, signal);
    const key = verdictKey(inputs, gate);
    const by = verdicts.recall(key);
    if (by !== null) spare('memory', by);
    else due.push({ gate, inputs, key });
  }
  const costOf = (gate: string): number | null =>
    verdicts.cost(gate) ?? context.session.redGateMs.get(gate) ?? null;
  return inGateOrder(due, plan.landing, costOf);
}

/** Repeats a red gate as often as its plan says; in quarantine red does not count. */
async function runRepeatedly(
  context: RunContext,
  todo: Placed & Due,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<Verdict> {
  const { gate, inputs, key, tree } = todo;
  let verdict: Verdict = { kind: 'stopped' };
  for (let nth = 0; nth <= (gate.retries ?? 0); nth += 1) {
    const broken = await prepare(context, todo, report, signal);
    verdict = broken ?? (await runGate(context, todo, report, signal));
    if (verdict.kind !== 'red') break;
  }
  if (verdict.kind === 'green' && (await copiedFiles(context, signal)) === inputs.copied) {
    const green = { key, gate: gate.name, tree, ms: verdict.ms ?? 0, run: context.run };
    context.assertHeld(); // Another engine may have changed the files under the gate.
    context.verdicts.learn(green, Date.now());
  }
  return verdict.kind === 'red' && gate.quarantine === true ? { kind: 'green', ms: 0 } : verdict;
}

type Placed = ToVerify & {
  readonly slot: GateSlot;
  /** Set where the commit is no candidate. */
  readonly on?: GateTree;
};

function treeTold({ on }: Pick<Placed, 'on'>): { readonly on?: GateTree } {
  return on === undefined ? {} : { on };
}

/** Checks out the commit and sets it up again for every gate. Null on success. */
async function prepare(
  context: RunContext,
  { task, tree, commit, slot, ...other }: Placed,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<Verdict | null> {
  const { mark, number } = slot;
  const dir = gateDir(context, number);
  await moveTo(context, dir, commit, signal);
  const place = { dir, of: task, unkeyed: commit, goesOn: false, mark, suspension: null };
  const brought = await logged(context, { tree, gate: SETUP }, (onLine) =>
    prepareWorkspace(context, { ...place, onLine }, signal),
  );
  if (brought.kind === 'stopped') return brought;
  if (brought.kind === 'ready') return null;
  const { command, exitCode } = brought;
  const failed = { command, exitCode, output: `${brought.message}\n${brought.output}` };
  const finished = { type: 'gate.finished', task, gate: SETUP, tree, ...treeTold(other) } as const;
  report({ ...finished, ok: false, ms: 0, ...failed });
  return { kind: 'red', gate: SETUP, ...failed };
}

/** Runs work with a gate log, which is complete before the end is reported. */
async function logged<T>(
  { gateLogs }: RunContext,
  of: { readonly tree: Sha; readonly gate: string },
  work: (onLine: (line: string) => void) => Promise<T>,
): Promise<T> {
  const log = gateLogs?.open(of);
  try {
    return await work((line) => log?.write(line));
  } finally {
    await log?.close();
  }
}

async function runGate(
  context: RunContext,
  { gate, task, tree, commit, slot, ...other }: Placed & { readonly gate: GateSpec },
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<Verdict> {
  const { run: command, timeoutMs, name, quarantine } = gate;
  const span = { kind: 'gate', of: task, name };
  const of = { task, gate: name, tree, ...treeTold(other) };
  report({ type: 'gate.started', ...of });
  const dir = gateDir(context, slot.number);
  const asFunction = functionOf(context, gate);
  const result = await logged(context, { tree, gate: name }, (onLine) =>
    timed(span, () => {
      if (asFunction !== null) {
        const abandoned = (end: Promise<unknown>): void => slot.abandon(end);
        const what = { name, gate: asFunction, dir, tree, commit, timeoutMs, onLine, abandoned };
        return checkFunction(what, signal);
      }
      const env = { ...context.env, ...gate.env };
      const what = { dir, command, env, timeoutMs, mark: slot.mark, suspension: null, onLine };
      return check(what, signal);
    }),
  );
  if (result.kind === 'stopped') return result;
  const { ms } = result;
  const finished = { type: 'gate.finished', ...of, ms } as const;
  if (result.kind === 'passed') {
    report({ ...finished, ok: true, output: '' });
    return { kind: 'green', ms };
  }
  context.session.redGateMs.set(name, ms);
  const { exitCode, output } = result;
  const failed = { command, exitCode, output };
  const told = quarantine === true ? ({ quarantined: true } as const) : {};
  report({ ...finished, ok: false, ...failed, ...told });
  return { kind: 'red', gate: name, ...failed };
}

function functionOf({ gateFunctions }: RunContext, { name, inProcess }: GateSpec) {
  if (inProcess !== true) return null;
  const found = gateFunctions?.get(name);
  assert(found !== undefined, `gate ${name} has its function`); // runContext() has checked it.
  return found;
}
