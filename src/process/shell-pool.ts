/**
 * Shells that wait for their next program: as many as were ever needed at the same time.
 *
 *   P1. An idle one is used again; one that has ended meanwhile is not.
 *   P2. One that is expected to be needed is made meanwhile; whoever needs one first gets it.
 *   P3. Once closed, those at work go when they are given back, and the folder with the last.
 */

import { join } from 'node:path';
import { discard } from './scratch.ts';

interface Member {
  readonly isOver: boolean;
  close(): Promise<void>;
}

/** Tries something that may not succeed at once. */
type Trying = <T>(work: () => T | Promise<T>) => Promise<T>;

export class ShellPool<T extends Member> {
  readonly #dir: string;
  readonly #make: (path: string) => Promise<T>;
  readonly #idle: T[] = [];
  /** Those that are being made ahead of their need; null for one that could not be. */
  readonly #coming: Promise<T | null>[] = [];
  /** How many are about to be taken. */
  #expected = 0;
  #made = 0;
  #busy = 0;
  #isClosed = false;

  /** `make` gets a path in `dir` that is nobody else's; `dir` goes when they do. */
  constructor(dir: string, make: (path: string) => Promise<T>) {
    this.#dir = dir;
    this.#make = make;
  }

  /** Says that one will be taken soon; the answer is called when that is now, or not at all. */
  expect(): () => void {
    this.#expected += 1;
    const isMissing = this.#expected > this.#idle.length + this.#coming.length;
    if (isMissing && !this.#isClosed) this.#coming.push(this.#start().catch(() => null));
    return () => {
      this.#expected -= 1;
    };
  }

  /** An idle one, or else a new one. */
  async take(trying: Trying = async (work) => work()): Promise<T> {
    this.#busy += 1;
    try {
      const ready = this.#takeIdle() ?? (await this.#coming.shift()) ?? null;
      if (ready?.isOver === false) return ready;
      return await trying(() => this.#start());
    } catch (error) {
      await this.#less();
      throw error;
    }
  }

  /** Gives one back; `isGood`: it can be used again. */
  async give(member: T, isGood: boolean): Promise<void> {
    if (isGood && !member.isOver) this.#idle.push(member);
    else await member.close();
    await this.#less();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const coming = await Promise.all(this.#coming.splice(0));
    const all = [...this.#idle.splice(0), ...coming];
    await Promise.all(all.map((member) => member?.close()));
    if (this.#busy === 0) await discard(this.#dir);
  }

  async #less(): Promise<void> {
    this.#busy -= 1;
    if (this.#isClosed) await this.close();
  }

  /** One that is still there: somebody may have ended it. */
  #takeIdle(): T | null {
    let member = this.#idle.pop();
    while (member?.isOver) member = this.#idle.pop();
    return member ?? null;
  }

  #start(): Promise<T> {
    this.#made += 1;
    return this.#make(join(this.#dir, String(this.#made)));
  }
}
