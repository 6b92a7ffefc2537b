/** Formats that live in Markdown: no text makes them throw, and none takes long. */

import { describe, expect, test } from 'vitest';
import { Random } from '../../../../test/sim/random.ts';
import { planInput } from '../../../../test/support/plan-input.ts';
import { parsePlan } from '../../parse.ts';

const DISPATCH = `# Plan

## Agent Dispatch Manifest

\`\`\`json dispatch
{ "plan_id": "x", "target_branch": "main", "pre_approved": true, "batches": [
  { "id": 1, "type": "fan-out", "description": "Build", "verify_files": ["~/a", "b"],
    "agents": [{ "subagent_type": "code-writer", "prompt": "Do \\"it\\".\\n", "owns_files": ["a"] }] },
  { "id": 2, "parallel": false, "depends_on": [1], "commit_repos": ["."],
    "agents": [{ "agent": "commit", "prompt": "x" }, { "subagent_type": "main", "prompt": "y" }] }
] }
\`\`\`
`;
const TODO = `# Shop
- Plain
  1. [ ] Add users (needs: 2; files: src/{a,b}/**) @codex
     - after: "Set up", 2
     ~~~sh
     echo
     ~~~
  2. [x] Set up
* [ ] Last needs: add-users
`;
const SAMPLES = [
  ['cast-dispatch', DISPATCH],
  ['todo', TODO],
] as const;

function answer(text: string, format: string, split?: number | null) {
  const options = split === undefined ? {} : { split };
  const { plan, problems } = parsePlan(planInput('p.md', text, { options }), format);
  expect(plan === null).toBe(problems.some(({ severity }) => severity === 'error'));
  const lines = text.split(/\r\n|\n|\r/).length;
  expect(problems.every(({ line, column }) => line >= 1 && line <= lines && column >= 1)).toBe(
    true,
  );
  return plan;
}

describe.each(SAMPLES)('%s', (format, sample) => {
  test('the sample is a plan', () => {
    expect(answer(sample, format)).not.toBeNull();
  });

  test('a text with pieces missing, doubled or moved is answered', () => {
    for (let seed = 0; seed < 400; seed += 1) {
      const random = new Random(seed);
      let text: string = sample;
      for (let times = random.between(0, 5); times >= 0; times -= 1) text = damaged(text, random);
      answer(text, format);
      answer(text, format, random.between(0, 3));
    }
  });

  test('bytes of any kind are answered', () => {
    for (let seed = 0; seed < 100; seed += 1) {
      const random = new Random(seed);
      const bytes = Array.from({ length: random.between(0, 399) }, () => random.between(0, 255));
      const text = Buffer.from(bytes).toString('utf8');
      answer(text, format);
      answer(`\`\`\`json dispatch\n${text}`, format);
      answer(`- [ ] ${text}`, format);
    }
  });

  test('a plan comes out the same each time', () => {
    expect(answer(sample, format)).toEqual(answer(sample, format));
  });
});

/** The text with a piece removed, repeated, or put elsewhere. */
function damaged(text: string, random: Random): string {
  const [from, size, to] = [text.length, 40, text.length].map((n) => random.between(0, n));
  const piece = text.slice(from!, from! + size!);
  const without = text.slice(0, from!) + text.slice(from! + size!);
  switch (random.between(0, 3)) {
    case 0:
      return without;
    case 1:
      return text.slice(0, to!) + piece + text.slice(to!);
    case 2:
      return without.slice(0, to!) + piece + without.slice(to!);
    default: {
      const mark = '"\'`~[]{}(),;:@#-*\\\n\r\t \0\u2028é'[random.between(0, 25)] ?? '';
      return text.slice(0, to!) + mark + text.slice(to!);
    }
  }
}

describe('texts of megabytes are answered, whatever they repeat', () => {
  const SIZE = 7_900_000;
  const fill = (piece: string): string => piece.repeat(Math.floor(SIZE / piece.length));
  const block = (json: string): string => `\`\`\`json dispatch\n${json}`;
  const batch = '{"id":1,"agents":[{"agent":"a","prompt":"x"}]},';
  const owned = (k: number): string =>
    Array.from({ length: 50_000 }, (_, i) => `"s/${k}/${i}*"`).join(',');
  const agents = [0, 1].map((k) => `{"agent":"a","prompt":"x","owns_files":[${owned(k)}]}`);
  test.each([
    ['cast-dispatch', 'batches', block(`{"batches":[${fill(batch)}`)],
    ['cast-dispatch', 'brackets', block(fill('['))],
    ['cast-dispatch', 'keys', block(`{${fill('"k":0,')}`)],
    ['cast-dispatch', 'a string', block(`{"plan_id": "${fill('x\\n')}"}`)],
    ['cast-dispatch', 'blocks', fill('```json dispatch\n{}\n```\n')],
    ['cast-dispatch', 'back-ticks', fill('`')],
    [
      'cast-dispatch',
      'owners',
      block(`{"batches":[{"id":1,"parallel":true,"agents":[${agents}]}]}`),
    ],
    ['todo', 'items', fill('- [ ] a\n')],
    ['todo', 'headings', fill('# a\n')],
    ['todo', 'hints on one line', `- [ ] a ${fill('needs: a ')}`],
    ['todo', 'hints on many', `- [ ] a\n${fill('  - needs: "a, \n')}`],
    ['todo', 'mentions', `- [ ] a ${fill('@a ')}`],
    ['todo', 'marks behind a title', `- [ ] a${fill(' -,')}x`],
    ['todo', 'marks behind a heading', `# a${fill(' #')}x`],
    [
      'todo',
      'indentation',
      Array.from({ length: 3_900 }, (_, i) => `${' '.repeat(i)}- x`).join('\n'),
    ],
  ])('%s: %s', (format, _, text) => {
    answer(text, format);
  });

  test('and more than that is refused at once', () => {
    for (const [format, sample] of SAMPLES) {
      const { problems } = parsePlan(planInput('p.md', sample + ' '.repeat(10_000_000)), format);
      expect(problems[0]?.message).toContain('too large');
    }
  });
});
