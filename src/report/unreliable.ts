/** Gates whose word is worth little: named in summary and report, so that somebody mends them. */

import type { GateRun, RunState } from '../model/state.ts';
import { brief } from './clean.ts';
import { nameList } from './format.ts';

/** One sentence for each gate that was red and green on the same files, or red in quarantine. */
export function unreliableGates(state: RunState): readonly string[] {
  const runs = [...state.tasks.values()]
    .flatMap((task) => task.gates)
    .filter(({ spared }) => spared === undefined);
  const names = [...new Set(runs.map(({ gate }) => gate))];
  return names.flatMap((name) => {
    const own = runs.filter(({ gate }) => gate === name);
    const gate = `Gate ${brief(name, 60)}`;
    const trees = flakyTrees(own).map((tree) => tree.slice(0, 7));
    const red = own.filter(({ quarantined }) => quarantined === true).length;
    return [
      ...(trees.length > 0 ? [`${gate} is flaky: red and green on ${nameList(trees)}.`] : []),
      ...(red > 0
        ? [`${gate} is in quarantine: it was red ${times(red)}, which did not count.`]
        : []),
    ];
  });
}

function flakyTrees(runs: readonly GateRun[]): readonly string[] {
  const green = new Set(runs.filter(({ ok }) => ok).map(({ tree }) => tree));
  return [
    ...new Set(runs.filter(({ ok, tree }) => !ok && green.has(tree)).map(({ tree }) => tree)),
  ];
}

function times(n: number): string {
  return n === 1 ? 'once' : `${n} times`;
}
