/** Gates whose word is worth little: named in summary and report, so that somebody mends them. */

import type { Sha } from '../model/plan.ts';
import type { GateRun, RunState } from '../model/state.ts';
import { brief } from './clean.ts';
import { nameList, shortSha } from './format.ts';

export interface Unreliable {
  readonly gate: string;
  /** Trees on which it was red and green. */
  readonly flaky: readonly Sha[];
  /** How often it was red in quarantine, which did not count. */
  readonly quarantined: number;
}

/** Each gate that was red and green on the same files, or red in quarantine. */
export function unreliableGates(state: RunState): readonly Unreliable[] {
  const runs = [...state.tasks.values()]
    .flatMap((task) => task.gates)
    .filter(({ spared }) => spared === undefined);
  const names = [...new Set(runs.map(({ gate }) => gate))];
  return names
    .map((gate) => {
      const own = runs.filter((run) => run.gate === gate);
      const quarantined = own.filter((run) => run.quarantined === true).length;
      return { gate, flaky: flakyTrees(own), quarantined };
    })
    .filter(({ flaky, quarantined }) => flaky.length > 0 || quarantined > 0);
}

/** One sentence for each of them and each of its faults. */
export function unreliableText(state: RunState): readonly string[] {
  return unreliableGates(state).flatMap(({ gate, flaky, quarantined }) => {
    const name = `Gate ${brief(gate, 60)}`;
    const trees = nameList(flaky.map(shortSha));
    const red = `it was red ${times(quarantined)}, which did not count`;
    return [
      ...(flaky.length > 0 ? [`${name} is flaky: red and green on ${trees}.`] : []),
      ...(quarantined > 0 ? [`${name} is in quarantine: ${red}.`] : []),
    ];
  });
}

function flakyTrees(runs: readonly GateRun[]): readonly Sha[] {
  const green = new Set(runs.filter(({ ok }) => ok).map(({ tree }) => tree));
  return [
    ...new Set(runs.filter(({ ok, tree }) => !ok && green.has(tree)).map(({ tree }) => tree)),
  ];
}

function times(n: number): string {
  return n === 1 ? 'once' : `${n} times`;
}
