/** What folders take, measured in small steps. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { freeBytes, Usage } from '../../src/workspace/disk.ts';

const root = mkdtempSync(join(tmpdir(), 'landfast-usage-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const never = new AbortController().signal;
const KB = 4_096;

function folder(name: string, files: number): string {
  const dir = join(root, name);
  mkdirSync(join(dir, 'deep'), { recursive: true });
  for (let nth = 0; nth < files; nth += 1) {
    writeFileSync(join(dir, 'deep', `${nth}`), Buffer.alloc(KB, 1));
  }
  return dir;
}

test('folders are measured a few entries at a time, and what is gone does not count', async () => {
  const there = [folder('one', 2), folder('two', 3)];
  const usage = new Usage(async () => there);
  let looks = 0;
  while (!(await usage.look(1, never))) looks += 1;
  expect(looks).toBeGreaterThan(1);
  expect(usage.bytes).toBe(5 * KB);
  there.pop();
  await usage.look(1, never);
  expect(usage.bytes).toBe(2 * KB);
});

test('added files are counted in time, and a missing folder takes no space', async () => {
  const dir = folder('grows', 1);
  const usage = new Usage(async () => [dir, join(root, 'not-there')]);
  expect(await usage.look(100, never)).toBe(true);
  expect(usage.bytes).toBe(KB);
  folder('grows', 4);
  await usage.look(100, never);
  expect(usage.bytes).toBe(4 * KB);
});

test('free space is that of the nearest folder that is there', async () => {
  expect(await freeBytes([join(root, 'not', 'there', 'yet')])).toBeGreaterThan(0);
});
