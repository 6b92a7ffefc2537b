/** Temporary folders of attempts: which of them serve the next one. */

import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Runtime } from '../../src/base/runtime.ts';
import { giveScratch, takeScratch } from '../../src/process/scratch.ts';
import { tempDir } from '../support/temp-dir.ts';

const RUN = `scratch-${process.pid}`;

test('an untouched folder serves the next attempt, and is removed with the run', async () => {
  const runtime = new Runtime({ env: process.env, run: RUN });
  await runtime.enter(async () => {
    const [one, two] = [takeScratch(RUN), takeScratch(RUN)];
    expect(one).not.toBe(two);
    expect(statSync(one).mode & 0o777).toBe(0o700);
    await giveScratch(one);
    expect(takeScratch(RUN)).toBe(one);
    await giveScratch(one);
    await giveScratch(two);
    expect([existsSync(one), existsSync(two)]).toEqual([true, true]);
    await runtime[Symbol.asyncDispose]();
    expect([existsSync(one), existsSync(two)]).toEqual([false, false]);
    const late = takeScratch(RUN);
    await giveScratch(late);
    expect(existsSync(late)).toBe(false);
  });
});

test.each([
  ['something is left in it', (path: string) => writeFileSync(join(path, 'x'), '')],
  ['it has another mode', (path: string) => chmodSync(path, 0o755)],
  ['it has been removed', (path: string) => rmSync(path, { recursive: true })],
])('none where %s', async (_, spoil) => {
  await using runtime = new Runtime({ env: process.env, run: RUN });
  await runtime.enter(async () => {
    const [before, waiting] = [takeScratch(RUN), takeScratch(RUN)];
    spoil(before);
    await giveScratch(before);
    expect(existsSync(before)).toBe(false);
    await giveScratch(waiting);
    spoil(waiting);
    const next = takeScratch(RUN);
    expect(next).not.toBe(before);
    expect(next).not.toBe(waiting);
    expect(existsSync(waiting)).toBe(false);
    rmSync(next, { recursive: true });
  });
});

/** Root may do everything, so as root another user does it. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

test('read-only folders are removed as well, and one that cannot be removed is no error', async () => {
  await using place = await tempDir();
  if (NOBODY.uid !== undefined) chownSync(place.path, NOBODY.uid, NOBODY.gid);
  const module = join(import.meta.dirname, '../../src/process/scratch.ts');
  const script = `
    import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
    import { giveScratch, takeScratch } from '${module}';
    const path = takeScratch('r');
    mkdirSync(path + '/deep/in', { recursive: true });
    writeFileSync(path + '/deep/in/x', '');
    for (const dir of ['/deep/in', '/deep']) chmodSync(path + dir, 0o500);
    await giveScratch(path);
    const stays = takeScratch('r');
    writeFileSync(stays + '/x', '');
    chmodSync('${place.path}', 0o500);
    await giveScratch(stays);
    console.log(existsSync(path), existsSync(stays));`;
  const args = ['--input-type=module', '--eval', script];
  const env = { TMPDIR: place.path };
  const said = execFileSync(process.execPath, args, { ...NOBODY, env, encoding: 'utf8' });
  chmodSync(place.path, 0o700);
  expect(said).toBe('false true\n');
});
