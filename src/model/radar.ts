/**
 * What the radar foresees while agents work: work that will not merge, and names that one task
 * changes while another begins to use them. Facts report it; RunState holds it until a task ends.
 */

import type { Event } from './event.ts';
import type { TaskId } from './plan.ts';

/** Two tasks' work, or a task's and what is about to land (`b` is null), that do not merge. */
export interface Collision {
  readonly a: TaskId;
  readonly b: TaskId | null;
  readonly files: readonly string[];
}

/** Names that `a` removes or changes and `b` has begun to use. One of the two may have landed. */
export interface Clash {
  readonly a: TaskId;
  readonly b: TaskId;
  readonly names: readonly ClashingName[];
}

export interface ClashingName {
  /** `f`, or `Class.method`. */
  readonly name: string;
  /** Where it is declared. */
  readonly file: string;
  readonly change: 'removed' | 'renamed' | 'signature';
  /** Its new name. */
  readonly to?: string;
  readonly usedBy: readonly string[];
}

export interface Radar {
  readonly collisions: readonly Collision[];
  readonly clashes: readonly Clash[];
}

/** A clash that was foreseen once. What became of it follows from the tasks. */
export interface Finding extends Clash {
  /** Whether it still exists, as far as known; it is checked again before a merge. */
  readonly holds: boolean;
}

export const CLEAR: Radar = { collisions: [], clashes: [] };

/** What is foreseen for one task: its collisions, and names of others that it trips over. */
export interface Foreseen {
  readonly collisions: readonly {
    readonly with: TaskId | null;
    readonly files: readonly string[];
  }[];
  /** Names that it uses and others change, or have changed if they landed. */
  readonly clashes: readonly Foe[];
  /** Names that it changes and that landed work uses. */
  readonly missed?: readonly Foe[];
  /** Files that it has changed outside its scope. */
  readonly strayed: readonly string[];
}

export interface Foe {
  readonly with: TaskId;
  readonly names: readonly ClashingName[];
  readonly landed?: true;
}

type Pair = Pick<Collision, 'a' | 'b'>;
type RadarFact = Event & { type: `radar.${string}` };

/** The radar's picture after one more fact. */
export function radarAfter(radar: Radar, fact: RadarFact): Radar {
  const isOther = ({ a, b }: Pair): boolean => a !== fact.a || b !== fact.b;
  if (fact.type === 'radar.semantic') {
    const { a, b, names } = fact;
    const clashes = radar.clashes.filter(isOther);
    return { ...radar, clashes: names.length === 0 ? clashes : [...clashes, { a, b, names }] };
  }
  const collisions = radar.collisions.filter(isOther);
  if (fact.type === 'radar.cleared') return { ...radar, collisions };
  const { a, b, files } = fact;
  return { ...radar, collisions: [...collisions, { a, b, files }] };
}

/** All that was foreseen about names, after one more fact. */
export function findingsAfter(
  findings: readonly Finding[],
  { a, b, names }: Event & { type: 'radar.semantic' },
): readonly Finding[] {
  const at = findings.findIndex((each) => each.a === a && each.b === b);
  const before = findings[at];
  if (names.length > 0) {
    const now = { a, b, names, holds: true };
    return before === undefined ? [...findings, now] : findings.with(at, now);
  }
  return before === undefined ? findings : findings.with(at, { ...before, holds: false });
}

/** Work that begins on a head with the other's work: there is nothing left to foresee. */
export function findingsOnHead(
  findings: readonly Finding[],
  task: TaskId,
  hasLanded: (task: TaskId) => boolean,
): readonly Finding[] {
  const isSeen = ({ a, b }: Finding): boolean =>
    (a === task && hasLanded(b)) || (b === task && hasLanded(a));
  if (!findings.some(isSeen)) return findings;
  return findings.map((each) => (isSeen(each) ? { ...each, holds: false } : each));
}

/** `rename removes foo of lib.ts, which use uses in app.ts`: one sentence for each name. */
export function clashSentences({ a, b, names }: Clash): readonly string[] {
  return names.map(({ name, file, change, to, usedBy }) => {
    const what = `${name} of ${file}`;
    const done = {
      removed: `removes ${what}`,
      renamed: `renames ${what} to ${to}`,
      signature: `changes the parameters of ${what}`,
    }[change];
    return `${a} ${done}, which ${b} uses in ${usedBy.join(', ')}.`;
  });
}

/**
 * The picture without a task that is over. Names that it has landed with stay for those whose work
 * goes on: it lacks what landed, or lands on it.
 */
export function radarWithout(
  radar: Radar,
  task: TaskId,
  staysFor: (other: TaskId) => boolean,
): Radar {
  const concerns = ({ a, b }: Pair): boolean => a === task || b === task;
  const isOver = (clash: Clash): boolean =>
    concerns(clash) && !staysFor(clash.a === task ? clash.b : clash.a);
  if (!radar.collisions.some(concerns) && !radar.clashes.some(isOver)) return radar;
  return {
    collisions: radar.collisions.filter((each) => !concerns(each)),
    clashes: radar.clashes.filter((each) => !isOver(each)),
  };
}

/** What the radar knows about a task; null where that is nothing. */
export function foreseenFor(
  { collisions, clashes }: Radar,
  { task, strayed }: { readonly task: TaskId; readonly strayed: readonly string[] },
  hasLanded: (task: TaskId) => boolean,
): Foreseen | null {
  const met = collisions
    .filter(({ a, b }) => a === task || b === task)
    .map(({ a, b, files }) => ({ with: a === task ? b : a, files }));
  const foe = (other: TaskId, names: readonly ClashingName[]): Foe => {
    return { with: other, names, ...(hasLanded(other) ? { landed: true } : {}) };
  };
  const stumbles = clashes.filter(({ b }) => b === task).map(({ a, names }) => foe(a, names));
  const missed = clashes
    .filter(({ a, b }) => a === task && hasLanded(b))
    .map(({ b, names }) => foe(b, names));
  if (met.length + stumbles.length + missed.length + strayed.length === 0) return null;
  const more = missed.length === 0 ? {} : { missed };
  return { collisions: met, clashes: stumbles, ...more, strayed };
}
