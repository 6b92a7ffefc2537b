/** The door to git: answers, errors, locks, limits. */

import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { GitError, git, isLocked } from '../../src/git/git.ts';
import { tempRepo } from '../support/temp-repo.ts';
import { TOO_SHORT, withLimit } from '../support/time-limit.ts';

test('expected exit codes are answers, others are errors that say what git said', async () => {
  await using repo = await tempRepo();
  const args = ['rev-parse', '--verify', 'nothing'];
  expect(await git(repo.dir, args, repo.signal, { okCodes: [128] })).toMatchObject({
    code: 128,
    stdout: '',
  });
  const error = await git(repo.dir, args, repo.signal).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(GitError);
  expect(error).toMatchObject({
    message: 'git rev-parse failed with 128: fatal: Needed a single revision',
    args,
  });
});

test('a lock that is released soon is waited for', async () => {
  await using repo = await tempRepo();
  await repo.write({ a: '', '.git/index.lock': '' });
  const adding = git(repo.dir, ['add', 'a'], repo.signal);
  setTimeout(() => rm(join(repo.commonDir, 'index.lock')), 150);
  expect(await adding).toMatchObject({ code: 0 });
});

test('a lock that is never released is an error after a while', async () => {
  await using repo = await tempRepo();
  await repo.write({ a: '', '.git/index.lock': '' });
  await expect(git(repo.dir, ['add', 'a'], repo.signal)).rejects.toThrow('index.lock');
});

test('a held lock is distinguished from a lost compare-and-swap', () => {
  const locked = (stderr: string) => isLocked({ code: 128, stdout: '', stderr });
  expect(locked("fatal: Unable to create '/r/.git/index.lock': File exists.\n\nAnother")).toBe(
    true,
  );
  expect(locked('error: could not lock config file .git/config: File exists')).toBe(true);
  expect(locked('fatal: failed to read .git/worktrees/a/commondir: Success')).toBe(true);
  const noFolder = "could not create directory of '.git/worktrees/a'";
  expect(locked(`fatal: ${noFolder}: No such file or directory`)).toBe(true);
  expect(locked(`fatal: ${noFolder}: Permission denied`)).toBe(false);
  expect(locked("fatal: cannot lock ref 'HEAD': Unable to create '/r/.git/HEAD.lock'")).toBe(true);
  expect(locked("fatal: cannot lock ref 'refs/heads/a': is at 1 but expected 2")).toBe(false);
  expect(locked("cannot lock ref 'refs/a': unable to resolve reference 'refs/a'")).toBe(false);
  expect(locked("cannot lock ref 'refs/a': reference already exists")).toBe(false);
  expect(locked("cannot lock ref 'a/b': 'a' exists; cannot create 'a/b'")).toBe(false);
});

test('a command that takes too long is stopped', async () => {
  await using repo = await tempRepo();
  const config = { 'alias.hang': '!echo waiting >&2; exec sleep 300' };
  const stopped = await withLimit(500, async (limitMs) => {
    const hanging = git(repo.dir, ['hang'], repo.signal, { config, limitMs });
    const error = await hanging.catch((thrown: unknown) => thrown);
    return String(error).includes('waiting') ? { error, limitMs } : TOO_SHORT;
  });
  const after = `${stopped.limitMs / 1_000} s`;
  expect(stopped.error).toMatchObject({
    name: 'GitTimeoutError',
    message: `git hang took longer than ${after} and was stopped; it said: waiting`,
  });
});

test('an aborted signal is thrown as its reason', async () => {
  await using repo = await tempRepo();
  const reason = new Error('stop');
  await expect(git(repo.dir, ['status'], AbortSignal.abort(reason))).rejects.toBe(reason);
});

test('git does not ask for a password', async () => {
  await using repo = await tempRepo();
  const asked = git(repo.dir, ['credential', 'fill'], repo.signal, {
    stdin: 'protocol=https\nhost=example.com\n\n',
    env: { SSH_ASKPASS: 'echo' },
  });
  await expect(asked).rejects.toThrow('terminal prompts disabled');
});

test.each([
  ['plain', {}, 'ssh -o BatchMode=yes'],
  ['configured', { 'core.sshCommand': 'ssh -i key' }, 'ssh -i key'],
])('ssh does not ask either, but is the user’s own where %s', async (_, config, expected) => {
  await using repo = await tempRepo();
  for (const [name, value] of Object.entries(config)) await repo.git('config', name, value);
  await repo.write({ 'bin/ssh': '#!/bin/sh\necho "ssh $*" >&2; exit 255\n' });
  const env = { PATH: `${join(repo.dir, 'bin')}:${process.env.PATH}` };
  await chmod(join(repo.dir, 'bin/ssh'), 0o755);
  const fetching = git(repo.dir, ['fetch', 'git@example.invalid:x'], repo.signal, { env });
  await expect(fetching).rejects.toThrow(expected);
});
