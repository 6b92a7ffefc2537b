/** Pushing to a remote of the same machine, and to one that cannot be reached. */

import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pushBranch } from '../../src/git/remote.ts';
import { runGit, type TempRepo, tempRepo } from '../support/temp-repo.ts';

async function withRemote(repo: TempRepo): Promise<string> {
  const remote = join(repo.outside, 'remote.git');
  await runGit(repo.outside, ['init', '--quiet', '--bare', remote]);
  await repo.git('remote', 'add', 'origin', remote);
  return remote;
}

test('a branch is pushed under its own name and follows the remote; twice is once', async () => {
  await using repo = await tempRepo();
  const remote = await withRemote(repo);
  const commit = await repo.commit('feature/a', { 'a.txt': 'a\n' });
  const to = { remote: 'origin', branch: 'feature/a' };
  expect(await pushBranch(repo.dir, to, repo.signal)).toEqual({ kind: 'pushed' });
  expect(await pushBranch(repo.dir, to, repo.signal)).toEqual({ kind: 'pushed' });
  expect(await runGit(remote, ['rev-parse', 'refs/heads/feature/a'])).toBe(commit);
  expect(await repo.git('rev-parse', '--abbrev-ref', 'feature/a@{upstream}')).toBe(
    'origin/feature/a',
  );
});

test('a remote branch that holds something else refuses, and stays as it is', async () => {
  await using repo = await tempRepo();
  const remote = await withRemote(repo);
  const theirs = await repo.commit('other', { 'b.txt': 'b\n' });
  await repo.git('push', '-q', 'origin', 'other:refs/heads/mine');
  await repo.commit('mine', { 'a.txt': 'a\n' });
  const answer = await pushBranch(repo.dir, { remote: 'origin', branch: 'mine' }, repo.signal);
  expect(answer).toEqual({ kind: 'refused', why: expect.stringContaining('[rejected]') });
  expect(await runGit(remote, ['rev-parse', 'refs/heads/mine'])).toBe(theirs);
});

test('there is no such remote', async () => {
  await using repo = await tempRepo();
  const answer = await pushBranch(repo.dir, { remote: 'nowhere', branch: 'main' }, repo.signal);
  expect(answer).toEqual({ kind: 'refused', why: expect.stringContaining('nowhere') });
});

test('a network that fails is told apart, and no password with it', async () => {
  await using repo = await tempRepo();
  const ssh = join(repo.outside, 'ssh');
  writeFileSync(
    ssh,
    '#!/bin/sh\necho "ssh: connect: Connection refused //me:secret@h/" >&2; exit 255',
  );
  chmodSync(ssh, 0o755);
  await repo.git('config', 'core.sshCommand', ssh);
  await repo.git('remote', 'add', 'origin', 'ssh://me@127.0.0.1/x.git');
  const answer = await pushBranch(repo.dir, { remote: 'origin', branch: 'main' }, repo.signal);
  expect(answer).toMatchObject({
    kind: 'unreachable',
    why: expect.stringContaining('refused //h/'),
  });
});
