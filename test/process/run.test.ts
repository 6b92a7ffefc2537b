/** `run`: how a child ends, and that nothing of it is left, whatever it did. */

import { randomUUID } from 'node:crypto';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Exit } from '../../src/base/exit.ts';
import { processList } from '../../src/process/process-list.ts';
import { marked } from '../../src/process/process-tree.ts';
import { type Run, run } from '../../src/process/run.ts';
import { SpawnError } from '../../src/process/spawn.ts';
import { tempDir } from '../support/temp-dir.ts';

interface Finished {
  readonly exit: Exit;
  readonly lines: readonly string[];
  readonly errors: readonly string[];
  readonly mark: string;
  readonly ms: number;
}

/** Starts a daemon that is no descendant and in no group of its starter: a double fork. */
const DAEMON = '(setsid nohup sleep 300 >/dev/null 2>&1 &)';

function script(text: string, more: Partial<Run> = {}): Run {
  return {
    file: '/bin/sh',
    args: ['-c', text],
    cwd: '/',
    env: { PATH: process.env.PATH },
    stdin: '',
    graceMs: 2_000,
    mark: `test-${randomUUID()}`,
    onLine: () => {},
    ...more,
  };
}

/** Nothing below depends on how fast the machine is: whatever is not ended takes 300 s. */
const untilThere = (file: string): string => `until test -e ${file}; do sleep 0.02; done`;

/** Runs it; `abortOn` is a line that makes us abort. */
async function finish(command: Run, abortOn?: string): Promise<Finished> {
  const lines: string[] = [];
  const errors: string[] = [];
  const stop = new AbortController();
  const startedAt = performance.now();
  const exit = await run(
    {
      ...command,
      onLine: (line, from, cut) => {
        (from === 'stdout' ? lines : errors).push(line);
        command.onLine(line, from, cut);
        if (line === abortOn) stop.abort('enough');
      },
    },
    stop.signal,
  );
  return { exit, lines, errors, mark: command.mark ?? '', ms: performance.now() - startedAt };
}

/** A zombie does not live: not every machine has an init that takes them away at once. */
function lives(pid: string | undefined): boolean {
  return processList().some((entry) => entry.pid === Number(pid));
}

describe('a child that ends by itself', () => {
  test('gives its exit code and its lines, the last one without a newline too', async () => {
    const { exit, lines, errors } = await finish(
      script('echo one; echo two >&2; cat; printf last; exit 3', { stdin: 'from stdin\n' }),
    );
    expect({ exit, lines, errors }).toEqual({
      exit: { kind: 'exited', code: 3 },
      lines: ['one', 'from stdin', 'last'],
      errors: ['two'],
    });
  });

  test('tells which signal killed it', async () => {
    const { exit } = await finish(script('kill -9 $$'));
    expect(exit).toEqual({ kind: 'signalled', signal: 'SIGKILL' });
  });

  test('reads /dev/null if it gets no input', async () => {
    const { lines } = await finish(script('test -c /dev/stdin && echo device; cat'));
    expect(lines).toEqual(['device']);
  });

  test('may leave its input unread', async () => {
    const { exit } = await finish(script('exec <&-; exit 0', { stdin: 'x'.repeat(5_000_000) }));
    expect(exit).toEqual({ kind: 'exited', code: 0 });
  });

  test('may write lines of a megabyte and bytes that are no text', async () => {
    const { lines } = await finish(
      script("head -c 1000000 /dev/zero | tr '\\0' a; echo; printf 'caf\\351 \\303\\251\\n'"),
    );
    expect(lines).toEqual(['a'.repeat(1_000_000), 'caf\uFFFD é']);
  });

  test('leaves no daemon behind', async () => {
    const { exit, mark } = await finish(script(`${DAEMON}; exit 0`));
    expect(exit).toEqual({ kind: 'exited', code: 0 });
    expect(marked(mark)).toEqual([]);
  });

  test('leaves no daemon behind that ignores SIGTERM', async () => {
    await using dir = await tempDir();
    const up = join(dir.path, 'up');
    const stubborn = `(setsid sh -c 'trap "" TERM INT; touch ${up}; while :; do sleep 1; done' &)`;
    const { exit, mark } = await finish(script(`${stubborn}; ${untilThere(up)}; exit 0`));
    expect(exit).toEqual({ kind: 'exited', code: 0 });
    expect(marked(mark)).toEqual([]);
  });

  test('does not wait for a process that holds its output', async () => {
    const { exit, lines } = await finish(script('echo out; sleep 300 & exit 4'));
    expect({ exit, lines }).toEqual({ exit: { kind: 'exited', code: 4 }, lines: ['out'] });
  });

  test('does not wait for an escaped process that holds its output either', async () => {
    await using dir = await tempDir();
    const up = join(dir.path, 'up');
    const escaping = `(env -i setsid sh -c 'echo $$; touch ${up}; exec sleep 300' &)`;
    const { exit, lines } = await finish(script(`${escaping}; ${untilThere(up)}; exit 0`));
    process.kill(Number(lines[0]), 'SIGKILL');
    expect(exit).toEqual({ kind: 'exited', code: 0 });
  });
});

