/** The folders that processes work in are known, wherever they are moved. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { foldersInUse } from '../../src/process/process-list.ts';
import { tempDir } from '../support/temp-dir.ts';

test.runIf(existsSync('/proc/self/cwd'))('a folder is in use until its process ends', async () => {
  await using temp = await tempDir();
  const [before, after] = [join(temp.path, 'before'), join(temp.path, 'after')];
  mkdirSync(before);
  const found = (): readonly string[] =>
    foldersInUse().filter((path) => path.startsWith(temp.path));
  expect(found()).toEqual([]);
  const child = spawn('sleep', ['60'], { cwd: before, env: {}, detached: true });
  try {
    await once(child, 'spawn');
    expect(found()).toEqual([before]);
    renameSync(before, after);
    expect(found()).toEqual([after]);
  } finally {
    child.kill('SIGKILL');
  }
  await once(child, 'exit');
  expect(found()).toEqual([]);
});
