/** Manifests as people write them, and broken texts: all are answered in time. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { poManifest } from '../../src/plan/formats/foreign/po/po-manifest.ts';
import type { ParsedPlan } from '../../src/plan/formats/format.ts';
import { formatProblem } from '../../src/plan/problem.ts';
import { Random } from '../sim/random.ts';
import { planInput } from '../support/plan-input.ts';

const folder = join(import.meta.dirname, '..', 'fixtures', 'plans', 'po-manifest');
const names = readdirSync(folder);
const textOf = (name: string): string => readFileSync(join(folder, name), 'utf8');

/** Notes about relatives of the tool; nothing else may be said of a good file. */
const NOTES: Readonly<Record<string, readonly string[]>> = {
  'predecessor.md': ['clade_plan_version is the key of'],
  'successor.md': ['its tasks run one at a time', 'model is a key of'],
};

function parse(text: string): ParsedPlan {
  const input = planInput('plan.md', text, { directory: '.claude/reports' });
  return poManifest.parse(input);
}

test.each(names)('%s is read without surprises', (name) => {
  const { plan, problems } = parse(textOf(name));
  const notes = NOTES[name] ?? [];
  expect(problems.map(formatProblem)).toEqual(notes.map((note) => expect.stringContaining(note)));
  expect(plan?.tasks.length).toBeGreaterThan(0);
  expect(poManifest.detect({ path: name, text: textOf(name) })).not.toBeNull();
});

/** An answer: a plan without errors, or errors without a plan, each at a place of the text. */
function expectAnswer(text: string): void {
  const { plan, problems } = parse(text);
  const errors = problems.filter(({ severity }) => severity === 'error');
  expect(plan === null).toBe(errors.length > 0);
  expect(problems.filter(({ line, column }) => line < 1 || column < 1)).toEqual([]);
}

describe('no text makes it throw', () => {
  test.each(names)('%s with parts cut, doubled, moved and changed', (name) => {
    const text = textOf(name);
    const random = new Random(names.indexOf(name) + 1);
    for (let n = 0; n < 60; n += 1) expectAnswer(mutated(text, random));
  });

  test.each([
    ['deep nesting', `${'['.repeat(20_000)}${']'.repeat(20_000)}`],
    ['an alias bomb', bomb()],
    ['a long line', `name: ${'x'.repeat(4_000_000)}`],
    ['many keys', Array.from({ length: 20_000 }, (_, n) => `k${n}: ${n}`).join('\n')],
  ])('%s', (_, yaml) => {
    expectAnswer(`---\npo_plan_version: "0.1"\n${yaml}\n---\n`);
  });
});

const PIECES = [
  '---\n',
  ': ',
  '- ',
  '\n',
  '\0',
  '\t',
  '{',
  ']',
  '&a ',
  '*a ',
  '!x ',
  '"',
  '\u2028',
  '0x',
  '~',
];

function mutated(text: string, random: Random): string {
  const at = random.between(0, text.length - 1);
  const end = Math.min(text.length, at + random.between(1, 40));
  const part = text.slice(at, end);
  const [before, after] = [text.slice(0, at), text.slice(end)];
  return random.pick([
    before + after,
    before + part + part + after,
    after + before,
    before + random.pick(PIECES) + part + after,
    before + [...part].reverse().join('') + after,
  ]);
}

function bomb(): string {
  const levels = Array.from({ length: 12 }, (_, n) => {
    const items = n === 0 ? '"x"' : Array.from({ length: 10 }, () => `*a${n - 1}`).join(', ');
    return `k${n}: &a${n} [${items}]`;
  });
  return levels.join('\n');
}
