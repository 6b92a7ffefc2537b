import { expect, test } from 'vitest';
import { formatProblem, ProblemLog } from '../problem.ts';
import { readJson } from './json.ts';
import { placeOf, plainValue } from './yaml.ts';

function read(text: string, firstLine = 1) {
  const log = new ProblemLog('m.json');
  const node = readJson({ text, firstLine }, log);
  return { node, problems: log.sorted().map(formatProblem) };
}

test('every kind of value is read as JSON.parse reads it', () => {
  const text = ' {"a": [1, -2.5e3, true, null, "\\u00e9\\n\\"\\\\/"], "b": {}, "c": [] }\r\n';

  const { node, problems } = read(text);

  expect(problems).toEqual([]);
  expect(plainValue(node!)).toEqual(JSON.parse(text));
});

test('a value knows its line and column, whatever ends the lines', () => {
  const { node } = read('{\r\n  "a": [\r\n    1, 22\r\n  ]\r\n}', 10);

  expect(placeOf(node!, ['a'], 'key')).toEqual({ line: 11, column: 3 });
  expect(placeOf(node!, ['a', 1])).toEqual({ line: 12, column: 8 });
});

test.each([
  ['{"a": 1,}', 'm.json:1:9: error: not JSON: expected a key, found "}"'],
  ['[1 2]', 'm.json:1:4: error: not JSON: expected "," or "]", found "2"'],
  ['{a: 1}', 'm.json:1:2: error: not JSON: expected a key, found "a"'],
  ['{"a" 1}', 'm.json:1:6: error: not JSON: expected ":", found "1"'],
  ['{"a":\n  yes}', 'm.json:2:3: error: not JSON: expected a value, found "yes"'],
  ['{"a": 01}', 'm.json:1:7: error: not JSON: expected a value, found "01"'],
  ['{"a": "x', 'm.json:1:7: error: not JSON: this text is not closed or has a bad escape'],
  ['{}\n{}', 'm.json:2:1: error: not JSON: "{" after the end of the value'],
  ['{"a": [', 'm.json:1:8: error: not JSON: expected a value, found the end'],
  ['', 'm.json:1:1: error: not JSON: expected a value, found the end'],
])('%j is refused at the place of the mistake', (text, problem) => {
  expect(read(text)).toEqual({ node: null, problems: [problem] });
});

test('a key that is given twice is a problem', () => {
  expect(read('{"a": 1, "a": 2}').problems).toEqual([
    'm.json:1:10: error: key "a" is given twice\n  keep one of the two',
  ]);
});

test('deep nesting is refused, and long texts are read', () => {
  expect(read('['.repeat(100_000)).problems).toEqual([
    'm.json:1:101: error: not JSON: nested too deeply',
  ]);
  const long = 'x\\n'.repeat(1_000_000);
  expect(read(`"${long}"`).problems).toEqual([]);
});
