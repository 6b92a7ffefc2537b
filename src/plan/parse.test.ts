/** Which format a text is, and that no text makes the parser throw. */

import { describe, expect, test } from 'vitest';
import { planInput } from '../../test/support/plan-input.ts';
import { FORMATS } from './formats/index.ts';
import { parsePlan } from './parse.ts';
import { formatProblem } from './problem.ts';

function parse(text: string, format: string | null = null, path = 'plan.yaml') {
  const parsed = parsePlan(planInput(path, text), format);
  expect(parsed.plan === null).toBe(parsed.problems.some(({ severity }) => severity === 'error'));
  return { ...parsed, problems: parsed.problems.map(formatProblem) };
}

const NATIVE = 'landfast: 1\ntasks: [{ id: a, prompt: x }]\n';
const PO = '---\npo_plan_version: "0.1"\ncwd: .\ntasks: [{id: a, agent: d, read_only: no}]\n---\n';

describe('the format', () => {
  test.each([
    ['a YAML plan', NATIVE, 'native'],
    ['a YAML plan that begins with ---', `---\n${NATIVE}`, 'native'],
    ['a Markdown plan', `---\n${NATIVE}---\n# Notes\npo_plan_version: "0.1"\n`, 'native'],
    ['a JSON plan', '{\n "landfast": 1, "tasks": [{"id": "a", "prompt": "x"}] }', 'native'],
    ['a plan with a byte order mark', `\uFEFF${NATIVE}`, 'native'],
    ['a manifest', `${PO}landfast: 1\n`, 'po-manifest'],
    [
      'a manifest with a byte order mark and CRLF',
      `\uFEFF${PO.replaceAll('\n', '\r\n')}`,
      'po-manifest',
    ],
  ])('of %s is recognised', (_, text, format) => {
    expect(parse(text)).toMatchObject({ format, problems: [], plan: { tasks: [{ id: 'a' }] } });
  });

  test('can be named, and then the text must be of it', () => {
    expect(parse('tasks: []', 'native').format).toBe('native');
    expect(parse(NATIVE, 'po-manifest').problems).toEqual([
      'plan.yaml:1:1: error: front matter must start on line 1 with ---\n  make the first line ---',
    ]);
  });

  test('that nobody knows is a problem with a way out', () => {
    expect(parse(NATIVE, 'natve')).toEqual({
      plan: null,
      format: null,
      why: [],
      problems: [
        'plan.yaml:1:1: error: unknown format "natve"\n' +
          `  did you mean native? known formats: ${FORMATS.map(({ name }) => name).join(', ')}`,
      ],
    });
    expect(parse('# A page\n').problems).toEqual([
      'plan.yaml:1:1: error: unknown plan format\n' +
        '  name the format with --format, or add its marker\n' +
        FORMATS.map(({ name, marker }) => `  ${name}: ${marker}`).join('\n'),
    ]);
  });

  test('says where its marker is, and that no other is there', () => {
    const { why } = parse(`---\nname: x\n${NATIVE}---\n# Notes\n`, null, 'plan.md');
    const others = FORMATS.filter(({ name }) => name !== 'native');
    expect(why).toEqual([
      'Format native: its marker is on line 3 ' +
        '(a key landfast at the top of the YAML, or of the front matter).',
      ...others.map(({ name, marker }) => `Not ${name}: its marker is missing (${marker}).`),
    ]);
    expect(parse(NATIVE, 'native').why).toEqual(['Format native: you named it.']);
  });

  test('is asked for where two markers are there', () => {
    const both = `---\nlandfast: 1\npo_plan_version: "0.1"\n---\n`;
    const [problem, ...more] = parse(both).problems;
    expect(more).toEqual([]);
    expect(problem).toContain('error: this text has the markers of po-manifest and native');
    expect(problem).toContain('name one: --format po-manifest or --format native');
    expect(parse(both, 'native').format).toBe('native');
  });
});

describe('hostile texts are problems', () => {
  const bomb = Array.from(
    { length: 20 },
    (_, i) => `k${i + 1}: &k${i + 1} [${`*k${i},`.repeat(9)}]`,
  );
  test.each([
    ['nothing', ''],
    ['blanks', ' \n\n'],
    ['a byte order mark', '\uFEFF'],
    ['only ---', '---'],
    ['only two ---', '---\n---\n'],
    ['a word', 'hello'],
    ['bytes', '\u0001\u0002\ufffd\uffff'],
    ['half a surrogate', 'landfast: 1\nname: "\ud800"\n'],
    ['a list', '- landfast: 1\n'],
    ['an alias bomb', ['landfast: 1', 'k0: &k0 [x]', ...bomb].join('\n')],
    ['a deep nest', `landfast: 1\ntasks: ${'['.repeat(5_000)}`],
    ['a recursive plan', 'landfast: 1\ntasks: &t [*t]\n'],
    ['an unknown tag', 'landfast: 1\ntasks: !!python/object:os.system ls\n'],
    ['__proto__', 'landfast: 1\n__proto__: { tasks: [] }\n'],
    ['an open quote', 'landfast: 1\nname: "x\n'],
    ['a very long line', `landfast: 1\nname: ${'x'.repeat(1_000_000)}\n`],
  ])('%s', (_, text) => {
    for (const format of [null, 'native', 'po-manifest']) {
      expect(parse(text, format).problems.length).toBeGreaterThan(0);
    }
  });

  test('NUL is found where it is', () => {
    expect(parse('landfast: 1\nab\0').problems).toEqual([
      'plan.yaml:2:3: error: the file is not text: it contains NUL\n  name a plan file',
    ]);
  });

  test('a file no plan would fill', () => {
    expect(parse(`landfast: 1\n#${'x'.repeat(9_000_000)}`).problems[0]).toContain('too large');
  });
});
