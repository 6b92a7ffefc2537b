/** `capture`: a short command's output, its end, and the limits that keep it short. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { type Capture, capture, captureBytes, TimeLimitError } from '../../src/process/capture.ts';
import { processList } from '../../src/process/process-list.ts';
import { tempDir } from '../support/temp-dir.ts';
import { TOO_SHORT, withLimit } from '../support/time-limit.ts';

const { signal } = new AbortController();

function script(text: string, more: Partial<Capture> = {}): Capture {
  const env = { PATH: process.env.PATH };
  return { file: 'sh', args: ['-c', text], cwd: '/', env, stdin: '', ...more };
}

test('output, errors and the exit code come back as they are', async () => {
  const command = script("cat; printf 'a\\0b\\303\\251'; echo no >&2; exit 7", { stdin: 'in ' });
  expect(await capture(command, signal)).toEqual({
    exit: { kind: 'exited', code: 7 },
    stdout: 'in a\0bé',
    stderr: 'no\n',
  });
});

test('bytes that are not UTF-8 pass unchanged in both directions', async () => {
  const stdin = Buffer.from([0x63, 0x61, 0x66, 0xe9, 0, 0xff, 0x0a]);
  const { stdout } = await captureBytes(script('cat', { stdin }), signal);
  expect([...stdout]).toEqual([...stdin]);
});

test('a large output is complete', async () => {
  const { stdout } = await capture(script("head -c 5000000 /dev/zero | tr '\\0' a"), signal);
  expect(stdout).toBe('a'.repeat(5_000_000));
});

test('more output than allowed stops the command and is told', async () => {
  const { exit } = await capture(script('yes', { maxBytes: 100_000 }), signal);
  expect(exit).toMatchObject({ kind: 'aborted', reason: { message: 'sh printed too much' } });
});

test('without input the command reads end-of-file, not our terminal', async () => {
  const { exit } = await capture(script('read line || exit 5; exit 0'), signal);
  expect(exit).toEqual({ kind: 'exited', code: 5 });
});

test('the time limit ends the command and its group, and says so', async () => {
  const stdout = await withLimit(500, async (limitMs) => {
    const command = script('sleep 300 & echo $!; wait', { limitMs });
    const { exit, stdout } = await capture(command, signal);
    expect(exit).toEqual({ kind: 'aborted', reason: new TimeLimitError('sh', limitMs) });
    return stdout === '' ? TOO_SHORT : stdout;
  });
  expect(stdout).toMatch(/^\d+\n$/);
  // The kernel closes a dying process's pipes a moment before the process is gone.
  const isListed = () => processList().some((entry) => entry.pid === Number(stdout));
  await vi.waitUntil(() => !isListed(), { timeout: 60_000 });
});

test('an abort lets the command clean up', async () => {
  const stop = new AbortController();
  await using dir = await tempDir();
  const up = join(dir.path, 'up');
  const cleaning = `trap "echo cleaned; exit 1" TERM; touch ${up}; sleep 300 & wait`;
  const answer = capture(script(cleaning), stop.signal);
  await vi.waitUntil(() => existsSync(up), { timeout: 60_000 });
  stop.abort('reason');
  expect(await answer).toEqual({
    exit: { kind: 'aborted', reason: 'reason' },
    stdout: 'cleaned\n',
    stderr: '',
  });
});

test('a daemon that keeps the pipe does not delay the answer', async () => {
  const { exit, stdout } = await capture(script('sleep 300 & echo $!'), signal);
  process.kill(Number(stdout), 'SIGKILL');
  expect({ exit, stdout }).toEqual({
    exit: { kind: 'exited', code: 0 },
    stdout: expect.stringMatching(/^\d+\n$/),
  });
});

test('a missing program is a SpawnError', async () => {
  await expect(capture(script('', { file: 'no-such-program' }), signal)).rejects.toMatchObject({
    name: 'SpawnError',
    problem: 'no-program',
    message: 'cannot start no-such-program: not found in PATH',
  });
});
