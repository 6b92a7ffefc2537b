/** Gates are told apart by their names, in a plan as in a configuration. */

import { type ProblemLog, quote } from '../../problem.ts';
import { entryOf, type YamlNode } from '../../yaml-source.ts';
import { textOf } from './tree.ts';

/** Writes every name that is used twice to the log. */
export function checkGateNames(root: YamlNode, log: ProblemLog): void {
  const gates = entryOf(root, 'gates')?.value;
  const seen = new Set<string>();
  for (const gate of gates?.kind === 'list' ? gates.items : []) {
    const name = entryOf(gate, 'name')?.value;
    const text = textOf(name);
    if (name === undefined || text === undefined) continue;
    if (seen.has(text)) log.error(name.at, `two gates are called ${quote(text)}`, 'rename one');
    seen.add(text);
  }
}
