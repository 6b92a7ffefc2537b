/** Who may take a worktree that waits. */

import { readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { thisProcess } from '../../src/base/process-identity.ts';
import { notesDirOf, readNote, sweepNotes, writeNote } from '../../src/git/worktree-notes.ts';
import { type ClaimOwner, thisClaimOwner } from '../../src/workspace/pool/claim-owner.ts';
import { claimIdle, idleIn, isIdle, noteIdle } from '../../src/workspace/pool/idle-worktrees.ts';
import { tempRepo } from '../support/temp-repo.ts';

const HOUR_MS = 3_600_000;
const NOTE = { run: 'r1', at: 1, files: 1, bytes: 1, asked: false, kept: [] };

const nameOf = (owner: object): string =>
  Buffer.from(JSON.stringify({ ...thisProcess(), ...owner })).toString('base64url');

const claimant = (name: string, isAlive: ClaimOwner['isAlive'] = () => true): ClaimOwner => ({
  name,
  isAlive,
});

test('only one of several claimants gets a workspace, which is then hidden from all', async () => {
  await using repo = await tempRepo();
  const dir = join(repo.outside, 'one');
  await repo.git('worktree', 'add', '-q', '--detach', dir);
  const commit = await repo.git('rev-parse', 'HEAD');
  const [me, other] = [claimant('me'), claimant('other')];
  expect([idleIn(repo.commonDir, me), isIdle(dir)]).toEqual([[], false]);
  noteIdle(dir, { ...NOTE, commit });
  const seen = [me, other].flatMap((who) => idleIn(repo.commonDir, who));
  expect(seen).toMatchObject([
    { path: dir, note: { commit } },
    { path: dir, note: { commit } },
  ]);
  const taken = [me, other].map((who, nth) => claimIdle(repo.commonDir, seen[nth]!, who));
  expect(taken).toEqual(['taken', 'lost']);
  expect([me, other].map((who) => idleIn(repo.commonDir, who))).toEqual([[], []]);
  expect(isIdle(dir)).toBe(true);
});

test('a workspace used since it was listed is not handed out, and stays idle', async () => {
  await using repo = await tempRepo();
  const dir = join(repo.outside, 'one');
  await repo.git('worktree', 'add', '-q', '--detach', dir);
  const commit = await repo.git('rev-parse', 'HEAD');
  noteIdle(dir, { ...NOTE, commit });
  const [before] = idleIn(repo.commonDir, claimant('me'));
  const moved = join(repo.outside, 'moved');
  await repo.git('worktree', 'move', dir, moved);
  noteIdle(moved, { ...NOTE, commit, at: 2 });
  expect(claimIdle(repo.commonDir, before!, claimant('me'))).toBe('lost');
  expect(idleIn(repo.commonDir, claimant('me'))).toMatchObject([{ path: moved, name: 'idle' }]);
});

test('a workspace claimed by a dead process can be claimed again, unless the process only seems dead', async () => {
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
    return idleIn(repo.commonDir, me).map((one) => claimIdle(repo.commonDir, one, me));
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
  const me = thisClaimOwner();
  const now = (): number => Date.now();
  const ago = (): number => Date.now() - 2 * HOUR_MS;
  const ahead = (): number => Date.now() + 2 * HOUR_MS;
  expect(me.isAlive(me.name, ago)).toBe(true);
  expect(me.isAlive(nameOf({ start: 'x:1' }), now)).toBe(false);
  expect(me.isAlive('anything', now)).toBe(false);
  const far = nameOf({ host: 'far' });
  expect([now, ago, ahead].map((at) => me.isAlive(far, at))).toEqual([true, false, false]);
});

test('notes about a removed worktree are removed, all others stay', async () => {
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
