/**
 * Hostile texts, for every format and for none: each is answered, in bounded time and
 * memory. They are read in a thread with a small heap, which ends if that is not enough.
 */

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FORMATS } from '../../src/plan/formats/index.ts';
import { Random } from '../sim/random.ts';
import type { Answer, Question } from '../support/parse-worker.ts';

/** A second of an idle machine, which a busy one with slower cores may need five for. */
const MOST_MS = 5_000;
/** The texts have 8 MB, which the program refuses to exceed. */
const HEAP_MB = 512;
const SIZE = 8_300_000;

let worker: Worker;
beforeAll(() => {
  worker = new Worker(new URL('../support/parse-worker.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  });
});
afterAll(async () => {
  await worker.terminate();
});

async function read(question: Question): Promise<Answer> {
  worker.postMessage(question);
  const [answer] = (await once(worker, 'message')) as [Answer];
  return answer;
}

/** For each format the beginning of a text, to be followed by anything, and its end. */
const AROUND: Readonly<Record<string, readonly [string, string]>> = {
  native: ['landfast: 1\ntasks: [{ id: a, prompt: x }]\n', ''],
  'po-manifest': [
    '---\npo_plan_version: "0.1"\nname: x\ncwd: .\ntasks: [{ id: a, agent: d, read_only: yes }]\n',
    '\n---\n',
  ],
  'task-config': ['tasks: [{ id: a, title: x, branch: b, description: c }]\n', ''],
  'cast-dispatch': ['```json dispatch\n', '\n```\n'],
  cpo: ['', ''],
  todo: ['- [ ] a\n', ''],
};

const fill = (piece: string): string => piece.repeat(Math.floor(SIZE / piece.length));
const lines = (count: number, line: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => line(n)).join('\n');
const tenTimes = (text: string): string => Array.from({ length: 10 }, () => text).join(', ');

const HOSTILE: readonly (readonly [string, string])[] = [
  ['a million bytes', bytes(0)],
  ['a million bytes without NUL', bytes(1)],
  ['a million printable signs', bytes(32, 126)],
  ['an alias bomb', lines(12, (n) => `k${n}: &a${n} [${n === 0 ? 'x' : tenTimes(`*a${n - 1}`)}]`)],
  [
    'a bomb of merges',
    lines(40, (n) => `k${n}: &a${n} { <<: [*a${n - 1}, *a${n - 1}], b${n}: 1 }`),
  ],
  ['one alias without end', `x: &a b\ny: [${fill('*a,')}]`],
  ['20,000 unknown keys', lines(20_000, (n) => `k${n}: ${n}`)],
  ['500,000 of them', lines(500_000, (n) => `k${n}: ${n}`)],
  ['a key again and again', fill('k: 1\n')],
  ['flow lists', `x: ${fill('[')}`],
  ['flow lists that are closed', `x: ${'['.repeat(20_000)}${']'.repeat(20_000)}`],
  ['flow mappings', `x: ${fill('{a: ')}`],
  ['block mappings', lines(3_900, (n) => `${' '.repeat(n)}a:`)],
  ['block lists', `x:\n${'- '.repeat(500_000)}`],
  ['items of a flow list', `x: [${fill('a,')}]`],
  ['items of a block list', `x:\n${fill('- a\n')}`],
  ['a line', `x: ${fill('x')}`],
  ['a text in quotes', `x: "${fill('x\\n')}"`],
  ['a text of many lines', `x: |\n${fill('  twenty signs are here\n')}`],
  ['a text that goes on and on', `x: ${fill('twenty signs are here\n  ')}`],
  ['comments', fill('#\n')],
  ['line breaks', fill('\n')],
  ['carriage returns', `${fill('\r')}x`],
  ['blanks', `x:${fill(' ')}y`],
  ['tabs', fill('\t')],
  ['colons', fill('a: ')],
  ['question marks', fill('? ')],
  ['directives', fill('%a\n')],
  ['documents', fill('---\n')],
  ['lists in lists', lines(3_900, (n) => `${' '.repeat(n)}- [ ] x`)],
  ['lists on one line', fill('- ')],
  ['quotes in quotes', `${fill('> ')}- [ ] x`],
  ['fences', fill('```\n')],
  ['fences of two kinds', fill('~~~\n```\n')],
  ['fences in lists', lines(3_900, (n) => `${' '.repeat(n)}\`\`\``)],
  ['back-ticks', fill('`')],
  ['headings', fill('# a\n')],
  ['JSON lists', fill('[')],
  ['JSON objects', fill('{"a":')],
  ['JSON numbers', `[${fill('1,')}1]`],
  [
    'JSON with 20,000 keys',
    `{${lines(20_000, (n) => `"k${n}": ${n},`)}"waves": [], "batches": []}`,
  ],
  ['batches', `{"batches":[${fill('{"id":1,"agents":[{"agent":"a","prompt":"x"}]},')}{}]}`],
  ['waves', `{"waves":[${fill('{"number":1,"tasks":[{"id":"task-001"}]},')}{}]}`],
];

/** A million of them, from a range, as when a binary file is read as text. */
function bytes(from: number, to = 255): string {
  const random = new Random(from + to);
  return Buffer.from(Array.from({ length: 1_000_000 }, () => random.between(from, to))).toString();
}

describe.each(FORMATS.map(({ name }) => name))('%s', (format) => {
  const [before, after] = AROUND[format]!;

  test.each(HOSTILE)('answers %s in time and memory', async (_, hostile) => {
    const { ms, isPlan, error } = await read({ text: `${before}${hostile}${after}`, format });
    expect(isPlan).toBe(error === null);
    expect(ms).toBeLessThan(MOST_MS);
  });
});

test.each(HOSTILE)('of unnamed format: %s', async (_, text) => {
  const { ms, isPlan, error } = await read({ text, format: null });
  expect(isPlan).toBe(error === null);
  expect(ms).toBeLessThan(MOST_MS);
});

test('a file of 10 MB is refused at once', async () => {
  const answer = await read({ text: `landfast: 1\nname: ${'x'.repeat(10_000_000)}`, format: null });
  expect(answer).toMatchObject({ isPlan: false, error: 'the file is too large for a plan' });
  expect(answer.ms).toBeLessThan(MOST_MS / 10);
});
