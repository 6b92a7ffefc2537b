/**
 * Running parallel-orchestra manifests: order, overlap, retries, time limits, and how an agent's
 * end is understood. Read-only tasks outside of git do for all of it, so tests may run together.
 */

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { processList } from '../../src/process/process-list.ts';
import { bareEnv, type Ended, Running } from '../support/landfast.ts';
import { TOO_SHORT, withLimit } from '../support/time-limit.ts';
import { type Folder, manifest, poFolder, timeless, until } from './po-project.ts';

describe.concurrent('attempts', () => {
  // Keep. That a skipped task is not called failed is a fix.
  test('PO-38: what needs a failed task is skipped to the end, the others run', async () => {
    const tasks = `
  - { id: a, agent: breaker, read_only: true, max_retries: 0 }
  - { id: b, agent: talker, read_only: true, depends_on: [a] }
  - { id: c, agent: talker, read_only: true, depends_on: [b] }
  - { id: d, agent: loner, read_only: true }
`;
    const agents = { breaker: 'exit 1', talker: 'echo done', loner: 'echo done' };
    await using place = await poFolder(manifest(tasks), agents);

    const ended = await place.run();

    expect(ended.code).toBe(1);
    expect(timeless(ended)).toEqual([
      '[fail] a (breaker) duration=? returncode=1 category=transient',
      '[skip] b (talker) skipped: needs a',
      '[skip] c (talker) skipped: needs b',
      '[ok] d (loner) duration=? returncode=0',
    ]);
    expect([...(await place.calls())].sort()).toEqual(['breaker', 'loner']);
  });

  // Keep.
  test('PO-40: three independent tasks run at the same time', async () => {
    const tasks = ['a', 'b', 'c'].map((id) => `  - { id: ${id}, agent: ${id}, read_only: true }\n`);
    const meet = (name: string): string => `
touch "$OUT/${name}-is-here"
${until('[ -e "$OUT/a-is-here" ] && [ -e "$OUT/b-is-here" ] && [ -e "$OUT/c-is-here" ]')}`;
    const agents = { a: meet('a'), b: meet('b'), c: meet('c') };
    await using place = await poFolder(manifest(tasks.join('')), agents);

    const ended = await place.run('--max-workers', '3');

    expect(ended.code).toBe(0);
    expect([...(await place.calls())].sort()).toEqual(['a', 'b', 'c']);
  });

  // Keep.
  test('PO-53: words about limits on standard error are a rate limit and retried', async () => {
    const words = [
      ...['rate limit exceeded', 'RATE LIMIT', 'rate_limit', 'Rate-Limit'],
      ...['quota exceeded', 'quota exhausted'],
    ];
    const tasks = words.map((_, n) => `  - { id: t${n}, agent: says${n}, read_only: true }\n`);
    const agents = Object.fromEntries(
      words.map((text, n) => [`says${n}`, `echo 'API error: ${text}' >&2\nexit 1`]),
    );
    await using place = await poFolder(manifest(tasks.join('')), agents);

    const ended = await place.run('--max-workers', '6');

    expect(ended.code).toBe(1);
    expect(timeless(ended)).toEqual(
      words.map(
        (_, n) => `[fail] t${n} (says${n}) duration=? returncode=1 retries=1 category=rate_limited`,
      ),
    );
  });

  // Keep.
  test('PO-55: code 1 without a word is transient', async () => {
    const plan = manifest('  - { id: a, agent: silent, read_only: true, max_retries: 0 }\n');
    await using place = await poFolder(plan, { silent: 'exit 1' });

    const ended = await place.run();

    expect(timeless(ended)).toEqual([
      '[fail] a (silent) duration=? returncode=1 category=transient',
    ]);
  });

  // Keep.
  test('PO-56: two retries follow after one second and after two', async () => {
    const plan = manifest('  - { id: a, agent: breaker, read_only: true, max_retries: 2 }\n');
    await using place = await poFolder(plan, { breaker: 'exit 1' });

    const ended = await place.run('--report', join(place.outside, 'r.json'));

    expect(timeless(ended)).toEqual([
      '[fail] a (breaker) duration=? returncode=1 retries=2 category=transient',
    ]);
    expect(await place.calls()).toEqual(['breaker', 'breaker', 'breaker']);
    // A busy machine is late, never early.
    expect(gapsOf(await place.read('r.json')).map((gap) => Math.floor(gap + 0.05))).toEqual([1, 2]);
  });

  // Keep.
  test('PO-58: a last line that says FAILED fails the attempt whatever the exit code', async () => {
    const plan = manifest('  - { id: a, agent: honest, read_only: true }\n');
    const line = '{"status": "FAILED", "cycles": 3, "reason": "X"}';
    await using place = await poFolder(plan, { honest: `echo working\necho '${line}'` });

    const ended = await place.run();

    expect(ended.code).toBe(1);
    expect(timeless(ended)).toEqual([
      '[fail] a (honest) duration=? returncode=1 retries=1 category=transient ' +
        'status=FAILED cycles=3 reason=X',
    ]);
    expect(await place.calls()).toEqual(['honest', 'honest']);
  });

  // Keep.
  test('PO-59: the status of a good last line is told, its report by its base name', async () => {
    const plan = manifest('  - { id: a, agent: proud, read_only: true }\n');
    const line = '{"status": "SUCCESS", "cycles": 2, "report": "x/y/z.md"}';
    await using place = await poFolder(plan, { proud: `echo working\necho '${line}'\necho` });

    const ended = await place.run();

    expect(ended.code).toBe(0);
    expect(timeless(ended)).toEqual([
      '[ok] a (proud) duration=? returncode=0 status=SUCCESS cycles=2 report=z.md',
    ]);
  });

  // Keep.
  test('PO-61: a task out of time is not retried, and its last 20 lines are shown', () =>
    withLimit(1_000, async (limitMs) => {
      const plan = manifest('  - { id: a, agent: slow, read_only: true }\n');
      const slow = 'seq -f "line %g" 30\necho x > "$OUT/printed"\nexec sleep 600';
      await using place = await poFolder(plan, { slow });

      const ended = await runLimited(place, limitMs);

      expect(ended.code).toBe(1);
      expect(timeless(ended)).toEqual([
        '[timeout] a (slow) duration=? returncode=None (total timeout) category=timeout',
      ]);
      if ((await place.read('printed')) === '') return TOO_SHORT;
      expect(await place.calls()).toEqual(['slow']);
      const tail = ended.stderr.split('\n').filter((line) => line.startsWith('  > '));
      expect(tail).toEqual(Array.from({ length: 20 }, (_, n) => `  > line ${n + 11}`));
      return null;
    }));

  // Fix: the verdict came only when the grandchild ended by itself.
  test('PO-62: a grandchild that holds the output open does not outlive its task', () =>
    withLimit(1_000, async (limitMs) => {
      const plan = manifest('  - { id: a, agent: parent, read_only: true }\n');
      const parent = 'sleep 600 &\necho $! > "$OUT/grandchild"\nexec sleep 600';
      await using place = await poFolder(plan, { parent });

      const ended = await runLimited(place, limitMs);

      const seconds = Number(/duration=([\d.]+)/.exec(ended.stdout)?.[1]);
      expect(ended.stdout).toMatch(/^\[timeout\] a \(parent\) .*category=timeout$/m);
      expect(seconds).toBeGreaterThan(limitMs / 1_000 - 0.1);
      expect(seconds).toBeLessThan(300);
      if ((await place.read('grandchild')) === '') return TOO_SHORT;
      expect(isAlive(Number(await place.read('grandchild')))).toBe(false);
      return null;
    }));

  // Keep.
  test('PO-73: a group of one lets its tasks through one at a time', async () => {
    const tasks = ['a', 'b', 'c'].map(
      (id) => `  - { id: ${id}, agent: ${id}, read_only: true, concurrency_group: db }\n`,
    );
    const alone = 'mkdir "$OUT/taken" || exit 7\nsleep 0.2\nrmdir "$OUT/taken"';
    const plan = manifest(tasks.join(''), 'concurrency_limits: { db: 1 }\n');
    await using place = await poFolder(plan, { a: alone, b: alone, c: alone });

    const ended = await place.run('--max-workers', '3');

    expect(timeless(ended)).toEqual([
      '[ok] a (a) duration=? returncode=0',
      '[ok] b (b) duration=? returncode=0',
      '[ok] c (c) duration=? returncode=0',
    ]);
  });
});

/** Seconds from the end of each attempt to the start of the next, from a report. */
function gapsOf(report: string): readonly number[] {
  const { attempts } = JSON.parse(report).tasks[0] as {
    attempts: readonly { started_at: string; finished_at: string }[];
  };
  return attempts
    .slice(1)
    .map(
      ({ started_at: start }, n) =>
        (Date.parse(start) - Date.parse(attempts[n]?.finished_at ?? '')) / 1000,
    );
}

/** Runs the manifest with another time limit than its fixed one. */
function runLimited({ dir, outside, claude }: Folder, ms: number): Promise<Ended> {
  const script = join(import.meta.dirname, 'po-limited.ts');
  const child = spawn(process.execPath, [script, String(ms), 'plan.md', claude], {
    cwd: dir,
    env: bareEnv(outside),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return new Running(child).ended;
}

/** A zombie does not live, and the table does not hold it. */
function isAlive(pid: number): boolean {
  expect(pid).toBeGreaterThan(0);
  return processList().some((entry) => entry.pid === pid);
}
