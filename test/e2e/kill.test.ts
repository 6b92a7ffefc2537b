/** A sample of `npm run test:chaos`: wherever the engine is killed, resuming comes to the same end. */

import { expect, test } from 'vitest';
import { sweep } from '../chaos/sweep.ts';

test('wherever the engine is killed, the run ends like an undisturbed one', async () => {
  const what = { everybody: true, resumed: false, halted: false };
  const told = await sweep({ every: 150, atOnce: 2, ...what }, () => {});
  expect(told.differences).toEqual([]);
  expect(told.points).toBeGreaterThan(1);
});
