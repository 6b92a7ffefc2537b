/** The examples, run from an empty folder with the packed package. */

import { execFile, spawn } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { marked } from '../../src/process/process-tree.ts';
import { Running } from '../support/landfast.ts';
import { type Installed, installPacked } from '../support/packed.ts';
import { type TempDir, tempDir } from '../support/temp-dir.ts';
import { plainRepository } from './plain-repository.ts';
import { scripts, writes } from './scene.ts';

const exec = promisify(execFile);
const ROOT = join(import.meta.dirname, '..', '..');

let place: TempDir;
let packed: Installed;

beforeAll(async () => {
  place = await tempDir();
  packed = await installPacked(place.path);
  for (const name of ['small.mjs', 'server.mjs']) {
    copyFileSync(join(ROOT, 'examples', 'library', name), join(packed.app, name));
  }
});
afterAll(() => place[Symbol.asyncDispose]());

describe('the examples', () => {
  test('small.mjs lands two tasks in a fresh repository', async () => {
    const { env, app } = packed;
    const { stdout } = await exec(process.execPath, ['small.mjs'], {
      cwd: app,
      env: { ...env, TMPDIR: place.path },
    });
    expect(stdout).toMatch(
      /^hello landed\nworld landed\nsucceeded: main of \S+ has hello.txt world.txt/,
    );
  });

  test('server.mjs embeds two runs: streams both, cancels one, and ends when told', async () => {
    const go = join(place.path, 'go');
    const waits = `echo 1 > a.txt; while test ! -e ${go}; do sleep 0.05; done`;
    const plan = JSON.stringify(scripts({ a: waits, b: writes('b') }));
    const dirs = await Promise.all([
      plainRepository(join(place.path, 'left'), { 'plan.yaml': plan }, packed.env),
      plainRepository(join(place.path, 'right'), { 'plan.yaml': plan }, packed.env),
    ]);
    const child = spawn(process.execPath, ['server.mjs', ...dirs], {
      cwd: packed.app,
      env: packed.env,
    });
    const server = new Running(child);
    await server.until(({ stdout }) => stdout.includes('\n'));
    const at = server.stdout.trim();
    const stream = async (name: string, last = 0): Promise<string> =>
      (await fetch(`${at}/${name}/events`, { headers: { 'last-event-id': String(last) } })).text();
    const [left, right] = [stream('left'), stream('right')];
    const cancelled = await fetch(`${at}/right/cancel`, { method: 'POST' });
    expect(await cancelled.json()).toEqual({ cancelled: 'right' });
    expect(await right).toContain('"outcome":"cancelled"');
    writeFileSync(go, '');
    expect(await left).toContain('"outcome":"succeeded"');
    const result = await (await fetch(`${at}/left/result`)).json();
    expect(result).toMatchObject({ outcome: 'succeeded', published: { target: 'main' } });
    const ids = [...(await stream('left', 3)).matchAll(/^id: (\d+)$/gm)].map(([, id]) =>
      Number(id),
    );
    expect(ids[0]).toBe(4);
    expect((await fetch(`${at}/right/cancel`, { method: 'POST' })).status).toBe(409);
    expect((await fetch(`${at}/nobody/events`)).status).toBe(404);
    child.kill('SIGTERM');
    expect((await server.ended).code).toBe(0);
    expect(marked(`${(result as { run: string }).run}/`)).toEqual([]);
  });
});
