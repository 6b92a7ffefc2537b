/**
 * Shells that wait for their next program: as many as were ever needed at the same time.
 *
 *   P1. An idle one is used again; one that has ended meanwhile is not.
 *   P2. Once closed, those at work go when they are given back, and the folder with the last.
 */

import { rmSync } from 'node:fs';
import { join } from 'node:path';

interface Member {
  readonly isOver: boolean;
  close(): Promise<void>;
}

/** Tries something that may not succeed at once. */
type Trying = <T>(work: () => T | Promise<T>) => Promise<T>;

export class Pool<T extends Member> {
  readonly #dir: string;
  readonly #make: (path: string) => Promise<T>;
  readonly #idle: T[] = [];
  #made = 0;
  #busy = 0;
  #isClosed = false;

  /** `make` gets a path in `dir` that is nobody else's; `dir` goes when they do. */
  constructor(dir: string, make: (path: string) => Promise<T>) {
    this.#dir = dir;
    this.#make = make;
  }

  /** An idle one, or else a new one. */
  async take(trying: Trying = async (work) => work()): Promise<T> {
    this.#busy += 1;
    try {
      return await trying(() => this.#takeIdle() ?? this.#start());
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
    await Promise.all(this.#idle.splice(0).map((member) => member.close()));
    if (this.#busy === 0) rmSync(this.#dir, { recursive: true, force: true });
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
