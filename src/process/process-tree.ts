/**
 * All processes that a child has started, or that a dead engine left behind, and how to end them.
 *
 * - A process belongs to the family if it descends from the child, is in its process group or
 *   session, carries its mark, or was seen to belong before: agents start tools in sessions of
 *   their own, and tools daemonise. Only processes that started no earlier than the child count, so
 *   a reused pid is never mistaken for a member.
 * - Ending escalates: SIGINT to the group, so that an agent can end its own tools; SIGTERM to every
 *   member; SIGKILL until none is left. What the system refuses to end (another user's, one stuck
 *   in the kernel) is given up after KILL_MS. SIGCONT follows each signal: a halted process reacts
 *   to nothing else.
 * - What a dead engine left is found by its marks, with all descendants. This process and its
 *   ancestors never count, whatever marks they carry: an agent may start a run of its own.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Haltable } from '../base/suspension.ts';
import { isAlive, type ProcessEntry, processList, youngProcesses } from './process-list.ts';
import { sendSignal } from './spawn.ts';

const POLL_MS = 20;
const TERM_MS = 3_000;
const KILL_MS = 5_000;
const LOOK_MS = 5;
const MOST_LOOKS = 10;
/** The parent of the kernel's own threads, which have no environment. */
const KERNEL_THREADS = 2;

/** The child right after it started, while its pid was surely its own. It leads its group. */
export type Root = Pick<ProcessEntry, 'pid' | 'start'>;

export class Family implements Haltable {
  readonly #root: Root;
  readonly #mark: string | null;
  readonly #known = new Map<number, ProcessEntry>();
  /** Signals to these are not permitted. */
  readonly #foreign = new Set<number>();
  #unsure = false;

  constructor(root: Root, mark: string | null) {
    this.#root = root;
    this.#mark = mark;
  }

  /** Every member that is alive now. */
  members(): readonly ProcessEntry[] {
    this.#unsure = false;
    const young = youngProcesses(this.#root.start, this.#root.pid);
    for (const entry of withDescendants(young, (candidate) => this.#isMember(candidate))) {
      this.#known.set(entry.pid, entry);
    }
    return this.living();
  }

  /** The members seen so far that are still alive: cheap, but misses new ones. */
  living(): readonly ProcessEntry[] {
    for (const entry of this.#known.values()) {
      if (this.#foreign.has(entry.pid) || !isAlive(entry)) this.#known.delete(entry.pid);
    }
    return [...this.#known.values()];
  }

  /** Halts every member; one that was just being forked is found by the next look. */
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

  goOn(): void {
    this.members();
    this.#signal('SIGCONT');
  }

  /** Ends the child and everything it started: asks first, then insists. */
  async end(graceMs: number): Promise<void> {
    this.members(); // Recorded now: orphans lose the parent by which they are found.
    if (isAlive(this.#root) && graceMs > 0) {
      sendSignal(-this.#root.pid, 'SIGINT');
      this.#signal('SIGCONT');
      await until(() => !isAlive(this.#root), graceMs);
    }
    await this.endLeftovers();
  }

  /** Ends all living members without SIGINT; returns at once if there are none. */
  async endLeftovers(): Promise<void> {
    for (let looks = 0; this.members().length === 0; looks += 1) {
      if (!this.#unsure || looks === MOST_LOOKS) return;
      await sleep(LOOK_MS); // A process is between two programs and may be a member.
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
function withDescendants(
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

async function until(condition: () => boolean, atMostMs: number): Promise<void> {
  const deadline = performance.now() + atMostMs;
  while (!condition() && performance.now() < deadline) await sleep(POLL_MS);
}

const STEPS = [
  ['SIGINT', 5_000],
  ['SIGTERM', 3_000],
  ['SIGKILL', 1_000],
  ['SIGKILL', 4_000], // Once more, for what was being forked the first time.
] as const;

/** Every live process with a mark that starts with the prefix, and its descendants. */
export function marked(prefix: string): readonly ProcessEntry[] {
  const table = processList();
  const excluded = ancestorsOf(process.pid, table);
  return withDescendants(
    table.filter((entry) => !excluded.has(entry.pid)),
    (entry) => entry.marks()?.some((mark) => mark.startsWith(prefix)) ?? false,
  );
}

/** Kills every such process at once, without waiting. */
export function killMarked(prefix: string): void {
  for (const { pid } of marked(prefix)) sendSignal(pid, 'SIGKILL');
}

/** Ends every such process and returns those that survive. An abort skips the waiting. */
export async function endMarked(
  prefix: string,
  signal: AbortSignal,
): Promise<readonly ProcessEntry[]> {
  for (const [name, waitMs] of STEPS) {
    const found = marked(prefix);
    if (found.length === 0) return [];
    for (const { pid } of found) sendSignal(pid, name);
    for (const { pid } of found) sendSignal(pid, 'SIGCONT');
    // Background processes of a shell ignore SIGINT, so only agents are waited for.
    const awaited = name === 'SIGINT' ? withoutParent(found) : found;
    const hurried = () => signal.aborted && name !== 'SIGKILL';
    await until(() => hurried() || !awaited.some(isAlive), waitMs);
  }
  return marked(prefix);
}

/** Agents rather than their tools. */
function withoutParent(entries: readonly ProcessEntry[]): readonly ProcessEntry[] {
  const pids = new Set(entries.map((entry) => entry.pid));
  return entries.filter((entry) => !pids.has(entry.parent));
}

function ancestorsOf(pid: number, table: readonly ProcessEntry[]): ReadonlySet<number> {
  const parents = new Map(table.map((entry) => [entry.pid, entry.parent]));
  const found = new Set<number>();
  for (let at: number | undefined = pid; at !== undefined && at !== 0; at = parents.get(at)) {
    found.add(at);
  }
  return found;
}
