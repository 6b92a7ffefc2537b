/** When an engine has to stop: at once where its lease is another's, and not for a busy database. */

import { expect, test } from 'vitest';
import { LEASE_MS, LeaseLostError, Renewal } from './lease.ts';

/** An engine whose next renewals end so: with an error, or well. */
function engine(...ends: readonly (Error | null)[]) {
  let now = 1_000;
  const left = [...ends];
  const renew = (): void => {
    const end = left.shift() ?? null;
    if (end !== null) throw end;
  };
  const renewal = new Renewal(renew, () => now);
  return {
    tickAfter: (ms: number): unknown => {
      now += ms;
      return renewal.tick();
    },
  };
}

const busy = new Error('the database is locked');

test('a lease that another engine has got is lost at once', () => {
  const lost = new LeaseLostError('r1');
  expect(engine(lost).tickAfter(1)).toBe(lost);
});

test('a database that is busy loses nothing until others may consider its owner dead', () => {
  const { tickAfter } = engine(busy, busy, null, busy, busy);
  expect(tickAfter(LEASE_MS - 1)).toBe(null);
  expect(tickAfter(1)).toBe(null);
  expect(tickAfter(LEASE_MS)).toBe(null); // It was renewed, late and in time.
  expect(tickAfter(LEASE_MS)).toBe(null);
  expect(tickAfter(1)).toBe(busy);
});
