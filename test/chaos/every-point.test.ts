/**
 * Kill at every step (`npm run test:chaos`): the engine is ended before and after every fact it
 * records, before, during and after every git command it gives, and after every file that it
 * renames, links or removes; then the same with its agents;
 * then the engine that resumes is ended the same way, and a third one has to finish. At last it is
 * not ended but halted for longer than its lease lasts, and goes on when another host has its run.
 * LANDFAST_CHAOS_EVERY=5 strikes at every fifth point only; LANDFAST_CHAOS_AT_ONCE=4 has four runs under
 * way at a time. An end that is different is told at once, with the folder in which its repository,
 * journal and the engines' output are kept.
 */

import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import { sweep } from './sweep.ts';

const every = Number(process.env.LANDFAST_CHAOS_EVERY ?? 1);
const atOnce = Number(process.env.LANDFAST_CHAOS_AT_ONCE ?? availableParallelism());

const PLAIN = { every, atOnce, everybody: false, resumed: false, halted: false };

test.each([
  ['the engine is killed', {}],
  ['the engine and all that it started is killed', { everybody: true }],
  ['the engine is killed, and then the one that resumed', { resumed: true }],
  ['the engine is halted, and goes on when another host has finished its run', { halted: true }],
])('wherever %s, the end is the same', async (what, more) => {
  const told = await sweep({ ...PLAIN, ...more }, console.log);
  console.log(`At ${told.points} points ${what}; ${told.missed} were not reached again.`);
  console.log(`${told.differences.length} differences.`);
  expect(told.differences).toEqual([]);
  expect(told.missed).toBeLessThan(told.points / 4);
});
