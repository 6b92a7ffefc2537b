/** Folders on a real disk, and where none can be made. */

import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolders } from '../../src/base/make-folders.ts';
import { tempDir } from '../support/temp-dir.ts';

test('missing parents are made as well, with the mode; an existing folder stays as it is', async () => {
  await using place = await tempDir();
  const deep = join(place.path, 'a', 'b', 'c');
  makeFolders(deep, 0o700);
  expect(statSync(join(place.path, 'a')).mode & 0o777).toBe(0o700);
  expect(statSync(deep).mode & 0o777).toBe(0o700);
  mkdirSync(join(place.path, 'open'), { mode: 0o755 });
  makeFolders(join(place.path, 'open'), 0o700);
  expect(statSync(join(place.path, 'open')).mode & 0o777).toBe(0o755);
  symlinkSync(deep, join(place.path, 'link'));
  makeFolders(join(place.path, 'link', 'd'));
  expect(existsSync(join(deep, 'd'))).toBe(true);
});

test('a file in the way, and a link that leads nowhere, are errors', async () => {
  await using place = await tempDir();
  const file = join(place.path, 'file');
  writeFileSync(file, '');
  symlinkSync(join(place.path, 'nowhere'), join(place.path, 'link'));
  expect(() => makeFolders(file)).toThrow('EEXIST');
  expect(() => makeFolders(join(file, 'a', 'b'))).toThrow('ENOTDIR');
  expect(() => makeFolders(join(place.path, 'link', 'a'))).toThrow('EEXIST');
});

test.runIf(process.platform === 'linux')('a folder that takes no folders is an error', () => {
  expect(() => makeFolders('/proc/landfast/a/b')).toThrow('ENOENT');
});
