/** Todo lists: which items become tasks, and what their hints mean. */

import { describe, expect, test } from 'vitest';
import { type PlanFiles, planInput } from '../../../../../test/support/plan-input.ts';
import { AGENT_NAMES } from '../../../../agents/index.ts';
import type { Plan, TaskSpec } from '../../../../model/plan.ts';
import { formatProblem } from '../../../problem.ts';
import { AGENTS } from '../../native/values.ts';
import { todo } from './todo.ts';

function read(text: string, around: PlanFiles = {}) {
  const parsed = todo.parse(planInput('todo.md', text, around));
  expect(parsed.plan === null).toBe(parsed.problems.some(({ severity }) => severity === 'error'));
  return { ...parsed, problems: parsed.problems.map(formatProblem) };
}

function planOf(text: string, around: PlanFiles = {}): Plan {
  const { plan, problems } = read(text, around);
  expect(problems).toEqual([]);
  return plan!;
}

function ids(text: string): readonly string[] {
  return planOf(text).tasks.map(({ id }) => id);
}

function only(text: string): TaskSpec {
  const [task, ...more] = planOf(text).tasks;
  expect(more).toEqual([]);
  return task!;
}

describe('items', () => {
  test('that are open become tasks, whatever marks them', () => {
    const text =
      '- [ ] One\n* [ ] Two\n+ [ ] Three\n1. [ ] Four\n2) [ ] Five\n- [x] Six\n- [X] Seven\n';
    expect(ids(text)).toEqual(['one', 'two', 'three', 'four', 'five']);
  });

  test('that are none are left alone', () => {
    const text = [
      '- plain',
      '[ ] no list',
      '```',
      '- [ ] in a fence',
      '```',
      '<!--',
      '- [ ] in a comment',
      '-->',
      '- [ ] Real \r',
    ].join('\n');
    expect(ids(text)).toEqual(['real']);
  });

  test('have details: nested items, paragraphs and fences, as they stand', () => {
    const text = [
      '# Shop',
      '## Back end',
      '- Accounts',
      '  - [ ] Add users',
      '    with a table',
      'and more of it',
      '    - [ ] a model',
      '    - [x] a name',
      '',
      '    More about it.',
      '    ```sql',
      '    - [ ] select',
      '    ```',
      'behind a fence, and not of the item',
      '  - [ ] Next',
      'goes on here',
      '',
      'Not any more.',
    ].join('\n');
    const plan = planOf(text);
    expect(plan.tasks.map(({ id, prompt }) => ({ id, prompt }))).toEqual([
      {
        id: 'add-users',
        prompt: [
          'Add users',
          '',
          'with a table',
          'and more of it',
          '- [ ] a model',
          '- [x] a name',
          '',
          'More about it.',
          '```sql',
          '- [ ] select',
          '```',
          '',
          'This is an item of the list todo.md, under "Shop", "Back end", "Accounts".',
        ].join('\n'),
      },
      {
        id: 'next',
        prompt:
          'Next\n\ngoes on here\n\n' +
          'This is an item of the list todo.md, under "Shop", "Back end", "Accounts".',
      },
    ]);
  });

  test('have ids that never collide', () => {
    const text =
      '- [ ] Añadir  Café!\n- [x] Same\n- [ ] same\n- [ ] Same-2\n- [ ] 修正\n- [ ] ???\n';
    expect(ids(text)).toEqual(['anadir-cafe', 'same-2', 'same-2-2', 'task', 'task-2']);
    const long = `- [ ] ${'very long words '.repeat(10)}\n`;
    expect(ids(`${long}${long}`)).toEqual([
      'very-long-words-very-long-words-very',
      'very-long-words-very-long-words-very-2',
    ]);
  });

  test('that are done with open ones inside are told', () => {
    expect(read('- [x] Done\n  - [ ] not quite\n- [ ] Open\n- [ ]\n').problems).toEqual([
      'todo.md:1:1: warning: it is done, so the open items inside it are left out\n' +
        '  open the outer item, or move the open ones out of it',
      'todo.md:4:1: warning: an item without text is left out',
    ]);
  });

  test.each([
    ['# Nothing\n', 'no check-box item'],
    ['- [x] a\n', 'every item of this list is done'],
    ['- [ ] a\n'.repeat(1_001), 'more than 1000 items'],
  ])('must be there', (text, message) => {
    expect(read(text).problems.join('\n')).toContain(`error: ${message}`);
  });
});

