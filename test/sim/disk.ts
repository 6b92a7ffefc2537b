/**
 * The disk and the memory of a world: in some they fill up and get free again, and runs take more of
 * the disk than they may, and less. Neither is full for long, so that an engine which waits for ever
 * has no excuse.
 */

import type { Machine } from '../../src/model/machine.ts';
import type { Clock } from './clock.ts';
import { Random } from './random.ts';

/** What is allowed of it in every world that has a limit (plans.ts). */
export const MOST_BYTES = 1_000;
export const LEAST_BYTES = 100;

const STATES = ['roomy', 'full', 'full', 'over budget', 'over budget', 'no memory'] as const;

export class Disk {
  state: (typeof STATES)[number] = 'roomy';
  readonly #random: Random;
  readonly #clock: Clock;
  #measured: { readonly state: string; readonly machine: Machine } | null = null;

  constructor(seed: number, clock: Clock) {
    this.#random = new Random(seed, 'disk');
    this.#clock = clock;
    if (!this.#random.chance(0.4)) return;
    if (this.#random.chance(0.3)) this.#change(3);
    else clock.after(this.#random.between(0, 6_000), () => this.#change(3));
  }

  /** The same until it is measured again. */
  get machine(): Machine {
    if (this.#measured?.state !== this.state) {
      this.#measured = { state: this.state, machine: machineIn(this.state) };
    }
    return this.#measured.machine;
  }

  /** So many times more, and roomy in the end. */
  #change(left: number): void {
    this.state = left === 0 ? 'roomy' : this.#random.pick(STATES);
    const ms = this.#random.pick([100, 1_000, 5_000, 600_000]);
    if (left > 0) this.#clock.after(ms, () => this.#change(left - 1));
  }
}

function machineIn(state: string): Machine {
  return {
    diskFreeBytes: state === 'full' ? LEAST_BYTES - 1 : LEAST_BYTES * 2,
    diskUsedBytes: state === 'over budget' ? MOST_BYTES + 1 : MOST_BYTES,
    memoryFreeBytes: state === 'no memory' ? 0 : null,
    loadPerCore: null,
  };
}
