/** Who may take a worktree that waits. */

import { readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { thisClaimant } from '../../src/cli/pooling.ts';
import { notesDirOf, readNote, sweepNotes, writeNote } from '../../src/git/worktree-notes.ts';
import { thisProcess } from '../../src/journal/lease.ts';
import type { Claimant } from '../../src/workspace/claimant.ts';
import { idleIn, isWaiting, noteIdle, takeIdle } from '../../src/workspace/idle.ts';
import { tempRepo } from '../support/temp-repo.ts';

const HOUR_MS = 3_600_000;
const NOTE = { run: 'r1', at: 1, files: 1, bytes: 1, asked: false, kept: [] };

const nameOf = (owner: object): string =>
  Buffer.from(JSON.stringify({ ...thisProcess(), ...owner })).toString('base64url');

const claimant = (name: string, isAlive: Claimant['isAlive'] = () => true): Claimant => ({
  name,
  isAlive,
});

test('only one of those who see it gets it, and nobody sees it any more', async () => {
  await using repo = await tempRepo();
  const dir = join(repo.outside, 'one');
  await repo.git('worktree', 'add', '-q', '--detach', dir);
  const commit = await repo.git('rev-parse', 'HEAD');
  const [me, other] = [claimant('me'), claimant('other')];
  expect([idleIn(repo.commonDir, me), isWaiting(dir)]).toEqual([[], false]);
  noteIdle(dir, { ...NOTE, commit });
  const seen = [me, other].flatMap((who) => idleIn(repo.commonDir, who));
  expect(seen).toMatchObject([
    { path: dir, note: { commit } },
    { path: dir, note: { commit } },
  ]);
  const taken = [me, other].map((who, nth) => takeIdle(repo.commonDir, seen[nth]!, who));
  expect(taken).toEqual(['taken', 'lost']);
  expect([me, other].map((who) => idleIn(repo.commonDir, who))).toEqual([[], []]);
  expect(isWaiting(dir)).toBe(true);
});

test('one that was used since somebody looked is lost to him, and waits on', async () => {
  await using repo = await tempRepo();
  const dir = join(repo.outside, 'one');
  await repo.git('worktree', 'add', '-q', '--detach', dir);
  const commit = await repo.git('rev-parse', 'HEAD');
  noteIdle(dir, { ...NOTE, commit });
  const [before] = idleIn(repo.commonDir, claimant('me'));
  const moved = join(repo.outside, 'moved');
  await repo.git('worktree', 'move', dir, moved);
  noteIdle(moved, { ...NOTE, commit, at: 2 });
  expect(takeIdle(repo.commonDir, before!, claimant('me'))).toBe('lost');
  expect(idleIn(repo.commonDir, claimant('me'))).toMatchObject([{ path: moved, name: 'idle' }]);
});

test('what a dead process was handing over can be taken again, unless it only seems dead', async () => {
  await using repo = await tempRepo();
  const dir = join(repo.outside, 'one');
  await repo.git('worktree', 'add', '-q', '--detach', dir);
  noteIdle(dir, { ...NOTE, commit: await repo.git('rev-parse', 'HEAD') });
  const folder = notesDirOf(dir) ?? '';
  renameSync(join(folder, 'idle'), join(folder, 'taken-him'));
  const asked: unknown[] = [];
  const waits = (isAlive: boolean) => {
    const me = claimant('me', (name, touchedAt) => {
      asked.push([name, Math.abs(Date.now() - touchedAt()) < HOUR_MS]);
      return isAlive;
    });
    return idleIn(repo.commonDir, me).map((one) => takeIdle(repo.commonDir, one, me));
  };
  expect([waits(true), waits(false)]).toEqual([[], ['taken']]);
  expect(asked).toEqual([
    ['him', true],
    ['him', true],
  ]);
  expect(readdirSync(folder)).toEqual(['taken-me']);
  expect(waits(false)).toEqual([]); // We have it ourselves.
});

test('a process of this host is known by its start, one of another by its last deed', () => {
  const me = thisClaimant();
  const now = (): number => Date.now();
  const ago = (): number => Date.now() - 2 * HOUR_MS;
  const ahead = (): number => Date.now() + 2 * HOUR_MS;
  expect(me.isAlive(me.name, ago)).toBe(true);
  expect(me.isAlive(nameOf({ start: 'x:1' }), now)).toBe(false);
  expect(me.isAlive('anything', now)).toBe(false);
  const far = nameOf({ host: 'far' });
  expect([now, ago, ahead].map((at) => me.isAlive(far, at))).toEqual([true, false, false]);
});

test('what was noted about a worktree that is gone is forgotten, all else stays', async () => {
  await using repo = await tempRepo();
  const [one, two] = ['one', 'two'].map((name) => join(repo.outside, name)) as [string, string];
  for (const dir of [one, two]) {
    await repo.git('worktree', 'add', '-q', '--detach', dir);
    writeNote(dir, 'owner', 'somebody');
  }
  await repo.git('worktree', 'remove', '--force', one);
  sweepNotes(repo.commonDir);
  expect(readdirSync(join(repo.commonDir, 'landfast', 'worktrees'))).toHaveLength(1);
  expect(readNote(two, 'owner')).toBe('somebody');
});
