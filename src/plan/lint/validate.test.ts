/** The rules of every plan, with the places the format gives. */

import { expect, test } from 'vitest';
import { planOf } from '../../../test/support/journal-builder.ts';
import { formatProblem, ProblemLog } from '../problem.ts';
import { firstUnseen, type Source, type TaskOutline, validate } from './validate.ts';

const KEYS = ['id', 'needs', 'writes', 'group'];

/** Line = the task's index + 1; column = the key's number times ten, plus the item's index. */
const source: Source = {
  at: (key, task, item) => ({
    line: task.index + 1,
    column: (KEYS.indexOf(key) + 1) * 10 + (item ?? 0),
  }),
  needsKey: 'needs',
  groups: new Set(['db']),
  groupRemedy: (group) => `add ${group}`,
};

function check(...tasks: Partial<TaskOutline>[]): string[] {
  const log = new ProblemLog('p');
  const outline = tasks.map((task, index) => ({
    index,
    id: `t${index}`,
    needs: [],
    writes: [],
    ...task,
  }));
  validate(outline, source, log);
  return log.sorted().map(formatProblem);
}

test('a sound plan has no problems', () => {
  expect(check({ id: 'a', group: 'db' }, { id: 'b', needs: ['a'] })).toEqual([]);
  expect(check()).toEqual([]);
});

test('ids are unique', () => {
  expect(check({ id: 'a' }, { id: 'b' }, { id: 'a' })).toEqual([
    'p:3:10: error: duplicate task id "a"\n  the task on line 1 has it too: rename one',
  ]);
});

test('needs exist: those that do not are listed in order, with guesses', () => {
  expect(check({ id: 'users' }, { id: 'b', needs: ['users', 'zebra', 'apple'] })).toEqual([
    'p:2:21: error: task "b": needs names undefined task ids: "apple", "zebra"\n' +
      '  name a task of this plan, or remove it',
  ]);
  expect(check({ id: 'users' }, { id: 'b', needs: ['user'] })).toEqual([
    'p:2:20: error: task "b": needs names undefined task ids: "user"\n  did you mean "users"?',
  ]);
});

test('a cycle is shown as a path, at the need that begins it', () => {
  expect(
    check(
      { id: 'x', needs: ['a'] },
      { id: 'a', needs: ['x2', 'c'] },
      { id: 'b', needs: ['a'] },
      {
        id: 'c',
        needs: ['b'],
      },
      { id: 'x2' },
    ),
  ).toEqual([
    'p:2:21: error: cyclic dependency: a -> c -> b -> a\n' +
      '  remove one of these from needs: none of the tasks could ever start',
  ]);
});

test('a group has a limit', () => {
  expect(check({ group: 'dbs' }, { group: 'net' }, { group: 'constructor' })).toEqual([
    'p:1:40: error: task "t0": group "dbs" has no limit\n  did you mean "db"? Otherwise add dbs',
    'p:2:40: error: task "t1": group "net" has no limit\n  add net',
    'p:3:40: error: task "t2": group "constructor" has no limit\n  add constructor',
  ]);
});

test('the same path in two tasks is told unless one needs the other', () => {
  const a = { id: 'a', writes: ['src/x.py'] };
  const note =
    'p:2:31: warning: tasks "a" and "b" write "src/x.py": they take turns\n' +
    '  to choose the order, use needs';

  expect(check(a, { id: 'b', writes: ['y', './src/../src/x.py'] })).toEqual([note]);
  expect(check(a, { id: 'b', needs: ['a'], writes: ['src/x.py'] })).toEqual([]);
  expect(
    check({ ...a, needs: ['c'] }, { id: 'b', writes: ['src/x.py'] }, { id: 'c', needs: ['b'] }),
  ).toEqual([]);
  expect(check({ id: 'a', writes: ['x', 'x'] })).toEqual([]);
});

test('it is told once a path, however many tasks write it', () => {
  const tasks = Array.from({ length: 9 }, () => ({ writes: ['CHANGELOG.md', 'src/*.py'] }));
  expect(check(...tasks).map((text) => text.split('\n')[0])).toEqual([
    'p:2:30: warning: tasks "t0", "t1", "t2", "t3", "t4" and 4 more write "CHANGELOG.md": they take turns',
    'p:2:31: warning: tasks "t0", "t1", "t2", "t3", "t4" and 4 more write "src/*.py": they take turns',
  ]);
});

test('scopes that merely overlap need no word: such tasks only do not run together', () => {
  expect(check({ writes: ['src'] }, { writes: ['src/x.py'] })).toEqual([]);
});

test('all rules are checked at once', () => {
  const problems = check({ id: 'a', needs: ['a', 'who'], group: 'g' }, { id: 'a' });
  expect(problems.map((text) => text.split('\n')[0])).toEqual([
    'p:1:20: error: cyclic dependency: a -> a',
    'p:1:21: error: task "a": needs names undefined task ids: "who"',
    'p:1:40: error: task "a": group "g" has no limit',
    'p:2:10: error: duplicate task id "a"',
  ]);
});

test('in a plan of any format, work that stays on its branch is needed by readers only', () => {
  const tasks = [
    { id: 'a' },
    { id: 'b', mode: 'read', needs: ['a'] },
    { id: 'c', needs: ['b', 'a'] },
  ] as const;
  const plan = planOf(tasks);
  expect(firstUnseen(plan)).toBeNull();
  const landing = { ...plan.landing, strategy: 'none' } as const;
  expect(firstUnseen({ ...plan, landing })).toEqual([
    'c',
    'with strategy none, tasks that need "a" do not see its work',
  ]);
  expect(firstUnseen({ ...planOf(tasks.slice(0, 2)), landing })).toBeNull();
});
