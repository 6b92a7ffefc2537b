/** Malformed directories: no text makes the format throw or think for long. */

import { expect, test } from 'vitest';
import { Random } from '../../../../../test/sim/random.ts';
import { manifest, readDirectory, taskFile } from '../../../../../test/support/cpo-directory.ts';

const WAVES = [['task-001', 'task-002'], ['task-003']];
const GRAPH = '```mermaid\nflowchart TB\nt1[task-001] --> t3[task-003]\nt2 & t1 -.-> t3\n```\n';
const SCOPE = 'CREATE: a/{x,y}.py, b/*.py (new)\n**MODIFY**:\n- `c.py::User` - some\nBOUNDARY: []';
const FILES = {
  'tasks/task-001.md': taskFile('task-001', 'deps: []\nblocks: [task-003]', SCOPE),
  'tasks/task-002.md': taskFile('task-002', 'deps: []\nwave: 1', 'CREATE: d.py'),
  'tasks/task-003.md': taskFile('task-003', 'deps: [task-001]\ncontracts: [contracts/a.py]'),
  'task-graph.md': GRAPH,
  'context.md': 'A shop.',
  'contracts/a.py': 'x = 1',
};
const PIECES = [
  '{',
  '}',
  '[',
  ']',
  '"',
  ',',
  ':',
  '\n',
  '---',
  '- ',
  '::',
  '`',
  '#',
  '*',
  '\u0000',
  'é',
  '\\',
];

test('whatever is changed in the files, there is a plan or an error, and never a crash', () => {
  const random = new Random(7);
  const mutated = (text: string): string => {
    const at = random.between(0, text.length);
    const end = random.chance(0.5) ? at : random.between(at, Math.min(text.length, at + 20));
    return text.slice(0, at) + random.pick(PIECES) + text.slice(end);
  };
  const outcomes = new Set<boolean>();
  for (let round = 0; round < 400; round += 1) {
    const text = JSON.stringify(manifest(...WAVES), null, 2);
    const entries = Object.entries(FILES).map(([name, content]) => {
      return [name, random.chance(0.3) ? mutated(content) : content] as const;
    });
    const given = random.chance(0.5) ? mutated(text) : text;
    const { plan, problems } = readDirectory(given, Object.fromEntries(entries));
    expect(plan === null).toBe(problems.some((line) => line.includes(': error: ')));
    outcomes.add(plan === null);
  }
  expect(outcomes).toEqual(new Set([true, false]));
});

/** Enough that a square of it would never end: the time limit of a test is the assertion. */
const LONG = 2_000_000;

test.each([
  ['blanks behind a heading', `## ${' '.repeat(LONG)}x`],
  ['a heading of blanks', `##${' '.repeat(LONG)}`],
  ['blanks in a list', `CREATE: a${' '.repeat(LONG)}b`],
  ['commas', `CREATE: ${'a,'.repeat(LONG / 2)}`],
  ['open braces', `CREATE: ${'{'.repeat(LONG)}`],
  ['many entries', `CREATE:\n${'- a.py\n'.repeat(LONG / 10)}`],
])('a task file with endless %s is answered in a moment', (_, scope) => {
  const { format } = readDirectory(manifest(['task-001']), {
    'tasks/task-001.md': taskFile('task-001', '', scope),
  });

  expect(format).toBe('cpo');
});

test.each([
  ['a word', `\`\`\`mermaid\ngraph LR\n${'a'.repeat(LONG)}\n\`\`\``],
  ['arrows', `\`\`\`mermaid\ngraph LR\n${'a --> '.repeat(LONG / 6)}\n\`\`\``],
  [
    'lines',
    `\`\`\`mermaid\ngraph LR\n${'a[task-001] --> b[task-002]\n'.repeat(LONG / 30)}\n\`\`\``,
  ],
])('a graph with endless %s is answered in a moment', (_, graph) => {
  const { plan } = readDirectory(manifest(['task-001']), {
    'prompts/task-001.txt': 'x',
    'task-graph.md': graph,
  });

  expect(plan).not.toBeNull();
});

test('two hundred tasks that all depend on each other are answered in a moment', () => {
  const ids = (from: number) => Array.from({ length: 100 }, (_, i) => `task-${from + i}`);
  const deps = `deps: [${ids(1000).join(', ')}]`;
  const files = [
    ...ids(1000).map((id) => [
      `tasks/${id}.md`,
      taskFile(id, `deps: []\nblocks: []`, `CREATE: ${id}/*.py`),
    ]),
    ...ids(2000).map((id) => [`tasks/${id}.md`, taskFile(id, deps, `CREATE: ${id}/**`)]),
  ];
  const { plan } = readDirectory(manifest(ids(1000), ids(2000)), Object.fromEntries(files));

  expect(plan?.tasks).toHaveLength(200);
});
