import { expect, test } from 'vitest';
import { scopes } from '../../../../../test/support/cpo-directory.ts';
import { formatProblem, ProblemLog } from '../../../problem.ts';
import { type Directive, readScope } from './task-file.ts';

function read(text: string) {
  const log = new ProblemLog('t.md');
  const scope = readScope({ lines: text.split('\n'), firstLine: 10 }, log);
  const shown = (key: Directive) =>
    scope[key].map(({ path, part }) => (part === null ? path : `${path}::${part}`));
  return {
    create: shown('create'),
    modify: shown('modify'),
    boundary: shown('boundary'),
    problems: log.sorted().map(formatProblem),
  };
}

const NONE = { create: [], modify: [], boundary: [], problems: [] };

test('commas inside braces do not separate, and braces are spelled out', () => {
  expect(read('CREATE: apps/u/{models,views}.py, apps/u/tests/*.py')).toEqual({
    ...NONE,
    create: ['apps/u/models.py', 'apps/u/views.py', 'apps/u/tests/*.py'],
  });
});

test.each(['CREATE: []', 'CREATE: (none)', 'CREATE:', 'CREATE: none', 'CREATE: -', '- CREATE: -'])(
  '%j names nothing',
  (text) => {
    expect(read(`${text}\nMODIFY: a.py`)).toEqual({ ...NONE, modify: ['a.py'] });
  },
);

test('a block list with remarks in parentheses gives bare paths', () => {
  const text = `CREATE:
- rag/store.py
- rag/{a,b}.py (new, both)

BOUNDARY:
- rag/core/* (do not modify)
- x.py (owned by task-001, task-002)`;

  expect(read(text)).toEqual({
    ...NONE,
    create: ['rag/store.py', 'rag/a.py', 'rag/b.py'],
    boundary: ['rag/core/*', 'x.py'],
  });
});

test('bold directives with quoted paths and descriptions', () => {
  const text = `**CREATE**:
- \`apps/u/models.py\` - User, and nothing else
- \`apps/my app/x.py\` – with a blank
**MODIFY:**
* "settings.py" — register it
**BOUNDARY**: \`apps/core/\`, \`apps/billing/**\``;

  expect(read(text)).toEqual({
    ...NONE,
    create: ['apps/u/models.py', 'apps/my app/x.py'],
    modify: ['settings.py'],
    boundary: ['apps/core', 'apps/billing/**'],
  });
});

test('parts of files, with a remark behind #', () => {
  const text = `MODIFY: a.py::User.save  # only this, please
  - b.py::helper
BOUNDARY: a.py::Admin`;

  expect(read(text)).toEqual({
    ...NONE,
    modify: ['a.py::User.save', 'b.py::helper'],
    boundary: ['a.py::Admin'],
  });
});

test('brackets around a list, a list over two lines, folders named with brackets', () => {
  const text = `CREATE: [a.py, b.py]
MODIFY: c.py,
  d.py
BOUNDARY: app/[id]/(tab)/page.tsx`;

  expect(read(text)).toEqual({
    ...NONE,
    create: ['a.py', 'b.py'],
    modify: ['c.py', 'd.py'],
    boundary: ['app/[id]/(tab)/page.tsx'],
  });
});

test('prose is left out with a warning, and no path leaves the repository', () => {
  expect(read('BOUNDARY: everything else in apps\nCREATE: ok.py, ../x.py, /etc/passwd')).toEqual({
    ...NONE,
    create: ['ok.py'],
    problems: [
      't.md:10:11: warning: "everything else in apps" is not a path and is left out\n' +
        '  put paths with spaces in ``',
      't.md:11:16: error: "../x.py" leaves the repository\n' +
        "  name something below the repository's root, without ..",
      't.md:11:25: error: "/etc/passwd" is an absolute path\n' +
        "  write it relative to the repository's root",
    ],
  });
});

test.each([
  ['both modify all of it', 'MODIFY: a.py', 'MODIFY: a.py'],
  ['one modifies a part of it', 'MODIFY: a.py', 'MODIFY: a.py::f'],
  ['one part holds the other', 'MODIFY: a.py::User', 'MODIFY: a.py::User.save'],
  ['one creates what the other changes', 'CREATE: a.py', 'MODIFY: a.py'],
  ['a glob creates it', 'CREATE: src/*.py', 'CREATE: src/a.py'],
  ['braces hold it', 'CREATE: src/{a,b}.py', 'CREATE: src/b.py'],
  ['a folder holds it', 'CREATE: src/users/', 'CREATE: src/users/models.py'],
  ['two globs meet', 'CREATE: src/**/a.py', 'CREATE: src/x/*.py'],
])('two tasks of a wave conflict where %s', (_, first, second) => {
  const { plan, problems } = scopes(first, second);

  expect(plan).toBeNull();
  expect(problems).toEqual([expect.stringMatching(/^tasks\/task-002.md:11:9: error: conflict: /)]);
});

test.each([
  ['they change different parts', 'MODIFY: a.py::f', 'MODIFY: a.py::g'],
  ['one name is the beginning of the other', 'MODIFY: a.py::User', 'MODIFY: a.py::UserSet'],
  ['the files differ', 'CREATE: src/{a,b}.py', 'CREATE: src/{c,d}.py'],
  ['folders are named with brackets', 'CREATE: app/[id]/x.ts', 'CREATE: app/[slug]/x.ts'],
])('two tasks of a wave do not conflict where %s', (_, first, second) => {
  expect(scopes(first, second).problems).toEqual([]);
});

test.each([
  ['MODIFY: b.py', 'BOUNDARY: b.py', true],
  ['MODIFY: src/a.py', 'BOUNDARY: src/*', true],
  ['CREATE: src/a.py', 'BOUNDARY: src/**', true],
  ['CREATE: src/a/*.py', 'BOUNDARY: src/**', true],
  ['MODIFY: b.py::f', 'BOUNDARY: b.py', true],
  ['MODIFY: b.py::f', 'BOUNDARY: b.py::g', false],
  ['CREATE: src/**', 'BOUNDARY: src/core/**', false],
])('%s with %s is a conflict: %s', (claim, boundary, isConflict) => {
  const { problems } = scopes(`${claim}\n${boundary}`);

  const found = expect.stringContaining("lies in the task's own BOUNDARY");
  expect(problems).toEqual(isConflict ? [found] : []);
});
