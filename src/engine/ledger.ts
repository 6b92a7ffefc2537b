/** From facts to entries: the one door through which the engine writes its journal. */

import type { Event } from '../model/event.ts';
import { apply } from '../model/fold.ts';
import type { RunState } from '../model/state.ts';
import type { Log, World } from './world.ts';

/**
 * What is known, and what of it is not recorded yet. Facts count from the moment they are added, so
 * that one turn can decide on all of them; they reach the journal together, in one transaction.
 */
export class Ledger {
  state: RunState;
  readonly #log: Log;
  readonly #world: World;
  #added: Event[] = [];
  #at = 0;
  #afterwards: (() => void)[] = [];

  constructor(state: RunState, log: Log, world: World) {
    this.state = state;
    this.#log = log;
    this.#world = world;
  }

  /** State, entries and effects see a fact only without secrets. */
  add(fact: Event): void {
    const event = this.#log.masked(fact);
    if (this.#added.length === 0) this.#at = this.#world.now();
    this.#added.push(event);
    this.state = apply(this.state, { seq: this.state.seq + 1, at: this.#at, event });
  }

  /** Calls back when everything added so far is recorded. */
  whenRecorded(afterwards: () => void): void {
    this.#afterwards.push(afterwards);
  }

  /** Makes everything durable, and answers with what it was. */
  record(): readonly Event[] {
    const [added, afterwards] = [this.#added, this.#afterwards];
    this.#added = [];
    this.#afterwards = [];
    if (added.length > 0) this.#world.recorded(this.#log.append(added, this.#at));
    for (const call of afterwards) call();
    return added;
  }
}
