/**
 * What a dead engine left running: processes are found again by the mark in their environment.
 *
 *   R1. We and our ancestors are never listed, whatever marks we carry: a run may be started by an
 *       agent of another run.
 *   R2. Where a mark counts, so do the descendants of its bearer.
 */

import { sendSignal } from './spawn.ts';
import { isAlive, type ProcessEntry, processTable } from './table.ts';
import { until, withDescendants } from './tree.ts';

const STEPS = [
  ['SIGINT', 5_000],
  ['SIGTERM', 3_000],
  ['SIGKILL', 1_000],
  ['SIGKILL', 4_000], // Once more, for what was being forked the first time.
] as const;

/** Every live process that carries a mark starting with the prefix, and what it has started. */
export function marked(prefix: string): readonly ProcessEntry[] {
  const table = processTable();
  const ourselves = ancestorsOf(process.pid, table);
  return withDescendants(
    table.filter((entry) => !ourselves.has(entry.pid)),
    (entry) => entry.marks()?.some((mark) => mark.startsWith(prefix)) ?? false,
  );
}

/** Kills every such process at once, without waiting: somebody is in a hurry. */
export function killMarked(prefix: string): void {
  for (const { pid } of marked(prefix)) sendSignal(pid, 'SIGKILL');
}

/**
 * Ends every such process, politely at first, and returns those that could not be ended. Aborting
 * the signal means to insist at once.
 */
export async function endMarked(
  prefix: string,
  signal: AbortSignal,
): Promise<readonly ProcessEntry[]> {
  for (const [name, waitMs] of STEPS) {
    const found = marked(prefix);
    if (found.length === 0) return [];
    for (const { pid } of found) sendSignal(pid, name);
    for (const { pid } of found) sendSignal(pid, 'SIGCONT'); // One that was halted hears it now.
    // What a shell started in the background ignores SIGINT; there is no point in waiting for it.
    const awaited = name === 'SIGINT' ? withoutParent(found) : found;
    const hurried = () => signal.aborted && name !== 'SIGKILL';
    await until(() => hurried() || !awaited.some(isAlive), waitMs);
  }
  return marked(prefix);
}

/** Those whose parent is not among them: agents rather than their tools. */
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
