/** Finding and ending what a dead engine left, and the tables that make it possible. */

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { expect, test, vi } from 'vitest';
import { capture } from '../../src/process/capture.ts';
import { MARK_VARIABLE, tableOfProc, tableOfPs } from '../../src/process/process-list.ts';
import { endMarked, marked } from '../../src/process/process-tree.ts';

const { signal } = new AbortController();

/** A child is becoming `sleep` for a moment, in which its environment cannot be read. */
const BECOMING = { timeout: 60_000 };

/** A shell with a child, in a group of its own, as a dead engine would leave it. */
async function abandoned(mark: string, text: string): Promise<number> {
  const child = spawn('sh', ['-c', text], {
    detached: true,
    env: { PATH: process.env.PATH, [MARK_VARIABLE]: mark },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(child.stdout, 'data');
  return child.pid ?? 0;
}

test('processes are found and ended by the beginning of their mark, others are not', async () => {
  const run = `test-${randomUUID()}`;
  const first = await abandoned(`${run}/a.1`, 'sleep 300 & echo up; wait');
  const second = await abandoned(`outer;${run}/b.1`, 'sleep 300 & echo up; wait');
  const other = await abandoned(`other-${run}`, 'sleep 300 & echo up; wait');

  await vi.waitFor(() => expect(marked(`${run}/`)).toHaveLength(4), BECOMING);
  const pids = marked(`${run}/`).map((entry) => entry.pid);
  expect(pids).toEqual(expect.arrayContaining([first, second]));
  expect(marked(`${run}/a`)).toHaveLength(2);

  expect(await endMarked(`${run}/`, signal)).toEqual([]);
  expect(marked(`${run}/`)).toEqual([]);
  expect(marked('other-').map((entry) => entry.pid)).toContain(other);
  expect(await endMarked(`other-${run}`, signal)).toEqual([]);
});

test('an aborted signal means to insist at once', async () => {
  const mark = `test-${randomUUID()}`;
  await abandoned(mark, 'trap "" INT TERM; echo up; while :; do sleep 0.1; done');
  const startedAt = performance.now();
  expect(await endMarked(mark, AbortSignal.abort())).toEqual([]);
  expect(performance.now() - startedAt).toBeLessThan(8_000); // SIGINT and SIGTERM would get that.
});

test('we do not find ourselves, whatever mark we carry, but our children', async () => {
  const mark = `test-${randomUUID()}`;
  const reap = new URL('../../src/process/process-tree.ts', import.meta.url).href;
  const program = `
    const { marked } = await import(${JSON.stringify(reap)});
    const child = (await import('node:child_process')).spawn('sleep', ['300']);
    let found = [];
    while (found.length === 0) found = marked('${mark}').map((entry) => entry.pid);
    console.log(JSON.stringify([child.pid, found]));
    child.kill();`;
  const { stdout } = await capture(
    {
      file: process.execPath,
      args: ['--input-type=module', '-e', program],
      cwd: '/',
      env: { PATH: process.env.PATH, [MARK_VARIABLE]: mark },
      stdin: '',
    },
    signal,
  );
  const [child, found] = JSON.parse(stdout);
  expect(found).toEqual([child]);
});

test.runIf(process.platform === 'linux')('ps tells the same as /proc', async () => {
  const mark = `test-${randomUUID()}`;
  const pid = await abandoned(mark, 'sleep 300 & echo up; wait');
  const facts = (table: ReturnType<typeof tableOfPs>) =>
    table
      .filter((entry) => entry.marks()?.includes(mark))
      .map(({ pid, parent, group }) => ({ pid, parent, group }))
      .sort((a, b) => a.pid - b.pid);
  await vi.waitFor(() => expect(facts(tableOfProc())).toHaveLength(2), BECOMING);
  const expected = facts(tableOfProc());
  expect(expected).toContainEqual({ pid, parent: process.pid, group: pid });
  expect(facts(tableOfPs())).toEqual(expected);
  await endMarked(mark, signal);
});
