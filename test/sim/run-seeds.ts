/** `node run-seeds.ts FIRST COUNT`: simulates one world after the other until one breaks a rule. */

import { simulate } from './simulate.ts';
import { Tally } from './tally.ts';

const [first = 1, count = 1] = process.argv.slice(2).map(Number);
const tally = new Tally();
for (let seed = first; seed < first + count; seed += 1) await simulate(seed, tally);
console.log(`${tally}`);
