/** Reading the end of a file that others write. */

import { spawn } from 'node:child_process';
import { appendFileSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { followFile, readTail } from '../../src/journal/tail.ts';
import { tempState } from './support.ts';

const signal = new AbortController().signal;

test('only whole lines of the end are given, and where they end', async () => {
  using temp = tempState();
  const file = join(temp.dir, 'x.log');
  writeFileSync(file, 'first\nsecond\nthird\nunfin');
  const tails = await Promise.all([1000, 18, 13, 12, 11, 5].map((n) => readTail(file, n, signal)));

  expect(tails).toEqual([
    { lines: ['first', 'second', 'third'], end: 19 },
    { lines: ['second', 'third'], end: 19 },
    { lines: ['third'], end: 19 },
    { lines: ['third'], end: 19 },
    { lines: ['third'], end: 19 },
    { lines: [], end: 19 },
  ]);
});

test('a file of one endless line, an empty and a missing one have no lines', async () => {
  using temp = tempState();
  const [endless, empty] = [join(temp.dir, 'endless'), join(temp.dir, 'empty')];
  writeFileSync(endless, 'x'.repeat(1000));
  writeFileSync(empty, '');

  expect([
    (await readTail(endless, 100, signal)).lines,
    await readTail(empty, 100, signal),
    await readTail(join(temp.dir, 'missing'), 100, signal),
  ]).toEqual([[], { lines: [], end: 0 }, { lines: [], end: 0 }]);
});

test('the end of a large file is found without reading it whole', async () => {
  using temp = tempState();
  const file = join(temp.dir, 'large');
  const line = `${'ü'.repeat(500)}\n`;
  writeFileSync(file, line.repeat(20_000));

  const { lines, end } = await readTail(file, 200_000, signal);

  expect([new Set(lines), lines.length, end]).toEqual([
    new Set(['ü'.repeat(500)]),
    Math.floor(200_000 / 1001),
    1001 * 20_000,
  ]);
});

test('a file is followed from before it exists, by whole lines, whichever process writes it', async () => {
  using temp = tempState();
  const file = join(temp.dir, 'x.log');
  const stop = new AbortController();
  const lines = followFile(file, 0, stop.signal);
  const first = lines.next();
  // A process of its own, which writes a line in two halves.
  spawn('sh', ['-c', 'printf "one\\ntw"; sleep 0.3; printf "o\\nthree\\n"'], {
    stdio: ['ignore', openSync(file, 'a'), 'inherit'],
  });

  expect([(await first).value, (await lines.next()).value, (await lines.next()).value]).toEqual([
    'one',
    'two',
    'three',
  ]);
  const end = lines.next();
  stop.abort();
  expect(await end).toEqual({ done: true, value: undefined });
});

test('a tail is followed without a line twice or lost', async () => {
  using temp = tempState();
  const file = join(temp.dir, 'x.log');
  writeFileSync(file, 'a\nb\nunfin');
  const { lines, end } = await readTail(file, 1000, signal);
  appendFileSync(file, 'ished\nc\n');
  const stop = new AbortController();
  const following = followFile(file, end, stop.signal);

  expect([...lines, (await following.next()).value, (await following.next()).value]).toEqual([
    'a',
    'b',
    'unfinished',
    'c',
  ]);
  await following.return();
});

test('a file that is truncated is read from its start', async () => {
  using temp = tempState();
  const file = join(temp.dir, 'x.log');
  writeFileSync(file, 'a long first line\n');
  const stop = new AbortController();
  const lines = followFile(file, 0, stop.signal);
  const first = await lines.next();
  const second = lines.next();
  writeFileSync(file, 'new\n');

  expect([first.value, (await second).value]).toEqual(['a long first line', 'new']);
  await lines.return();
});

test('a large file is followed completely, beyond what is read at once', async () => {
  using temp = tempState();
  const file = join(temp.dir, 'x.log');
  const expected = Array.from({ length: 30_000 }, (_, n) => `zeile ü ${n}`);
  writeFileSync(file, `${expected.join('\n')}\n`);
  const lines: string[] = [];
  for await (const line of followFile(file, 0, signal)) {
    lines.push(line);
    if (lines.length === expected.length) break;
  }

  expect(lines).toEqual(expected);
});
