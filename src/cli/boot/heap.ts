/**
 * How much memory the process may take for what it no longer needs.
 *
 * V8 waits with cleaning up until there is a lot to clean: it takes up to 100 MB for young objects,
 * and room for as much garbage again as is in use. That suits a server. The state of a run is small
 * and its engine lives beside dozens of agents; and starting a process costs the more, the larger
 * the one is that starts it (docs/adr/0016-a-small-heap.md).
 *
 *   H1. Both are settings that V8 reads each time it cleans up, so that they can be changed while
 *       it runs. A V8 that does not know them ignores them.
 */

import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** The heap stops growing here; it may double once before we notice. */
const YOUNG_BYTES = 4 * 1024 * 1024;
/** By how much the old ones may grow until they are looked at. */
const GROWING_PERCENT = 50;

const USUAL = ['--heap-growing-percent=0', '--semi-space-growth-factor=2', '--flush-bytecode'];

const set: string[] = [];

/** Keeps the heap small from now on; if it is said, with all that was ever compiled. */
export function keepHeapSmall({ withCode }: { readonly withCode: boolean }): void {
  if (withCode) change('--no-flush-bytecode');
  change(`--heap-growing-percent=${GROWING_PERCENT}`);
  if (isGrown()) return;
  const watch = new PerformanceObserver(() => {
    if (isGrown()) watch.disconnect();
  });
  watch.observe({ entryTypes: ['gc'] });
}

/** Whether the room for young objects is as large as it is to be; then it stays so. */
function isGrown(): boolean {
  const isLarge = youngBytes() >= YOUNG_BYTES;
  if (isLarge) change('--semi-space-growth-factor=1');
  return isLarge;
}

/** Does something with V8's settings as they were when the process began. */
export function withUsualHeap(work: () => void): void {
  if (set.length > 0) for (const flag of USUAL) setFlagsFromString(flag);
  try {
    work();
  } finally {
    for (const flag of set) setFlagsFromString(flag);
  }
}

function change(flag: string): void {
  set.push(flag);
  setFlagsFromString(flag);
}

function youngBytes(): number {
  const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
  return space?.space_size ?? 0;
}
