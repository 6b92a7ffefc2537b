/** Temporary folders of attempts: which of them serve the next one. */

import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { closeScratch, giveScratch, takeScratch } from '../../src/process/scratch.ts';
import { tempDir } from '../support/temp-dir.ts';

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
  await closeScratch(RUN);
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

/** Root may do everything: as root it is somebody else who does it. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

test('folders that nobody may write to go as well, and what has to stay fails nobody', async () => {
  await using place = await tempDir();
  if (NOBODY.uid !== undefined) chownSync(place.path, NOBODY.uid, NOBODY.gid);
  const module = join(import.meta.dirname, '../../src/process/scratch.ts');
  const script = `
    import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
    import { closeScratch, giveScratch, takeScratch } from '${module}';
    const path = takeScratch('r');
    mkdirSync(path + '/deep/in', { recursive: true });
    writeFileSync(path + '/deep/in/x', '');
    for (const dir of ['/deep/in', '/deep']) chmodSync(path + dir, 0o500);
    await giveScratch('r', path);
    const stays = takeScratch('r');
    writeFileSync(stays + '/x', '');
    chmodSync('${place.path}', 0o500);
    await giveScratch('r', stays);
    await closeScratch('r');
    console.log(existsSync(path), existsSync(stays));`;
  const args = ['--input-type=module', '--eval', script];
  const env = { TMPDIR: place.path };
  const said = execFileSync(process.execPath, args, { ...NOBODY, env, encoding: 'utf8' });
  chmodSync(place.path, 0o700);
  expect(said).toBe('false true\n');
});
