/**
 * The stream benchmark, made small: every event arrives, and one that does not is caught. How far
 * status may be behind is for the benchmark itself to judge, on a machine that runs nothing else.
 */

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import {
  engineLags,
  fullHouse,
  journalLags,
  type Kept,
  lossOf,
  numbered,
  shareBetween,
  spreadOf,
  statusLags,
  totalLoss,
} from '../../bench/stream-figures.ts';
import type { Sightings } from '../../bench/stream-follower.ts';
import { isWhole } from '../support/seeds.ts';
import { tempDir } from '../support/temp-dir.ts';

const STREAM = join(import.meta.dirname, '..', '..', 'bench', 'stream.ts');
const NUMBER = expect.any(Number);
const SPREAD = { count: NUMBER, p50: NUMBER, p95: NUMBER, max: NUMBER };
const execute = promisify(execFile);
const slowTest = test.runIf(isWhole);

slowTest('five agents speak for two seconds, and no event is lost', async ({ signal }) => {
  await using dir = await tempDir();
  const json = join(dir.path, 'results', 'five.json');
  const sizes = ['--agents', '5', '--seconds', '2', '--max-lag', '20000'];

  const args = [STREAM, ...sizes, '--dir', dir.path, '--json', json];
  const { stdout } = await execute(process.execPath, args, { signal });

  expect(stdout).toContain('5 agents, 20 events a second each, for 2 s: 200 events');
  expect(stdout).toMatch(/^raw logs +0 +0\ntranscripts +0 +0$/m);
  const { figures } = JSON.parse(await readFile(json, 'utf8'));
  expect(figures).toEqual({
    events: 200,
    stdout: { lost: 0, misplaced: 0 },
    transcript: { lost: 0, misplaced: 0 },
    engineLagMs: { ...SPREAD, count: 200 },
    statusLagMs: { ...SPREAD, count: 140 }, // The end of a tool has no words in status.
    journalLagMs: SPREAD,
    wallMs: NUMBER,
    cpuMs: NUMBER,
    peakKb: NUMBER,
    cpuShare: figures.fullHouseMs > 500 ? NUMBER : figures.cpuShare,
    fullHouseMs: NUMBER,
  });
});

slowTest('a status that is behind by more than the limit fails', async ({ signal }) => {
  await using dir = await tempDir();
  const sizes = ['--agents', '1', '--seconds', '1', '--max-lag', '1'];
  const json = join(dir.path, 'one.json');

  const args = [STREAM, ...sizes, '--dir', dir.path, '--json', json];
  const failed = execute(process.execPath, args, { signal });

  await expect(failed).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/bench: status was \d+ ms behind, more than 1\n/),
  });
});

test('a wrong option is refused before anything runs', async ({ signal }) => {
  const failed = execute(process.execPath, [STREAM, '--agents', '0'], { signal });
  await expect(failed).rejects.toMatchObject({
    code: 2,
    stderr: 'bench: --agents wants a whole number from 1, not 0\n',
  });
});

test('an event that is lost, doubled, late or foreign is counted', () => {
  const loss = (...names: string[]) => lossOf(numbered(names), 4);
  const [one, two, three, four] = ['event 1 at 1', 'event 2 at 2', 'event 3 at 3', 'event 4 at 4'];
  expect(loss(one, two, three, four)).toEqual({ lost: 0, misplaced: 0 });
  expect(loss(one, two, four)).toEqual({ lost: 1, misplaced: 0 });
  expect(loss(one, two, two, three, four)).toEqual({ lost: 0, misplaced: 1 });
  expect(loss(one, three, two, four)).toEqual({ lost: 0, misplaced: 1 });
  expect(loss(one, 'half a li', two, 'event 5 at 5')).toEqual({ lost: 2, misplaced: 2 });
  const both = [loss(one), loss(one, one)];
  expect(totalLoss(both)).toEqual({ lost: 6, misplaced: 1 });
});

const KEPT: Kept = {
  task: 'a',
  stdout: [1000, 1050, 1100, 1150].map((at, index) => ({ number: index + 1, at, filed: null })),
  transcript: numbered([
    line(1001, { type: 'session', id: 's', model: 'event 1 at 1000' }),
    line(1052, { type: 'text', text: 'event 2 at 1050' }),
    line(1103, { type: 'tool.end', id: 't', ok: true, output: 'event 3 at 1100' }),
    line(1154, { type: 'result', ok: true, text: 'event 4 at 1150' }),
  ]),
};

function line(at: number, event: object): string {
  return JSON.stringify({ at, event });
}

function seen(parts: Partial<Sightings>): Sightings {
  return { run: 'r', entries: [], frames: [], ...parts };
}

test('status is behind an event until it shows that one or a later one', () => {
  const frames = [
    { seenAt: 1020, actions: { b: 'event 9 at 900' } },
    { seenAt: 1200, actions: { a: 'event 2 at 1050' } },
    { seenAt: 1400, actions: { a: 'finishing' } },
  ];
  expect(engineLags([KEPT])).toEqual([1, 2, 3, 4]);
  expect(statusLags([KEPT], seen({ frames }))).toEqual([200, 150, 250]);
  expect(statusLags([KEPT], seen({ frames: frames.slice(0, 2) }))).toEqual([
    ...[200, 150],
    Number.POSITIVE_INFINITY,
  ]);
});

test('the end of an attempt tells of all its events', () => {
  const end = { type: 'attempt.finished', task: 'a', recordedAt: 1290, seenAt: 1300 } as const;
  const frames = [{ seenAt: 1400, actions: { a: 'finishing' } }];
  const sightings = seen({ frames, entries: [end] });
  expect(statusLags([KEPT], sightings)).toEqual([300, 250, 150]);
  expect(journalLags(sightings)).toEqual([10]);
});

test('percentiles are values that occurred', () => {
  const values = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(spreadOf(values)).toEqual({ count: 100, p50: 50, p95: 95, max: 100 });
  expect(spreadOf([7])).toEqual({ count: 1, p50: 7, p95: 7, max: 7 });
});

test('the share of a core is taken while all agents speak', () => {
  const late = { ...KEPT, stdout: KEPT.stdout.map((each) => ({ ...each, at: each.at + 100 })) };
  const window = fullHouse([KEPT, late]);
  expect(window).toEqual({ from: 1100, to: 1150 });
  const samples = [1000, 1100, 1120, 1140, 1200].map((at, index) => {
    return { at, cpuMs: [0, 50, 60, 70, 500][index] ?? 0, peakKb: 1 };
  });
  expect(shareBetween(samples, window)).toBe(0.5);
  expect(shareBetween(samples, { from: 1201, to: 1300 })).toBe(null);
});
