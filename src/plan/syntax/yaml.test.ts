/** YAML with places: values of both dialects, where they stand, and hostile documents. */

import { expect, describe as group, test } from 'vitest';
import { formatProblem, ProblemLog } from '../problem.ts';
import { describe, nodeAt, placeOf, plainValue, readYaml } from './yaml.ts';

function read(text: string, version: '1.1' | '1.2' = '1.2', firstLine = 1) {
  const log = new ProblemLog('f');
  const root = readYaml({ text, firstLine, version }, log);
  return { root, problems: log.sorted().map(formatProblem) };
}

function value(text: string, version: '1.1' | '1.2') {
  const { root, problems } = read(text, version);
  return root === null ? problems : plainValue(root);
}

group('scalars of YAML 1.1 are those of PyYAML', () => {
  test.each([
    ['yes', true],
    ['Off', false],
    ['TRUE', true],
    ['y', 'y'],
    ['n', 'n'],
    ['1e3', '1e3'],
    ['0o7', '0o7'],
    ['1_000', 1000],
    ['010', 8],
    ['-0x1F', -31],
    ['0b11', 3],
    ['08', '08'],
    ['1:30', 90],
    ['1:30.5', 90.5],
    ['+12', 12],
    ['0.1', 0.1],
    ['1.5e+3', 1500],
    ['.5', 0.5],
    ['-.inf', Number.NEGATIVE_INFINITY],
    ['.nan', Number.NaN],
    ['~', null],
    ['', null],
    ['2026-04-29', { date: '2026-04-29' }],
    ['2024-02-29', { date: '2024-02-29' }],
    ['2026-4-9 1:02:03', { date: '2026-4-9 1:02:03' }],
    ['"yes"', 'yes'],
    ['!!str yes', 'yes'],
  ])('%s', (text, expected) => {
    expect(value(`- ${text}`, '1.1')).toEqual([expected]);
  });

  test('a date that is none is a problem, not a crash', () => {
    expect(value('id: 2026-13-45', '1.1')).toEqual([
      'f:1:5: error: not YAML: 2026-13-45 is not a valid date; put it in quotes if it is text',
    ]);
    expect(value('id: 2026-02-29', '1.1')).toHaveLength(1);
  });
});

test('scalars of YAML 1.2 know fewer surprises', () => {
  expect(value('[yes, 010, 1e3, 2026-04-29, 1:30, true]', '1.2')).toEqual([
    'yes',
    10,
    1000,
    '2026-04-29',
    '1:30',
    true,
  ]);
});

group('keys', () => {
  test('given twice: the last wins in 1.1, and is a problem in 1.2', () => {
    expect(value('a: 1\na: 2', '1.1')).toEqual({ a: 2 });
    expect(read('x: 0\na: 1\na: 2').problems).toEqual([
      'f:3:1: error: key "a" is given twice\n  keep one of the two',
    ]);
  });

  test('merge keys bring in what is not given, the first mapping first', () => {
    const text =
      'one: &one {a: 1, b: 1}\ntwo: &two {b: 2, c: 2}\nboth:\n  <<: [*one, *two]\n  c: 3';
    expect(value(text, '1.1')).toMatchObject({ both: { a: 1, b: 1, c: 3 } });
    expect(value(text, '1.2')).toMatchObject({ both: { a: 1, b: 1, c: 3 } });
    expect(read('a:\n  <<: 3').problems).toEqual([
      'f:2:3: error: not YAML: << takes a mapping or a list of mappings',
    ]);
  });

  test('that are no words are refused, and __proto__ is a word like any other', () => {
    expect(read('? [a]\n: b').problems).toEqual(['f:1:3: error: not YAML: a key must be one word']);
    const plain = value('__proto__: 1', '1.2') as object;
    expect(Object.entries(plain)).toEqual([['__proto__', 1]]);
  });
});

group('places', () => {
  const text = 'name: x\ntasks:\n  - id: a\n    needs: [b,\n      c]\n  -\n    id:\n';

  test.each([
    [['name'], 'value', 1, 7],
    [['name'], 'key', 1, 1],
    [['tasks'], 'value', 3, 3],
    [['tasks', 0], 'value', 3, 5],
    [['tasks', 0, 'id'], 'value', 3, 9],
    [['tasks', 0, 'needs', 1], 'value', 5, 7],
    [['tasks', 0, 'needs', 1], 'key', 5, 7],
    [['tasks', 1, 'id'], 'value', 7, 5],
    [['tasks', 0, 'missing', 'deeper'], 'value', 3, 5],
  ] as const)('%j (%s) is at %i:%i', (path, what, line, column) => {
    const { root } = read(text);
    expect(placeOf(root!, path, what)).toEqual({ line, column });
  });

  test('count from the line the YAML begins on, whatever the line breaks', () => {
    const { root } = read('a: 1\r\nb: 2', '1.2', 10);
    expect(placeOf(root!, ['b'])).toEqual({ line: 11, column: 4 });
    expect(nodeAt(root!, ['b', 'c'])).toBeUndefined();
  });
});

test('values are described for a message', () => {
  const { root } = read('[{}, [], [1], ~, x, true, 3, 2026-01-01]', '1.1');
  expect(root?.kind === 'list' && root.items.map(describe)).toEqual([
    'a mapping',
    'an empty list',
    'a list',
    'nothing',
    '"x"',
    'true (a boolean)',
    '3 (a number)',
    '2026-01-01 (a date)',
  ]);
});

group('what is no YAML', () => {
  test.each([
    ['a: {b: 1', 'f:1:9: error: not YAML: Flow map in block collection'],
    ['a:\n\tb: 1', 'f:2:1: error: not YAML: Tabs are not allowed as indentation'],
    ['a: !foo 1', 'f:1:4: error: not YAML: Unresolved tag: !foo'],
    ['a: *b', 'f:1:4: error: not YAML: no anchor &b before this'],
    ['a: &a [*a]', 'f:1:8: error: not YAML: *a contains itself'],
    ['a: 1\n--- \nb: 1', 'f:2:1: error: not YAML: Source contains multiple documents'],
    [`a: ${'['.repeat(20_000)}`, 'nested too deeply'],
    [`a: ${'['.repeat(200)}${']'.repeat(200)}`, 'f:1:103: error: not YAML: nested too deeply'],
  ])('%j', (text, expected) => {
    const { root, problems } = read(text);
    expect(root).toBeNull();
    expect(problems[0]).toContain(expected);
  });

  /** Thirty levels, each of which names the one before nine times. */
  function unfolding(first: string, level: (aliases: string) => string): string {
    const levels = Array.from({ length: 30 }, (_, i) => {
      return `l${i + 1}: &l${i + 1} ${level(`*l${i}, `.repeat(9))}`;
    });
    return [`l0: &l0 ${first}`, ...levels].join('\n');
  }

  test('lists of aliases that unfold without end are refused at once', () => {
    const { problems } = read(unfolding('[x, x]', (aliases) => `[${aliases}]`));
    expect(problems[0]).toContain('its aliases unfold to too many values');
  });

  test('merges of aliases stay the same few keys at every level', () => {
    const { problems } = read(unfolding('{k: x, j: y}', (aliases) => `{<<: [${aliases}]}`));
    expect(problems).toEqual([]);
  });

  test('one anchor may be used a thousand times', () => {
    const uses = Array.from({ length: 1_000 }, (_, i) => `t${i}: { <<: *base, id: ${i} }`);
    expect(read(['base: &base { a: 1 }', ...uses].join('\n')).problems).toEqual([]);
  });
});
