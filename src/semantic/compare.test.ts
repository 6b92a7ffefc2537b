import { describe, expect, test } from 'vitest';
import { clashingNames, type FileChange, wordsAtStake } from './compare.ts';
import { readModule } from './parse.ts';

type Texts = Readonly<Record<string, string>>;

/** The change from some files to others; a file that is only in one of them comes or goes. */
function change(before: Texts, after: Texts): readonly FileChange[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].map((file) => {
    const read = (texts: Texts) => (file in texts ? readModule(file, texts[file]!) : null);
    return { file, before: read(before), after: read(after) };
  });
}

const clashes = (a: readonly [Texts, Texts], b: Texts, base: Texts = {}) => {
  const [mine, others] = [change(...a), change(base, b)];
  const found = clashingNames(mine, others);
  // Whatever clashes is found as well where only files with the other's words are looked at.
  expect(clashingNames(near(mine, a, others), others)).toEqual(found);
  expect(clashingNames(mine, near(others, [base, b], mine))).toEqual(found);
  return found;
};

/** Those files of a work in which a word occurs that matters to the other. */
function near(
  work: readonly FileChange[],
  texts: readonly Texts[],
  other: readonly FileChange[],
): readonly FileChange[] {
  const stake = wordsAtStake(other);
  const words = (file: string) => texts.flatMap((each) => each[file]?.match(/[\w$]+/g) ?? []);
  return work.filter(({ file }) => words(file).some((word) => stake.has(word)));
}

const USE_TS = { 'src/b.ts': "import { f } from './a.ts';\nf(1);\n" };

