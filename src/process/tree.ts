/**
 * All that one child has started, and how to end it for sure.
 *
 *   F1. A process belongs to the family if it descends from the child, is in its process group or
 *       session, carries its mark, or was seen to belong before. Agents start tools in sessions
 *       of their own and tools daemonise, so that no single sign is enough.
 *   F2. Only processes that started no earlier than the child are looked at (table.ts, T1),
 *       so a pid that is used again is never mistaken for one of ours.
 *   F3. Ending is an escalation: SIGINT to the group, so that an agent can end its own tools;
 *       SIGTERM to everybody; SIGKILL until none is left. What the system refuses to end (another
 *       user's, one stuck in the kernel) is given up after KILL_MS.
 *   F4. Whoever is asked to end is also told to go on: a halted process hears nothing else.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Haltable } from '../base/suspension.ts';
import { sendSignal } from './spawn.ts';
import { isAlive, type ProcessEntry, youngProcesses } from './table.ts';

const POLL_MS = 20;
const TERM_MS = 3_000;
const KILL_MS = 5_000;
const LOOK_MS = 5;
const MOST_LOOKS = 10;
/** The parent of the kernel's own threads, which have no environment. */
const KERNEL_THREADS = 2;

/** The child right after it started, while its pid was surely its own. It leads its group. */
export type Root = Pick<ProcessEntry, 'pid' | 'start'>;

/** The processes of one child. */
export class Family implements Haltable {
  readonly #root: Root;
  readonly #mark: string | null;
  readonly #known = new Map<number, ProcessEntry>();
  /** Processes that refuse our signals. */
  readonly #foreign = new Set<number>();
  #unsure = false;

  constructor(root: Root, mark: string | null) {
    this.#root = root;
    this.#mark = mark;
  }

  /** Looks again: every member that is alive now. */
  members(): readonly ProcessEntry[] {
    this.#unsure = false;
    const young = youngProcesses(this.#root.start, this.#root.pid);
    for (const entry of withDescendants(young, (candidate) => this.#isMember(candidate))) {
      this.#known.set(entry.pid, entry);
    }
    return this.living();
  }

  /** The members seen so far that are still alive; cheap, but blind to new ones. */
  living(): readonly ProcessEntry[] {
    for (const entry of this.#known.values()) {
      if (this.#foreign.has(entry.pid) || !isAlive(entry)) this.#known.delete(entry.pid);
    }
    return [...this.#known.values()];
  }

  /** Halts everybody where they are. One that was just being forked is found by the next look. */
  halt(): void {
    const halted = new Set<number>();
    for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
      const others = this.members().filter(({ pid }) => !halted.has(pid));
      if (others.length === 0) return;
      for (const { pid } of others) {
        sendSignal(pid, 'SIGSTOP');
        halted.add(pid);
      }
    }
  }

  /** Lets everybody go on. */
  goOn(): void {
    this.members();
    this.#signal('SIGCONT');
  }

  /** Ends the child and everything it started: asks first, then insists. */
  async end(graceMs: number): Promise<void> {
    this.members(); // Remembered now: orphans lose the parent by which they are found.
    if (isAlive(this.#root) && graceMs > 0) {
      sendSignal(-this.#root.pid, 'SIGINT');
      this.#signal('SIGCONT');
      await until(() => !isAlive(this.#root), graceMs);
    }
    await this.endLeftovers();
  }

  /** Ends whatever is alive, without the polite first step; returns at once if nothing is. */
  async endLeftovers(): Promise<void> {
    for (let looks = 0; this.members().length === 0; looks += 1) {
      if (!this.#unsure || looks === MOST_LOOKS) return;
      await sleep(LOOK_MS); // Somebody is just becoming another program; it may be ours.
    }
    this.#signal('SIGTERM');
    this.#signal('SIGCONT');
    await until(() => this.living().length === 0, TERM_MS);
    const deadline = performance.now() + KILL_MS;
    while (this.members().length > 0 && performance.now() < deadline) {
      this.#signal('SIGKILL');
      await until(() => this.living().length === 0, 5 * POLL_MS);
    }
  }

  #isMember(entry: ProcessEntry): boolean {
    const { pid, start } = this.#root;
    if (entry.pid === pid) return entry.start === start;
    if (entry.group === pid || entry.session === pid) return true;
    if (this.#known.get(entry.pid)?.start === entry.start) return true;
    if (this.#mark === null || entry.parent === KERNEL_THREADS) return false;
    const marks = entry.marks();
    if (marks === null) this.#unsure = true;
    return marks?.includes(this.#mark) ?? false;
  }

  #signal(signal: NodeJS.Signals): void {
    for (const { pid } of this.#known.values()) {
      if (!sendSignal(pid, signal)) this.#foreign.add(pid);
    }
  }
}

/** The entries that satisfy `isSeed`, and all that descend from them. */
export function withDescendants(
  table: readonly ProcessEntry[],
  isSeed: (entry: ProcessEntry) => boolean,
): readonly ProcessEntry[] {
  const children = Map.groupBy(table, (entry) => entry.parent);
  const found = new Set(table.filter(isSeed));
  for (const entry of found) {
    for (const child of children.get(entry.pid) ?? []) found.add(child); // Visited in its turn.
  }
  return [...found];
}

/** Waits until the condition holds, but not longer than told. */
export async function until(condition: () => boolean, atMostMs: number): Promise<void> {
  const deadline = performance.now() + atMostMs;
  while (!condition() && performance.now() < deadline) await sleep(POLL_MS);
}
