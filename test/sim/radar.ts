/** What a radar might say of a run at any moment, true or not: no rule may depend on it. */

import type { RadarEvent } from '../../src/model/event.ts';
import type { RunState } from '../../src/model/state.ts';
import type { Random } from './random.ts';

/** A made-up sighting about two tasks of the run; null where there are none to see. */
export function sighting(random: Random, { tasks }: RunState): RadarEvent | null {
  const writers = [...tasks.values()].filter(({ spec }) => spec.mode === 'write');
  if (writers.length < 2) return null;
  const one = random.pick(writers);
  const other = random.pick(writers);
  const a = one.spec.id;
  const b = other.spec.id;
  const last = one.attempts.at(-1);
  const kind = random.pick(['conflict', 'conflict', 'head', 'cleared', 'semantic', 'strayed']);
  if (kind === 'strayed') {
    if (last === undefined) return null;
    const files = random.chance(0.3) ? [] : ['elsewhere.ts'];
    return { type: 'scope.strayed', task: a, attempt: last.attempt, files };
  }
  if (kind === 'head') return { type: 'radar.conflict', a, b: null, files: ['f.ts'] };
  if (a === b) return null;
  if (kind === 'cleared') return { type: 'radar.cleared', a, b };
  if (kind === 'conflict') return { type: 'radar.conflict', a, b, files: ['f.ts'] };
  const name = { name: 'f', file: 'f.ts', change: 'removed', usedBy: ['g.ts'] } as const;
  return { type: 'radar.semantic', a, b, names: random.chance(0.2) ? [] : [name] };
}