describe('TypeScript and JavaScript', () => {
  const removed = [{ name: 'f', file: 'src/a.ts', change: 'removed', usedBy: ['src/b.ts'] }];
  const gone = [{ 'src/a.ts': 'export function f(a: number) {}' }, { 'src/a.ts': '' }] as const;

  test.each([
    ['by its name', "import { f } from './a.ts';"],
    ['by the name of the built file', "import { f } from './a.js';"],
    ['by another name', "import { f as g } from './a';\ng(1);"],
    ['of the module as a whole', "import * as a from './a.ts';\na.f(1);"],
    ['by require', "const { f } = require('./a');"],
    ['of a required module', "const a = require('./a');\na.f(1);"],
    ['to pass it on', "export { f } from './a.ts';"],
    ['by an alias of the folder', "import { f } from '@/src/a';"],
    ['in a file that is half edited', "import { f } from './a.ts';\nif (f(1) {\n  const"],
  ])('a removed function that is used %s is found', (_, text) => {
    expect(clashes(gone, { 'src/b.ts': text })).toEqual(removed);
  });

  test.each([
    ['of another file', "import { f } from './other.ts';\nf(1);"],
    ['of a package', "import { f } from 'lodash';\nf(1);"],
    ['of its own', 'function f() {}\nf();'],
    ['that is a parameter', 'export const g = (f) => f(1);'],
    ['of some object', 'thing.f(1);'],
  ])('a name %s is another name', (_, text) => {
    expect(clashes(gone, { 'src/b.ts': text })).toEqual([]);
  });

  test('a file that goes takes its names along', () => {
    expect(clashes([{ 'src/a.ts': 'export const f = 1' }, {}], USE_TS)).toEqual(removed);
  });

  test('a name that is still there but no longer exported is gone for others', () => {
    const a = [{ 'src/a.ts': 'export const f = 1' }, { 'src/a.ts': 'const f = 1' }] as const;
    expect(clashes(a, USE_TS)).toEqual(removed);
  });

  test.each([
    ['function f(a)', 'function f(a, b)', true],
    ['function f(a, b)', 'function f(a)', true],
    ['function f(a)', 'function f(a, b?: number, ...c)', false],
    ['function f(a)', 'function f(a, b = 1)', false],
    ['function f(a, b)', 'function f(a, b?)', false],
    ['function f(a)', 'function f(this: X, x: Y)', false],
  ])('%s to %s: calls that were right are wrong: %s', (before, after, isClash) => {
    const a = [`export ${before} {}`, `export ${after} {}`] as const;
    const found = clashes([{ 'src/a.ts': a[0] }, { 'src/a.ts': a[1] }], USE_TS);
    expect(found.map(({ change }) => change)).toEqual(isClash ? ['signature'] : []);
  });

  test('an arrow function is a function, a class is called with what its constructor takes', () => {
    const before = 'export const f = (a) => a; export class K { constructor(a) {} }';
    const after = 'export const f = (a, b) => a; export class K { constructor(a, b) {} }';
    const b = { 'b.js': "import { f, K } from './a.js';\nf(1); new K(1);" };
    expect(clashes([{ 'a.js': before }, { 'a.js': after }], b)).toEqual([
      { name: 'K', file: 'a.js', change: 'signature', usedBy: ['b.js'] },
      { name: 'f', file: 'a.js', change: 'signature', usedBy: ['b.js'] },
    ]);
  });

  test('a method that takes one more is found where its class is known', () => {
    const before = 'export class Store { put(key: string) {} }';
    const after = 'export class Store { put(key: string, value: string) {} }';
    const b = {
      'b.ts': "import type { Store } from './a.ts';\nexport const g = (s: Store) => s.put('k');",
      'c.ts': "other.put('k');",
    };
    expect(clashes([{ 'a.ts': before }, { 'a.ts': after }], b)).toEqual([
      { name: 'Store.put', file: 'a.ts', change: 'signature', usedBy: ['b.ts'] },
    ]);
  });

  test('a removed type is found', () => {
    const a = [{ 'a.ts': 'export interface I { x: 1 }' }, { 'a.ts': 'export {};' }] as const;
    const b = { 'b.ts': "import type { I } from './a.ts';\nlet i: I;" };
    expect(clashes(a, b)).toEqual([
      { name: 'I', file: 'a.ts', change: 'removed', usedBy: ['b.ts'] },
    ]);
  });

  test('the same text under another name is a rename', () => {
    const text = (name: string) => ({ 'src/a.ts': `export function ${name}(a) { return a + 1; }` });
    expect(clashes([text('f'), text('next')], USE_TS)).toEqual([
      { ...removed[0], change: 'renamed', to: 'next' },
    ]);
  });

  test('what has moved to another file, or is passed on, is not missed', () => {
    const f = 'export function f(a: number) {}';
    expect(clashes([{ 'src/a.ts': f }, { 'src/new.ts': f }], USE_TS)).toEqual([]);
    for (const text of ["export { f } from './new.ts';", "export * from './new.ts';"]) {
      expect(clashes([{ 'src/a.ts': f }, { 'src/a.ts': text }], USE_TS)).toEqual([]);
    }
  });

  test('through an index that passes all on, the name is found where it is declared', () => {
    const b = { 'src/b.ts': "import { f } from './lib/index.ts';" };
    const a = [{ 'src/lib/f.ts': 'export const f = 1' }, { 'src/lib/f.ts': '' }] as const;
    expect(clashes(a, b)).toEqual([
      { name: 'f', file: 'src/lib/f.ts', change: 'removed', usedBy: ['src/b.ts'] },
    ]);
  });

  test('only new uses count, in the file of the declaration too', () => {
    const base = { 'a.ts': 'function f() {}\nexport const x = f();\n' };
    const a = [base, { 'a.ts': 'export const x = 1;\n' }] as const;
    expect(clashes(a, { 'a.ts': `${base['a.ts']}export const y = 2;` }, base)).toEqual([]);
    expect(clashes(a, { 'a.ts': `${base['a.ts']}export const y = f();` }, base)).toEqual([
      { name: 'f', file: 'a.ts', change: 'removed', usedBy: ['a.ts'] },
    ]);
  });

  test('of a half-edited file only what is gone from its text is gone', () => {
    const broken = { 'src/a.ts': 'export function f(a, b {\n  if (' };
    expect(clashes([gone[0], broken], USE_TS)).toEqual([]);
    expect(clashes([gone[0], { 'src/a.ts': 'export function (a, b {' }], USE_TS)).toEqual(removed);
  });

  test('CommonJS and plain scripts declare names as well', () => {
    const b = { 'b.js': "const { f } = require('./a');\nf(1);" };
    const common = [{ 'a.js': 'exports.f = (a) => a;' }, { 'a.js': 'exports.g = 1;' }] as const;
    const found = [{ name: 'f', file: 'a.js', change: 'removed', usedBy: ['b.js'] }];
    expect(clashes(common, b)).toEqual(found);
    const list = [
      { 'a.js': 'function f() {}\nmodule.exports = { f };' },
      { 'a.js': 'module.exports = {};' },
    ] as const;
    expect(clashes(list, b)).toEqual(found);
    expect(clashes([{ 'a.js': 'function f() {}' }, { 'a.js': '' }], { 'b.js': 'f();' })).toEqual(
      found,
    );
  });
});

