import { expect, test } from 'vitest';
import { taskSpec } from '../../test/support/journal-builder.ts';
import { attemptPrompt } from './prompt.ts';

const names = [
  { name: 'load', file: 'src/store.ts', change: 'renamed', to: 'read', usedBy: ['src/api.ts'] },
  { name: 'Store.put', file: 'src/store.ts', change: 'signature', usedBy: ['src/api.ts'] },
  { name: 'LIMIT', file: 'src/store.ts', change: 'removed', usedBy: ['src/a.ts', 'src/b.ts'] },
] as const;

const foreseen = {
  collisions: [
    { with: 'users', files: ['src/app.ts', 'README.md'] },
    { with: null, files: ['package.json'] },
  ],
  clashes: [{ with: 'store', names }],
  strayed: ['docs/other.md'],
};

test('an agent that goes on is told whose work collides with its own, and where', () => {
  const before = { kind: 'transient', message: 'The connection broke.' } as const;
  const start = { kind: 'continue', session: 's1' } as const;
  const context = { attempt: 2, start, before, heard: [], meanwhile: [], prose: true, foreseen };
  expect(attemptPrompt(taskSpec({ id: 'login' }), context)).toMatchInlineSnapshot(`
    "# Task login, attempt 2

    The previous attempt was cut short. The connection broke.

    The workspace is as that attempt left it: look at \`git status\` and \`git log\` first.

    Others work at the same time, and as it is your work will not merge with theirs. Keep your changes in these places as small as the task allows:
    - The work of \`users\` changes the same lines in \`src/app.ts\`, \`README.md\`.
    - What is about to land changes the same lines in \`package.json\`.

    Others change names that you have begun to use. Where the task allows, do without them or be ready for both:
    - \`store\` renames \`load\` of \`src/store.ts\` to \`read\`; you use it in \`src/api.ts\`.
    - \`store\` changes the parameters of \`Store.put\` of \`src/store.ts\`; you use it in \`src/api.ts\`.
    - \`store\` removes \`LIMIT\` of \`src/store.ts\`; you use it in \`src/a.ts\`, \`src/b.ts\`.

    These files are not this task's; leave them as they were before you changed them: \`docs/other.md\`.

    Keep going until the task is done.
    "
  `);
});

test('an agent without a session is told the same below its task', () => {
  const start = { kind: 'fresh' } as const;
  const context = { attempt: 2, start, before: null, heard: [], meanwhile: [], prose: true };
  const only = { collisions: [{ with: 'users', files: ['a.ts'] }], clashes: [], strayed: [] };
  const prompt = attemptPrompt(taskSpec({ id: 'login' }), { ...context, foreseen: only });
  expect(prompt.split('# Before this attempt (2)\n')[1]).toMatchInlineSnapshot(`
    "
    Others work at the same time, and as it is your work will not merge with theirs. Keep your changes in these places as small as the task allows:
    - The work of \`users\` changes the same lines in \`a.ts\`.
    "
  `);
});

test('an agent is told which names landed work has changed, and which it still needs', () => {
  const start = { kind: 'fresh' } as const;
  const context = { attempt: 2, start, before: null, heard: [], meanwhile: [], prose: true };
  const [renamed, , removed] = names;
  const told = {
    collisions: [],
    clashes: [{ with: 'store', names: [renamed], landed: true }],
    missed: [{ with: 'api', names: [removed], landed: true }],
    strayed: [],
  } as const;
  const prompt = attemptPrompt(taskSpec({ id: 'login' }), { ...context, foreseen: told });
  expect(prompt.split('# Before this attempt (2)\n')[1]).toMatchInlineSnapshot(`
    "
    Work that has landed since you began changes names that you have begun to use. Use what is on the branch now, whether your workspace shows it yet or not:
    - \`store\` renames \`load\` of \`src/store.ts\` to \`read\`; you use it in \`src/api.ts\`.

    Work that has landed since you began uses names that you take away or change. Keep them as they were where the task allows, or change these uses, too:
    - \`api\` uses \`LIMIT\` of \`src/store.ts\` in \`src/a.ts\`, \`src/b.ts\`.
    "
  `);
});

test('a script is told nothing', () => {
  const start = { kind: 'fresh' } as const;
  const context = {
    attempt: 2,
    start,
    before: null,
    heard: [],
    meanwhile: [],
    prose: false,
    foreseen,
  };
  expect(attemptPrompt(taskSpec({ id: 'x', prompt: 'make' }), context)).toBe('make');
});
