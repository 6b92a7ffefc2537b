/** Which gates looked at which candidate, and how that ended, from the entries of a run. */

import type { Entry, Event } from '../model/event.ts';
import type { TaskId } from '../model/plan.ts';

/**
 * Which gates are meant. A candidate is meant by its task, or by the beginning of its commit or tree;
 * of several the newest.
 */
export interface GateWish {
  readonly task: TaskId | null;
  /** Null for all gates. */
  readonly gate: string | null;
  /** The beginning of a candidate's commit or tree. */
  readonly candidate: string | null;
}

/** A gate on a candidate's tree, and how it ended when it was last run there. */
export interface GateLook {
  readonly task: TaskId | null;
  readonly gate: string;
  readonly tree: string;
  readonly at: number;
  readonly isRunning: boolean;
  readonly ended: (Event & { type: 'gate.finished' }) | null;
}

/** The looks that are meant, as far as the journal has been read. */
export class GateLooks {
  readonly #wish: GateWish;
  readonly #found: GateLook[] = [];
  readonly #commits = new Map<string, string[]>();
  /** Whether there is a verdict on the candidate that was looked at last. */
  isOver = false;

  constructor(wish: GateWish) {
    this.#wish = wish;
  }

  /** The look that an entry is about, where one is meant. */
  add({ at, event }: Entry): GateLook | null {
    if (event.type === 'candidate.built') {
      this.#commits.set(event.tree, [...(this.#commits.get(event.tree) ?? []), event.commit]);
    }
    const last = this.#found.at(-1);
    if (last !== undefined && isVerdict(event, last.task)) this.isOver = true;
    if (event.type !== 'gate.started' && event.type !== 'gate.finished') return null;
    const { task, gate, tree } = event;
    if ('spared' in event || !this.#isMeant(event)) return null;
    const place = this.#found.findIndex((each) => each.gate === gate && each.tree === tree);
    const known = this.#found[place] ?? { task, gate, tree, at, isRunning: false, ended: null };
    const look =
      event.type === 'gate.finished'
        ? { ...known, isRunning: false, ended: event }
        : { ...known, isRunning: true, at };
    this.#found[place === -1 ? this.#found.length : place] = look;
    this.isOver = false;
    return look;
  }

  /** Those on the newest candidate. */
  newest(): readonly GateLook[] {
    const tree = this.#found.at(-1)?.tree;
    return this.#found.filter((look) => look.tree === tree);
  }

  #isMeant({ task, gate, tree, on }: Event & { type: 'gate.started' | 'gate.finished' }): boolean {
    const { candidate } = this.#wish;
    if (this.#wish.gate !== null && this.#wish.gate !== gate) return false;
    if (this.#wish.task !== null && this.#wish.task !== task) return false;
    if (candidate === null) return on === undefined; // Else it was no candidate that was tried.
    return [tree, ...(this.#commits.get(tree) ?? [])].some((sha) => sha.startsWith(candidate));
  }
}

const VERDICTS: ReadonlySet<Event['type']> = new Set([
  'candidate.verified',
  'candidate.dropped',
  'merge.landed',
  'merge.rejected',
  'merge.withdrawn',
  'work.delivered',
]);

function isVerdict(event: Event, task: TaskId | null): boolean {
  if (task === null) return event.type === 'publish.finished' || event.type === 'publish.blocked';
  return 'task' in event && event.task === task && VERDICTS.has(event.type);
}
