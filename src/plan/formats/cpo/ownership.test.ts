import { expect, test } from 'vitest';
import { scopes } from '../../../../test/support/cpo-directory.ts';

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
