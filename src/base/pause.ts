/**
 * Waits `ms`, or until the signal is aborted; never throws. Node's own timer makes an error with a
 * stack for each early end, which is expensive in a loop that is woken all the time.
 */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const over = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', over);
      resolve();
    };
    const timer = setTimeout(over, ms);
    signal.addEventListener('abort', over, { once: true });
  });
}

/** Null, `ms` after `stop` is aborted, or once `over` is. */
export async function graceAfter(stop: AbortSignal, ms: number, over: AbortSignal): Promise<null> {
  const never = 2 ** 31 - 1;
  while (!stop.aborted && !over.aborted) await pause(never, AbortSignal.any([stop, over]));
  await pause(ms, over);
  return null;
}

/**
 * Pauses of a loop: a pause that would end after the previous one ends together with it. A loop
 * that is woken early again and again so needs a timer now and then, not each time.
 */
export function pauses(): typeof pause {
  let endsAt = Number.NEGATIVE_INFINITY;
  let current = Promise.resolve();
  return (ms, signal) => {
    const now = performance.now();
    if (now >= endsAt || endsAt > now + ms || signal.aborted) {
      endsAt = now + ms;
      const mine = pause(ms, signal).then(() => {
        if (current === mine) endsAt = Number.NEGATIVE_INFINITY;
      });
      current = mine;
    }
    return current;
  };
}