describe('an aborted child', () => {
  test('is an outcome with the reason', async () => {
    const patient = script('echo ready; exec sleep 300', { graceMs: 300_000 });
    const { exit } = await finish(patient, 'ready');
    expect(exit).toEqual({ kind: 'aborted', reason: 'enough' });
  });

  test('is not even started if the signal was aborted before', async () => {
    const never = script('exit 0', { file: '/does/not/exist' });
    expect(await run(never, AbortSignal.abort('early'))).toEqual({
      kind: 'aborted',
      reason: 'early',
    });
  });

  test('may say goodbye after SIGINT', async () => {
    const polite = 'trap "echo bye; exit 0" INT; echo ready; while :; do sleep 0.05; done';
    const { lines } = await finish(script(polite, { graceMs: 300_000 }), 'ready');
    expect(lines).toEqual(['ready', 'bye']);
  });

  test('that ignores SIGINT and SIGTERM is killed', async () => {
    const stubborn = 'trap "" INT TERM; echo ready; while :; do sleep 0.2; done';
    const { exit, mark, ms } = await finish(script(stubborn, { graceMs: 200 }), 'ready');
    expect(exit).toEqual({ kind: 'aborted', reason: 'enough' });
    expect(marked(mark)).toEqual([]);
    expect(ms).toBeGreaterThan(200);
  });

  test('takes its daemons along', async () => {
    const { mark } = await finish(script(`${DAEMON}; echo ready; exec sleep 300`), 'ready');
    expect(marked(mark)).toEqual([]);
  });

  test('takes along a child with a clean environment in a session of its own', async () => {
    const text = `env -i setsid sh -c 'echo $$; echo ready; exec sleep 300' & wait`;
    const { lines } = await finish(script(text), 'ready');
    expect(lives(lines[0])).toBe(false);
  });

  test('takes its daemons along when a time limit aborts it', async () => {
    const command = script(`${DAEMON}; exec sleep 300`);
    const exit = await run(command, AbortSignal.timeout(300));
    expect(exit).toMatchObject({ kind: 'aborted', reason: { name: 'TimeoutError' } });
    expect(marked(command.mark ?? '')).toEqual([]);
  });

  test('without a mark still takes its process group along', async () => {
    const text = 'sleep 300 & echo $!; echo ready; wait';
    const { lines } = await finish(script(text, { mark: null }), 'ready');
    expect(lives(lines[0])).toBe(false);
  });
});

describe('a program that cannot be started', () => {
  async function problemOf(command: Run): Promise<string> {
    const error = await run(command, new AbortController().signal).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(SpawnError);
    return (error as SpawnError).problem;
  }

  test('is missing', async () => {
    expect(await problemOf(script('', { file: 'no-such-program' }))).toBe('no-program');
  });

  test('is not executable', async () => {
    await using dir = await tempDir();
    await dir.write({ plain: 'text' });
    await chmod(join(dir.path, 'plain'), 0o644);
    expect(await problemOf(script('', { file: join(dir.path, 'plain') }))).toBe('not-executable');
  });

  test('has no directory to run in', async () => {
    expect(await problemOf(script('', { cwd: '/no/such/folder' }))).toBe('no-directory');
    expect(await problemOf(script('', { cwd: '/etc/passwd' }))).toBe('no-directory');
  });

  test('has too long an argument', async () => {
    const args = ['-c', 'exit 0', 'x'.repeat(3_000_000)];
    expect(await problemOf(script('', { args }))).toBe('arguments-too-long');
  });
});

test('an error in onLine ends the child and is thrown again', async () => {
  const command = script(`${DAEMON}; echo boom; exec sleep 300`, {
    onLine: () => {
      throw new Error('cannot write the transcript');
    },
  });
  await expect(run(command, new AbortController().signal)).rejects.toThrow('transcript');
  expect(marked(command.mark ?? '')).toEqual([]);
});

test('a hundred runs on one signal leave no listeners and no warning', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on('warning', note);
  const { signal } = new AbortController();
  for (let batch = 0; batch < 5; batch++) {
    const runs = Array.from({ length: 20 }, () => run(script('exit 0'), signal));
    expect(await Promise.all(runs)).toEqual(Array(20).fill({ kind: 'exited', code: 0 }));
  }
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', note);
  expect(warnings).toEqual([]);
});
