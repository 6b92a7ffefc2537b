/** Commits are signed where git is told to, with a real key; and where that cannot be, it is said. */

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

/** A key of its own, with a passphrase or none, that git signs with. */
async function withKey(repo: TempRepo, passphrase = ''): Promise<string> {
  const key = join(repo.outside, 'key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', passphrase, '-f', key]);
  const signers = join(repo.outside, 'signers');
  writeFileSync(signers, `ada@example.com ${readFileSync(`${key}.pub`, 'utf8')}`);
  const settings = {
    'commit.gpgSign': 'true',
    'gpg.format': 'ssh',
    'user.signingKey': key,
    'gpg.ssh.allowedSignersFile': signers,
    'user.email': 'ada@example.com',
  };
  for (const [name, value] of Object.entries(settings)) await repo.git('config', name, value);
  return key;
}

/** The commits of main since it began, and whether each has a good signature. */
async function signatures(repo: TempRepo, since: string): Promise<readonly string[]> {
  const log = await repo.git('log', '--format=%G? %s', `${since}..main`);
  const commits = (await repo.git('rev-list', `${since}..main`)).split('\n');
  for (const commit of commits) await repo.git('verify-commit', commit); // Throws where it is bad.
  return log.split('\n').sort();
}

/** Each begins when both have, so that neither lands as it is. */
const together = (name: string, other: string): string =>
  `touch ../../../${name}; while test ! -e ../../../${other}; do sleep 0.05; done; echo 1 > ${name}`;

describe('with a key without a passphrase', () => {
  const tasks = { one: together('one', 'two'), two: together('two', 'one') };
  const all = ['G Land one', 'G Land two', 'G one: W', 'G two: W'];
  test.each([
    ['merge', all],
    ['squash', ['G Land one', 'G Land two']],
    ['rebase', ['G one: W', 'G two: W']],
  ])('every commit of strategy %s is signed', async (strategy, expected) => {
    await using repo = await tempRepo();
    await withKey(repo);
    const since = await repo.git('rev-parse', 'main');
    const named = Object.fromEntries(
      Object.entries(tasks).map(([id, prompt]) => [id, { prompt, title: 'W' }]),
    );
    const run = await runPlan(repo, { tasks: named, land: { strategy } });
    expect(run).toMatchObject({ code: 0 });
    expect(await signatures(repo, since)).toEqual(expected);
  });

  test('so is the combination with a target that moved meanwhile', async () => {
    await using repo = await tempRepo();
    await withKey(repo);
    const since = await repo.git('rev-parse', 'main');
    const moves = `git -C ${repo.dir} commit -q --allow-empty -m Meanwhile; echo 1 > one`;
    const run = await runPlan(repo, { tasks: { one: moves } });
    expect(run).toMatchObject({ code: 0 });
    const signed = await signatures(repo, since);
    expect(signed.filter((line) => line.startsWith('G Merge landfast/'))).toHaveLength(1);
    expect(signed.every((line) => line.startsWith('G '))).toBe(true);
  });

  test('a key that an agent program holds open needs no passphrase', async () => {
    await using repo = await tempRepo();
    const key = await withKey(repo, 'secret');
    await using agent = await keyHolder(repo, key, 'secret');
    const since = await repo.git('rev-parse', 'main');
    const env = { SSH_AUTH_SOCK: agent.socket };
    const run = await runPlan(repo, { tasks: { one: 'echo 1 > one' } }, { env });
    expect(run).toMatchObject({ code: 0 });
    expect(await signatures(repo, since)).toEqual(['G Land one', 'G one: echo 1 > one']);
  });
});

const LOCKED = 'the key is locked, and its passphrase cannot be typed here';

describe('with a key that is locked', () => {
  test('nothing starts, and the way out is said', async () => {
    await using repo = await tempRepo();
    await withKey(repo, 'secret');
    const run = await runPlan(repo, { tasks: { one: 'touch ../../../begun' } });
    expect(run).toMatchObject({ code: 3, stdout: '' });
    const what = 'commit.gpgSign is set, but commits cannot be signed without a prompt';
    expect(run.stderr).toContain(`${what}: ${LOCKED}`);
    expect(run.stderr).toContain('git config commit.gpgSign false');
    const doctor = await landfast(['doctor', '--json'], { cwd: repo.dir });
    expect(JSON.parse(doctor.stdout)).toContainEqual(
      expect.objectContaining({ what: 'signing', state: 'missing' }),
    );
  });

  test('tasks that only read run all the same', async () => {
    await using repo = await tempRepo();
    await withKey(repo, 'secret');
    const run = await runPlan(repo, { tasks: { one: { prompt: 'true', read_only: true } } });
    expect(run).toMatchObject({ code: 0 });
  });

  test('a key that is locked while an agent works fails the task, and its work is kept', async () => {
    await using repo = await tempRepo();
    const key = await withKey(repo);
    const lock = `mkdir ../../../once && ssh-keygen -q -p -P '' -N secret -f ${key}; echo 1 > one`;
    const run = await runPlan(repo, { tasks: { one: lock } });
    expect(run).toMatchObject({ code: 1 });
    expect(run.failure('one')).toMatchObject({
      kind: 'commit-failed',
      message: expect.stringContaining(
        `could not be signed, though commit.gpgSign is set: ${LOCKED}`,
      ),
    });
    const kept = join(repo.outside, 'repo.worktrees', run.run, 'one', 'one');
    expect(readFileSync(kept, 'utf8')).toBe('1\n');
    execFileSync('ssh-keygen', ['-q', '-p', '-P', 'secret', '-N', '', '-f', key]);
    const resumed = await landfast(['resume'], { cwd: repo.dir, env: { HOME: repo.outside } });
    expect(resumed).toMatchObject({ code: 0 });
  });

  test('a key that is locked before the candidate is made fails the landing, and nothing hangs', async () => {
    await using repo = await tempRepo();
    const key = await withKey(repo);
    // The first lands and locks the key: the second was committed before.
    const gates = [
      { name: 'lock', run: `ssh-keygen -q -p -P '' -N secret -f ${key} 2> /dev/null; true` },
    ];
    const run = await runPlan(repo, {
      gates,
      tasks: { one: together('one', 'two'), two: together('two', 'one') },
    });
    expect(run).toMatchObject({ code: 1 });
    const failed = run.of('task.failed');
    expect(failed).toHaveLength(1);
    expect(failed[0]?.failure).toMatchObject({
      kind: 'commit-failed',
      message: expect.stringContaining(`It could not be merged: the commit could not be signed`),
    });
    expect(run.of('merge.landed')).toHaveLength(1);
  });
});

/** An ssh-agent with the key open, until the test ends. */
async function keyHolder(repo: TempRepo, key: string, passphrase: string) {
  const socket = join(repo.outside, 'agent');
  const child = spawn('ssh-agent', ['-D', '-a', socket], { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(child.stdout, 'data');
  const ask = join(repo.outside, 'ask');
  writeFileSync(ask, `#!/bin/sh\necho ${passphrase}\n`, { mode: 0o755 });
  const env = { ...process.env, SSH_AUTH_SOCK: socket, SSH_ASKPASS: ask };
  execFileSync('ssh-add', ['-q', key], {
    env: { ...env, SSH_ASKPASS_REQUIRE: 'force' },
    stdio: 'ignore',
  });
  return {
    socket,
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await once(child, 'close');
    },
  };
}
