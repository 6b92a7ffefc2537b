/** Files of a workspace, where an agent may have put links, pipes and folders in their place. */

import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { copyMissing, copyOver, readPlain, writePlain } from '../../src/workspace/plain-file.ts';
import { tempDir, writeFiles } from '../support/temp-dir.ts';

/** A workspace, a secret beside it, and links that lead there. */
async function place() {
  const temp = await tempDir();
  const dir = join(temp.path, 'workspace');
  const secret = join(temp.path, 'outside', 'secret');
  await writeFiles(temp.path, { 'outside/secret': 'mine', 'workspace/sub/plain': 'text' });
  symlinkSync(secret, join(dir, 'link'));
  symlinkSync(join(temp.path, 'outside', 'new'), join(dir, 'dangling'));
  symlinkSync(join(temp.path, 'outside'), join(dir, 'way'));
  execFileSync('mkfifo', [join(dir, 'pipe')]);
  mkdirSync(join(dir, 'folder'));
  return Object.assign(temp, { dir, secret });
}

test('a regular file is read; links, pipes, folders, devices and large files are not', async () => {
  await using at = await place();
  symlinkSync('/dev/zero', join(at.dir, 'device'));
  const read = async (path: string) => (await readPlain(at.dir, path, 100))?.toString() ?? null;
  writeFileSync(join(at.dir, 'large'), 'x'.repeat(101));
  expect(await read('sub/plain')).toBe('text');
  const others = ['link', 'dangling', 'way/secret', 'pipe', 'folder', 'device', 'large', 'none'];
  expect(await Promise.all(others.map(read))).toEqual(others.map(() => null));
});

test('writing replaces a link or a pipe; nothing behind it changes', async () => {
  await using at = await place();
  for (const path of ['link', 'dangling', 'pipe', 'sub/plain', 'new/file']) {
    await writePlain(at.dir, path, 'ours');
    expect(lstatSync(join(at.dir, path)).isFile()).toBe(true);
    expect(readFileSync(join(at.dir, path), 'utf8')).toBe('ours');
  }
  expect(readFileSync(at.secret, 'utf8')).toBe('mine');
});

test.each(['way/secret', 'folder'])('writing to %s is an error that names it', async (path) => {
  await using at = await place();
  const refused = { name: 'OperationalError', message: expect.stringContaining(`/${path} `) };
  await expect(writePlain(at.dir, path, 'ours')).rejects.toMatchObject(refused);
  await expect(copyOver(at.secret, at.dir, path)).rejects.toMatchObject(refused);
  expect(readFileSync(at.secret, 'utf8')).toBe('mine');
});

test('a copy goes where nothing is, never through a link', async () => {
  await using at = await place();
  const from = join(at.dir, 'sub/plain');
  for (const path of ['link', 'dangling', 'way/secret', 'way/made', 'copy']) {
    await copyMissing(from, at.dir, path);
  }
  expect(readFileSync(join(at.dir, 'copy'), 'utf8')).toBe('text');
  expect(lstatSync(join(at.dir, 'dangling')).isSymbolicLink()).toBe(true);
  expect(readFileSync(at.secret, 'utf8')).toBe('mine');
  expect(() => readFileSync(join(at.path, 'outside', 'new'))).toThrow('ENOENT');
  expect(() => readFileSync(join(at.path, 'outside', 'made'))).toThrow('ENOENT');
});
