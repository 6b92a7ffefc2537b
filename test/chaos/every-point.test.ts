/**
 * Kill at every step (`npm run test:chaos`): the engine is ended before and after every fact it
 * records, and before, during and after every git command it gives; then the same with its agents;
 * then the engine that resumes is ended the same way, and a third one has to finish.
 * LANDFAST_CHAOS_EVERY=5 strikes at every fifth point only; LANDFAST_CHAOS_AT_ONCE=4 has four runs under
 * way at a time. An end that is different is told at once, with the folder in which its repository,
 * journal and the engines' output are kept.
 */

import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import { sweep } from './sweep.ts';

const every = Number(process.env.LANDFAST_CHAOS_EVERY ?? 1);
const atOnce = Number(process.env.LANDFAST_CHAOS_AT_ONCE ?? availableParallelism());

test.each([
  ['the engine', { everybody: false, resumed: false }],
  ['the engine and all that it started', { everybody: true, resumed: false }],
  ['the engine, and then the one that resumed', { everybody: false, resumed: true }],
])('wherever %s is killed, the end is the same', async (who, what) => {
  const told = await sweep({ every, atOnce, ...what }, console.log);
  console.log(`Killed ${who} at ${told.points} points; ${told.missed} were not reached again.`);
  console.log(`${told.differences.length} differences.`);
  expect(told.differences).toEqual([]);
  expect(told.missed).toBeLessThan(told.points / 4);
});
