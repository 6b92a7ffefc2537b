/** What the worlds of a test have covered: a simulator that never meets a crash proves nothing. */

import type { Event } from '../../src/model/event.ts';
import type { Universe } from './universe.ts';

export class Tally {
  worlds = 0;
  crashes = 0;
  /** Merges and publications whose fact a crash had swallowed. */
  foundDone = 0;
  jumps = 0;
  repeated = 0;
  lost = 0;
  /** Engines that lost their run while they lived, and what they would have done afterwards. */
  overtaken = 0;
  late = 0;
  /** Who passed others, who landed so, and gates that went on meanwhile. */
  passers = 0;
  passed = 0;
  lingering = 0;
  /** How many entries of each type there were; rework and suspensions count twice. */
  readonly entries = new Map<Event['type'] | 'rework' | 'suspended', number>();
  /** Every failure by kind, of attempts, landings and tasks. */
  readonly failures = new Map<string, number>();

  /** Adds a world that is over. */
  add(universe: Universe): void {
    this.worlds += 1;
    this.foundDone += universe.foundDone;
    this.jumps += universe.jumps;
    this.repeated += universe.repeated;
    this.lost += universe.lost;
    this.overtaken += universe.overtaken;
    this.late += universe.late;
    for (const { event } of universe.entries) {
      count(this.entries, event.type);
      if (event.type === 'attempt.started' && event.start.kind === 'rework') {
        count(this.entries, 'rework');
      }
      if (event.type === 'merge.started' && event.passes !== undefined) this.passers += 1;
      if (event.type === 'merge.withdrawn' && /has passed it/.test(event.why)) this.passed += 1;
      if (event.type === 'merge.withdrawn' && event.lingers === true) this.lingering += 1;
      if (event.type === 'run.paused' && event.suspended) count(this.entries, 'suspended');
      if ('failure' in event && event.failure !== null) count(this.failures, event.failure.kind);
    }
  }

  of(type: Event['type'] | 'rework' | 'suspended'): number {
    return this.entries.get(type) ?? 0;
  }

  toString(): string {
    const counts = [
      `${this.worlds} worlds`,
      `${this.crashes} crashes`,
      `${this.of('attempt.started')} attempts`,
      `${this.of('work.adopted')} adoptions`,
      `${this.of('work.mended')} mendings`,
      `${this.of('run.replanned')} edited plans`,
      `${this.of('rework')} reworks`,
      `${this.of('merge.landed')} landings`,
      `${this.of('work.delivered')} deliveries`,
      `${this.of('merge.rejected')} rejections`,
      `${this.of('merge.withdrawn')} withdrawals`,
      `${this.passers} passers, ${this.passed} passed, ${this.lingering} with gates that went on`,
      `${this.of('candidate.verified')} verdicts`,
      `${this.of('gate.broken')} broken gates`,
      `${this.of('publish.finished')} publications`,
      `${this.of('run.stopping')} stops`,
      `${this.of('run.held')} shortages`,
      `${this.foundDone} found done`,
      `${this.jumps} jumps of the clock`,
      `${this.repeated} told again`,
      `${this.lost} lost`,
      `${this.overtaken} overtaken`,
      `${this.late} too late`,
    ];
    const failures = [...this.failures].map(([kind, times]) => `${kind} ${times}`);
    return `${counts.join(', ')}; failures: ${failures.sort().join(', ')}`;
  }
}

function count<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
