/** Temporary folders of attempts: which of them serve the next one. */

import { chmodSync, existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { closeScratch, giveScratch, takeScratch } from '../../src/process/scratch.ts';

const RUN = `scratch-${process.pid}`;

afterEach(() => closeScratch(RUN));

test('one that was left as it was made serves the next attempt, and is gone with the run', async () => {
  const [one, two] = [takeScratch(RUN), takeScratch(RUN)];
  expect(one).not.toBe(two);
  expect(statSync(one).mode & 0o777).toBe(0o700);
  await giveScratch(RUN, one);
  expect(takeScratch(RUN)).toBe(one);
  await giveScratch(RUN, one);
  await giveScratch(RUN, two);
  closeScratch(RUN);
  expect([existsSync(one), existsSync(two)]).toEqual([false, false]);
});

test.each([
  ['something is left in it', (path: string) => writeFileSync(join(path, 'x'), '')],
  ['it has another mode', (path: string) => chmodSync(path, 0o755)],
  ['somebody has removed it', (path: string) => rmSync(path, { recursive: true })],
])('none where %s', async (_, spoil) => {
  const [before, waiting] = [takeScratch(RUN), takeScratch(RUN)];
  spoil(before);
  await giveScratch(RUN, before);
  expect(existsSync(before)).toBe(false);
  await giveScratch(RUN, waiting);
  spoil(waiting);
  const next = takeScratch(RUN);
  expect(next).not.toBe(before);
  expect(next).not.toBe(waiting);
  expect(existsSync(waiting)).toBe(false);
  rmSync(next, { recursive: true });
});
