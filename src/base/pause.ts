/**
 * Waits so long, or until the signal is aborted; never throws. The timer of Node makes an error
 * with a stack each time it is ended early, which a loop that is woken all the time feels.
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

/**
 * Pauses of one who pauses all the time: one that would end after the one before ends together with
 * it. So a loop that is woken early again and again needs a timer now and then, not each time.
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
