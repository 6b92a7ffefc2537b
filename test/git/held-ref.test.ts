/** A ref that is moved together with something else. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { moveHeld } from '../../src/git/refs.ts';
import { tempRepo } from '../support/temp-repo.ts';

const MODULE = join(import.meta.dirname, '../../src/git/refs.ts');
const LOCK = 'refs/heads/main.lock';
const message = 'test';

test('the ref is locked while the work is done, and moves after a yes', async () => {
  await using repo = await tempRepo();
  const from = await repo.git('rev-parse', 'main');
  const to = await repo.commit('topic', { a: '' });
  const seen: unknown[] = [];
  const work = async () => {
    seen.push(existsSync(join(repo.commonDir, LOCK)), await repo.git('rev-parse', 'main'));
    return true;
  };
  const move = { ref: 'refs/heads/main', to, from, message };
  expect(await moveHeld(repo.dir, move, work, repo.signal)).toEqual({ kind: 'moved' });
  expect(seen).toEqual([true, from]);
  expect(await repo.git('rev-parse', 'main')).toBe(to);
  expect(await repo.git('reflog', '-1', '--format=%gs')).toBe(message);
});

test('after a no, and after an error, it is free and where it was', async () => {
  await using repo = await tempRepo();
  const from = await repo.git('rev-parse', 'main');
  const to = await repo.commit('topic', { a: '' });
  const move = { ref: 'refs/heads/main', to, from, message };
  const no = await moveHeld(repo.dir, move, async () => false, repo.signal);
  expect(no).toEqual({ kind: 'kept' });
  const broken = moveHeld(repo.dir, move, () => Promise.reject(new Error('broken')), repo.signal);
  await expect(broken).rejects.toThrow('broken');
  expect(existsSync(join(repo.commonDir, LOCK))).toBe(false);
  expect(await repo.git('rev-parse', 'main')).toBe(from);
});

test('a ref that is elsewhere is lost, and no work is done', async () => {
  await using repo = await tempRepo();
  const from = await repo.git('rev-parse', 'main');
  const to = await repo.commit('topic', { a: '' });
  await repo.commit('main', { b: '' });
  const work = () => Promise.reject(new Error('it was asked'));
  for (const ref of ['refs/heads/main', 'refs/heads/missing']) {
    const moved = await moveHeld(repo.dir, { ref, to, from, message }, work, repo.signal);
    expect(moved).toEqual({ kind: 'lost' });
  }
});

test('if we are killed in the middle, git lets go of the ref', async () => {
  await using repo = await tempRepo();
  const from = await repo.git('rev-parse', 'main');
  const to = await repo.commit('topic', { a: '' });
  const move = JSON.stringify({ ref: 'refs/heads/main', to, from, message });
  const script = `
    const { moveHeld } = await import(${JSON.stringify(MODULE)});
    const work = () => new Promise(() => { console.log('held'); setInterval(() => {}, 1000); });
    await moveHeld(process.cwd(), ${move}, work, new AbortController().signal);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: repo.dir,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  expect(existsSync(join(repo.commonDir, LOCK))).toBe(true);
  child.kill('SIGKILL');
  await once(child, 'close');
  while (existsSync(join(repo.commonDir, LOCK))) await sleep(10);
  expect(await repo.git('rev-parse', 'main')).toBe(from);
});
