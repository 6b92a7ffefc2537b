/**
 * What is known of a gate besides its verdicts: which tree it ran on, whether it works at all, and
 * in which order gates run. The first red one decides, so cheap ones come first; a gate that was
 * never timed stays where the user has listed it.
 */

import type { GateSpec, LandingSpec, Plan } from './plan.ts';

/**
 * Which tree a gate ran on, if not the candidate's.
 *   base   what the candidate is built on, without any work of the queue
 *   alone  the work as it was finished, without what landed meanwhile
 */
export type GateTree = 'base' | 'alone';

/** A gate that was green on nothing in the run, and is not on the base either. */
export interface BrokenGate {
  readonly gate: string;
  /** On the base it is red, or it cannot even be run there: no such command. */
  readonly why: 'red' | 'not-run';
  readonly command: string;
  readonly exitCode: number | null;
  readonly output: string;
  /** A person is at the terminal: the run waits. Otherwise it ends. */
  readonly attended: boolean;
}

/** Whether a shell's exit code says that the command is missing or not executable. */
export function couldNotRun(exitCode: number | null | undefined): boolean {
  return exitCode === 126 || exitCode === 127;
}

/** A gate that is a function of the program that starts the run. */
export function inProcessGate(spec: Omit<GateSpec, 'run' | 'inProcess' | 'env'>): GateSpec {
  return { ...spec, run: `function ${spec.name}`, inProcess: true };
}

/** The name of a gate workspace's set-up where it fails. */
export const SETUP = 'setup';

/** Gates that have not been green yet, without those whose base may be red. */
export function unprovenGates(
  { gates }: Pick<Plan, 'gates'>,
  proven: ReadonlySet<string>,
): readonly string[] {
  const doubted = gates.filter(({ base, quarantine }) => base !== 'red' && quarantine !== true);
  return [...doubted.map(({ name }) => name), SETUP].filter((name) => !proven.has(name));
}

/** Gates in the order in which they run; `costOf` is null for an untimed one. */
export function inGateOrder<T extends { readonly gate: GateSpec }>(
  listed: readonly T[],
  { gateOrder }: Pick<LandingSpec, 'gateOrder'>,
  costOf: (gate: string) => number | null,
): readonly T[] {
  if (gateOrder === 'listed') return listed;
  const timed = listed
    .flatMap((one) => {
      const ms = costOf(one.gate.name);
      return ms === null ? [] : [{ one, ms }];
    })
    .sort((a, b) => a.ms - b.ms)
    .map(({ one }) => one);
  const places = new Set(timed);
  const next = timed.values();
  return listed.map((one) => (places.has(one) ? next.next().value! : one));
}
