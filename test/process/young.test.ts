/** Young processes are found among the pids that were given since, as in a look at all of them. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { processList, startOf, youngProcesses } from '../../src/process/process-list.ts';

test('all that started since are found, whether few pids were given or many', async () => {
  const first = spawn('sleep', ['60']);
  const others = [1, 2, 3].map(() => spawn('sh', ['-c', 'sleep 60 & echo up; wait']));
  try {
    await once(first, 'spawn');
    await Promise.all(others.map(({ stdout }) => once(stdout, 'data'))); // It has its child by then.
    const since = startOf(first.pid!)!;
    const wanted = [first, ...others].map(({ pid }) => pid!);
    const few = youngProcesses(since, first.pid!).map(({ pid }) => pid);
    expect(few).toEqual(expect.arrayContaining(wanted));
    const sleeps = processList().filter(({ parent }) => wanted.includes(parent));
    expect(few).toEqual(expect.arrayContaining(sleeps.map(({ pid }) => pid)));
    const many = youngProcesses(since, 1).map(({ pid }) => pid); // As if all pids were younger.
    expect(many).toEqual(expect.arrayContaining(wanted));
  } finally {
    const below = processList().filter(({ parent }) => others.some(({ pid }) => pid === parent));
    for (const { pid } of below) process.kill(pid, 'SIGKILL');
    for (const child of [first, ...others]) child.kill('SIGKILL');
  }
});