describe('hints', () => {
  const LIST = ['1. [ ] Add users', '2. [x] Set up', '3. [ ] Add the "best" login'];

  test.each([
    ['needs: 1', ['add-users']],
    ['needs: #1, 2', ['add-users']],
    ['after: add-users', ['add-users']],
    ['needs: "Add users", add-the-best-login', ['add-users', 'add-the-best-login']],
    ['after: Set up', []],
    ["after: 'Add users'; needs: 3", ['add-users', 'add-the-best-login']],
  ])('%s is an order', (hint, needs) => {
    const ways = [`4. [ ] Last ${hint}`, `4. [ ] Last (${hint})`, `4. [ ] Last [${hint}] @codex`];
    const nested = hint.split('; ').map((line) => `   - ${line}`);
    for (const item of [...ways, ['4. [ ] Last', ...nested].join('\n')]) {
      const last = planOf([...LIST, item].join('\n')).tasks.at(-1);
      expect(last).toMatchObject({ id: 'last', title: 'Last', needs });
    }
  });

  test('numbers are those of the same numbered list, or places in the file', () => {
    const text =
      '# A\n1. [ ] a\n2. [ ] b\n# B\n1. [ ] c\n2. [ ] d needs: 1\n# C\n- [ ] e needs: 1\n';
    expect(planOf(text).tasks.map(({ id, needs }) => [id, needs])).toEqual([
      ['a', []],
      ['b', []],
      ['c', []],
      ['d', ['c']],
      ['e', ['a']],
    ]);
  });

  test('files are the scope', () => {
    const text = '- [ ] Split it (files: `src/a b.ts`, ./src/{x,y}/**; needs: 2)\n- [x] z\n';
    expect(only(text)).toMatchObject({
      title: 'Split it',
      writes: ['src/a b.ts', 'src/{x,y}/**'],
      needs: [],
    });
    expect(only('- [ ] Fix files: the list is wrong\n').title).toBe('Fix files: the list is wrong');
  });

  test('@name is an agent that is known, or a role', () => {
    expect(only('- [ ] Do @codex it')).toMatchObject({ agent: 'codex', title: 'Do it' });
    expect(only('- [ ] Do it @reviewer @gemini')).toMatchObject({
      agent: 'gemini',
      role: 'reviewer',
      title: 'Do it',
    });
    expect(only('- [ ] Do it\n  - @tester')).toMatchObject({ role: 'tester' });
    const plain = only('- [ ] Mail ada@example.com about @types/node\n  see @codex there');
    expect(plain).toMatchObject({
      agent: 'claude',
      title: 'Mail ada@example.com about @types/node',
    });
    expect([...AGENTS].sort()).toEqual([...AGENT_NAMES].sort());
  });

  test('@shell is a script: the fence, or the words of the item', () => {
    expect(only('- [ ] npm run format @shell').prompt).toBe('npm run format');
    const fenced = '- [ ] Format @shell\n  ```sh\n  npm ci\n  npm run format\n  ```\n';
    expect(only(fenced)).toMatchObject({ title: 'Format', prompt: 'npm ci\nnpm run format' });
  });

  test('that are wrong are all shown', () => {
    const text = [
      '- [ ] Add users needs: add-login',
      '- [ ] Add login needs: 1',
      '- [ ] Third needs: add-user, 77',
      '- [ ] Fourth files: /etc/passwd',
      '- [ ] Fifth files: a.ts',
      '- [ ] Sixth files: a.ts @one @two',
    ].join('\n');
    expect(read(text).problems.map((problem) => problem.split('\n')[0])).toEqual([
      'todo.md:1:1: error: cyclic dependency: add-users -> add-login -> add-users',
      'todo.md:3:1: error: "Third" needs "add-user", which is not an item',
      'todo.md:3:1: error: "Third" needs "77", which is not an item',
      'todo.md:4:1: error: files: "/etc/passwd" is not a path in this repository',
      'todo.md:6:1: warning: @two is ignored',
    ]);
    const twice = read('- [ ] a files: x\n- [ ] b files: x\n').problems;
    expect(twice).toEqual([expect.stringContaining('warning: tasks "a" and "b" write "x"')]);
  });
});

test('what is configured holds for a list as well', () => {
  const config = { target: 'dev', defaults: { agent: 'codex', retries: 5 } };
  expect(planOf('- [ ] a\n', { config })).toMatchObject({
    name: 'todo',
    target: 'dev',
    landing: { onConflict: 'agent' },
    tasks: [{ agent: 'codex', retries: 5, permissions: 'acceptEdits' }],
  });
  const free = planOf('- [ ] a\n', { options: { autoApprove: true } });
  expect(free.tasks[0]?.permissions).toBe('bypassPermissions');
});

test('it is never detected', () => {
  expect(todo.detect({ path: 'todo.md', text: '- [ ] a\n' })).toBeNull();
});