describe('Python', () => {
  const removed = [{ name: 'f', file: 'pkg/a.py', change: 'removed', usedBy: ['pkg/b.py'] }];
  const gone = [{ 'pkg/a.py': 'def f(a):\n    pass\n' }, { 'pkg/a.py': 'X = 1\n' }] as const;

  test.each([
    ['from its module', 'from .a import f\n'],
    ['by the path of the package', 'from pkg.a import (\n    f as g,  # why\n)\ng(1)\n'],
    ['of the module', 'from . import a\na.f(1)\n'],
    ['of the module by its path', 'import pkg.a\npkg.a.f(1)\n'],
    ['with all of the module', 'from .a import *\nf(1)\n'],
  ])('a removed function that is used %s is found', (_, text) => {
    expect(clashes(gone, { 'pkg/b.py': text })).toEqual(removed);
  });

  test('names of others, parameters and keywords are other names', () => {
    const text = 'from json import f\nfrom .c import f as h\ndef g(f):\n    return f(f=1)\n';
    expect(clashes(gone, { 'pkg/b.py': text })).toEqual([]);
  });

  test.each([
    ['def f(a)', 'def f(a, b)', true],
    ['def f(a)', 'def f(a, *, b)', true],
    ['def f(a)', 'def f(a, b=1, *c, **d)', false],
    ['def f(a, b)', 'def f(a)', true],
    ['async def f(a: int) -> int', 'async def f(a: str, /) -> int', false],
  ])('%s to %s: calls that were right are wrong: %s', (before, after, isClash) => {
    const text = (head: string) => ({ 'pkg/a.py': `${head}:\n    pass\n` });
    const found = clashes([text(before), text(after)], { 'pkg/b.py': 'from .a import f\nf(1)\n' });
    expect(found.map(({ change }) => change)).toEqual(isClash ? ['signature'] : []);
  });

  test('methods count without `self`, classes by `__init__`', () => {
    const text = (more: string) => ({
      'a.py': `class K:\n    def __init__(self${more}): pass\n    def m(self, a${more}): pass\n`,
    });
    const b = { 'b.py': 'from a import K\nK().m(1)\n' };
    expect(clashes([text(''), text(', b')], b)).toEqual([
      { name: 'K', file: 'a.py', change: 'signature', usedBy: ['b.py'] },
      { name: 'K.m', file: 'a.py', change: 'signature', usedBy: ['b.py'] },
    ]);
  });

  test('what has moved, or is imported where it was, is not missed', () => {
    const f = 'def f(a):\n    pass\n';
    const b = { 'pkg/b.py': 'from .a import f\nf(1)\n' };
    expect(clashes([{ 'pkg/a.py': f }, { 'pkg/new.py': f }], b)).toEqual([]);
    expect(clashes([{ 'pkg/a.py': f }, { 'pkg/a.py': 'from .new import f\n' }], b)).toEqual([]);
  });
});

test('too long a text, an unknown language and too many files are left alone', () => {
  expect(readModule('a.ts', ' '.repeat(500_001))).toBeNull();
  expect(readModule('a.rb', 'def f; end')).toBeNull();
  const many = Object.fromEntries(
    Array.from({ length: 201 }, (_, at) => [`src/x${at}.ts`, USE_TS['src/b.ts']]),
  );
  const gone = [{ 'src/a.ts': 'export const f = 1' }, { 'src/a.ts': '' }] as const;
  expect(clashes(gone, many)).toEqual([]);
});

test('whatever a text holds, reading it is no error', () => {
  const text = 'export class K<T> { m(a = `x`) { return <A b={c}/> } }\nfrom .a import (f, *)\n';
  for (const file of ['a.ts', 'a.py']) {
    for (let end = 0; end <= text.length; end += 1) {
      expect(readModule(file, text.slice(0, end))).not.toBeNull();
    }
  }
});
