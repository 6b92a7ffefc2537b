/** A branch that is moved by its file is moved as git moves it, or git moves it. */

import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { begunIn } from '../../src/git/begun.ts';
import { removeDeadLocks } from '../../src/git/locks.ts';
import { moveRef } from '../../src/git/loose-ref.ts';
import { closeRefWriter } from '../../src/git/ref-writer.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const REF = 'refs/heads/landfast/r1.a';
const NONE = '0'.repeat(40);

let repo: TempRepo;
let one: string;
let two: string;

beforeEach(async () => {
  repo = await tempRepo({ files: { a: 'a\n' } });
  one = await repo.git('rev-parse', 'HEAD');
  await repo.git('commit', '-q', '--allow-empty', '-m', 'two');
  two = await repo.git('rev-parse', 'HEAD');
});

afterEach(async () => {
  await closeRefWriter(repo.commonDir);
  await repo[Symbol.asyncDispose]();
});

const move = (from: string, to: string, ref = REF) =>
  moveRef(repo.commonDir, { ref, to, from }, repo.signal);
const tip = (ref = REF) => repo.git('rev-parse', '--verify', '-q', ref).catch(() => null);
const file = (name: string): string => join(repo.commonDir, name);

/** Whether a git that moves refs is waiting for more: one that was asked stays. */
function isGitAsked(): boolean {
  const threads = readdirSync('/proc/self/task');
  const children = threads.flatMap((thread) =>
    readFileSync(`/proc/self/task/${thread}/children`, 'utf8').trim().split(' '),
  );
  return children.some(
    (pid) => pid !== '' && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('update-ref'),
  );
}

test('a branch is made, moved and read by git, and logged as git logs it', async () => {
  expect(await move(NONE, one)).toBe(true);
  expect(await move(one, two)).toBe(true);
  expect(await tip()).toBe(two);
  await repo.git('update-ref', '--create-reflog', 'refs/heads/landfast/r1.b', one, NONE);
  await repo.git('update-ref', 'refs/heads/landfast/r1.b', two, one);
  const withoutTimes = (ref: string): string =>
    readFileSync(file(`logs/${ref}`), 'utf8').replace(/ \d+ ([+-]\d{4})/g, ' $1');
  expect(withoutTimes(REF)).toBe(withoutTimes('refs/heads/landfast/r1.b'));
  expect(await repo.git('reflog', 'show', '--format=%H', REF)).toBe(`${two}\n${one}`);
  expect(readdirSync(repo.commonDir).filter((name) => name.startsWith('landfast-'))).toEqual([]);
});

test('a branch that is elsewhere stays there', async () => {
  await move(NONE, one);
  expect(await move(two, two)).toBeNull();
  expect(await move(NONE, two)).toBeNull();
  expect(await tip()).toBe(one);
  expect(existsSync(file(`${REF}.lock`))).toBe(false);
});

test('of many who move it at the same time one does', async () => {
  await move(NONE, one);
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, nth) =>
      nth % 2 === 0
        ? moveRef(repo.commonDir, { ref: REF, to: two, from: one }, repo.signal)
        : repo.git('update-ref', REF, two, one).then(
            () => true,
            () => null,
          ),
    ),
  );
  expect(answers.filter((answer) => answer === true)).toHaveLength(1);
  expect(await tip()).toBe(two);
});

test('a packed branch is where its line says', async () => {
  await move(NONE, one);
  await repo.git('pack-refs', '--all', '--prune');
  expect(existsSync(file(REF))).toBe(false);
  expect(await move(NONE, two)).toBeNull();
  expect(await move(two, two)).toBeNull();
  expect(await tip()).toBe(one);
  expect(await move(one, two)).toBe(true);
  expect(await tip()).toBe(two);
});

test.each(['loose', 'packed'])('a %s branch is not made a folder, nor below one', async (how) => {
  await repo.git('branch', 'landfast/x', one);
  await repo.git('branch', 'landfast/y/z', one);
  if (how === 'packed') await repo.git('pack-refs', '--all', '--prune');
  expect(await move(NONE, one, 'refs/heads/landfast/x/below')).toBeNull();
  expect(await move(NONE, one, 'refs/heads/landfast/y')).toBeNull();
  await repo.git('fsck', '--no-dangling');
});

test('whoever has lost the run does not move it', async () => {
  const lost = new Error('lost');
  const assertHeld = (): void => {
    throw lost;
  };
  const asked = moveRef(repo.commonDir, { ref: REF, to: one, from: NONE, assertHeld }, repo.signal);
  await expect(asked).rejects.toBe(lost);
  expect(await tip()).toBeNull();
  expect(existsSync(file(`${REF}.lock`))).toBe(false);
});

test('a lock is respected', async () => {
  await move(NONE, one);
  writeFileSync(file(`${REF}.lock`), '');
  expect(await move(one, two)).toBeNull();
  expect(await tip()).toBe(one);
}, 30_000);

test('a lock that a living engine holds is not taken for one of the dead', async () => {
  const content = begunIn(repo.commonDir);
  writeFileSync(content, `${one}\n`);
  mkdirSync(file('refs/heads/landfast'), { recursive: true });
  linkSync(content, file(`${REF}.lock`));
  expect(await removeDeadLocks(repo, repo.signal)).toEqual([file(`${REF}.lock`)]);
  rmSync(content);
  expect(await removeDeadLocks(repo, repo.signal)).toEqual([]);
  expect(existsSync(file(`${REF}.lock`))).toBe(false);
}, 20_000);

describe('moved by git', () => {
  test('plain ones are not', async () => {
    writeFileSync(file('hooks/pre-commit'), '#!/bin/sh\n');
    await repo.git('config', 'core.ignoreCase', 'false');
    expect(await move(NONE, one)).toBe(true);
    expect(isGitAsked()).toBe(false);
  });

  const hook = (): void => {
    mkdirSync(file('hooks'), { recursive: true });
    writeFileSync(file('hooks/reference-transaction'), '#!/bin/sh\nexit 0\n');
    chmodSync(file('hooks/reference-transaction'), 0o755);
  };
  const cases: readonly (readonly [string, () => unknown, string])[] = [
    ['where a hook wants to know', hook, REF],
    ['where hooks are somewhere else', () => repo.git('config', 'core.hooksPath', 'hooks'), REF],
    ['where a setting says otherwise', () => repo.git('config', 'core.fsync', 'all'), REF],
    ['with an odd name', () => undefined, 'refs/heads/landfast/a+b'],
    ['that is no branch', () => undefined, 'refs/landfast/kept/x'],
  ];

  test.each(cases)('one %s', async (_what, make, ref) => {
    await make();
    expect(await move(NONE, one, ref)).toBe(true);
    expect(isGitAsked()).toBe(true);
    expect(await tip(ref)).toBe(one);
  });

  test('the branch of the checkout', async () => {
    await repo.git('checkout', '-q', '-b', 'landfast/here');
    expect(await move(two, one, 'refs/heads/landfast/here')).toBe(true);
    expect(isGitAsked()).toBe(true);
    expect(await repo.git('reflog', 'show', '-1', '--format=%H', 'HEAD')).toBe(one);
  });
});
