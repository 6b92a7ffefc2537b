/** What an agent is told, whole: the prompts of first, retried and reworked attempts. */

import { expect, test } from 'vitest';
import type { Heard } from '../model/effect.ts';
import type { AttemptStart } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import { NO_OPTIONS, type TaskSpec } from '../model/plan.ts';
import { attemptPrompt } from './prompt.ts';

const TASK: TaskSpec = {
  id: 'login',
  prompt: 'Add the login form.\n',
  agent: 'claude',
  mode: 'write',
  needs: [],
  writes: ['src/auth/**'],
  outside: 'fail',
  forbids: ['src/billing/**'],
  checks: ['npm test -- auth'],
  retries: 2,
  timeoutMs: 3_600_000,
  idleMs: 420_000,
  permissions: 'acceptEdits',
  allowEmpty: false,
  env: {},
  options: NO_OPTIONS,
  hears: [],
  answer: 'free',
};

const FRESH: AttemptStart = { kind: 'fresh' };

function prompt(
  task: TaskSpec,
  start: AttemptStart,
  before: Failure | null,
  heard: readonly Heard[] = [],
): string {
  return attemptPrompt(task, {
    prose: true,
    attempt: before === null ? 1 : 2,
    start,
    before,
    heard,
    meanwhile: [],
  });
}

test('the first attempt gets the task and the rules of its workspace', () => {
  expect(prompt(TASK, FRESH, null)).toMatchInlineSnapshot(`
    "# Task login

    Add the login form.

    # Rules

    - You work alone in your own git worktree of the repository.
    - No one can answer questions: decide, and say what you decided.
    - Change only \`src/auth/**\`. A change anywhere else fails the task.
    - Do not touch \`src/billing/**\`.
    - Before you finish, make sure that these pass: \`npm test -- auth\`.
    - You may commit. What you leave uncommitted is committed for you.
    - Do not push, do not switch branches and do not touch other worktrees.
    "
  `);
});

test('a task in the checkout is told to leave everything else as it is, and not to commit', () => {
  const task = { ...TASK, mode: 'here' as const, writes: [], forbids: [], checks: [] };
  const failure = { kind: 'transient', message: 'Overloaded.' } as const;
  expect(prompt(task, FRESH, failure)).toMatchInlineSnapshot(`
    "# Task login

    Add the login form.

    # Rules

    - You work in the user's own folder: other changes there are not yours, leave them as they are.
    - No one can answer questions: decide, and say what you decided.
    - Do not commit: your changes are to stay in the files.
    - Do not push, do not switch branches and do not touch other worktrees.

    # Before this attempt (2)

    The previous attempt was cut short. Overloaded.

    The files are as that attempt left them.
    "
  `);
});

test('what other tasks reported stands in front of the task, the middle of it left out', () => {
  const task = { ...TASK, prompt: 'Go.', writes: [], forbids: [], checks: [] };
  const heard = [
    { task: 'users', text: 'Use v2.\n' },
    { task: 'mute', text: ' ' },
    { task: 'talker', text: `${'a'.repeat(8_000)}${'b'.repeat(5)}${'c'.repeat(4_000)}` },
  ];
  const sections = prompt(task, FRESH, null, heard).split('\n\n').slice(0, 6);
  expect(sections).toEqual([
    '# What users reported',
    'Use v2.',
    '# What talker reported',
    `${'a'.repeat(8_000)}\n[… 5 characters …]\n${'c'.repeat(4_000)}`,
    '# Task login',
    'Go.',
  ]);
  const resumed = prompt(task, { kind: 'continue', session: 's' }, null, heard);
  expect(resumed).not.toContain('reported'); // It has heard them before.
});

test('an agent is told how its last words should look', () => {
  const last = (answer: 'status-word' | 'completion') =>
    prompt({ ...TASK, answer }, FRESH, null)
      .trimEnd()
      .split('\n')
      .at(-1);
  expect(last('status-word')).toMatchInlineSnapshot(
    `"- End with a line \`Status: DONE\`, \`Status: DONE_WITH_CONCERNS\`, \`Status: BLOCKED\` or \`Status: NEEDS_CONTEXT\`, a line \`Summary: …\`, and where they apply lines \`Concerns: …\`, \`Blocker: …\` (what stops you) and \`Missing: …\` (what you would have to know)."`,
  );
  expect(last('completion')).toMatchInlineSnapshot(
    `"- End with a JSON object in a \`\`\`json fence: \`task_completed\` and \`validation_passed\` (true or false), \`files_created\` and \`files_modified\` (lists of paths), \`tests_run\`, \`tests_passed\` and \`tests_failed\` (numbers), \`summary\`, and \`error_message\` (null, or why the task is not complete)."`,
  );
});

test('an agent is told what is checked out, where not all is', () => {
  const context = { prose: true, attempt: 1, start: FRESH, before: null, heard: [], meanwhile: [] };
  const told = (task: TaskSpec, cone: readonly string[]) =>
    attemptPrompt(task, { ...context, cone });
  expect(told({ ...TASK, rules: 'own' }, ['.github', 'src/auth'])).toMatchInlineSnapshot(`
    "Add the login form.

    # Your checkout

    Only \`.github\`, \`src/auth\` and the files in the root of the repository are checked out here.
    The other folders are in git and stay as they are. If you need one, run
    \`git sparse-checkout add FOLDER\`; \`git ls-files\` lists everything, and
    \`git grep --cached\` searches everything.
    "
  `);
  expect(told(TASK, []).split('# Your checkout\n\n')[1]).toContain('Only the files in the root of');
  const again = { kind: 'continue', session: 's1' } as const;
  const resumed = attemptPrompt(TASK, { ...context, attempt: 2, start: again, cone: ['src/auth'] });
  expect(resumed).not.toContain('sparse-checkout');
});

test('a prompt that brings its own rules stands alone until something went wrong', () => {
  const own: TaskSpec = { ...TASK, rules: 'own' };
  expect(prompt(own, FRESH, null)).toBe('Add the login form.\n');
  const before: Failure = { kind: 'transient', message: 'It exited with code 1.' };
  expect(prompt(own, { kind: 'continue', session: null }, before)).toMatchInlineSnapshot(`
    "Add the login form.

    # Before this attempt (2)

    The previous attempt was cut short. It exited with code 1.

    The workspace is as that attempt left it: look at \`git status\` and \`git log\` first.
    "
  `);
});

test('a task without scope or checks is told no more than it must know', () => {
  const task = { ...TASK, writes: [], forbids: [], checks: [], answer: 'status-line' as const };
  expect(prompt(task, FRESH, null)).toMatchInlineSnapshot(`
    "# Task login

    Add the login form.

    # Rules

    - You work alone in your own git worktree of the repository.
    - No one can answer questions: decide, and say what you decided.
    - You may commit. What you leave uncommitted is committed for you.
    - Do not push, do not switch branches and do not touch other worktrees.
    - If you cannot do the task, end with \`{"status": "FAILED", "reason": "why"}\`.
    "
  `);
});

test('a read task is told that its answer is the result', () => {
  const task: TaskSpec = { ...TASK, mode: 'read', prompt: 'Review the login.', checks: [] };
  expect(prompt(task, FRESH, null)).toMatchInlineSnapshot(`
    "# Task login

    Review the login.

    # Rules

    - You work alone in your own git worktree of the repository.
    - No one can answer questions: decide, and say what you decided.
    - Change no files: whatever you change is thrown away. Your last message is the result.
    - Do not push, do not switch branches and do not touch other worktrees.
    "
  `);
});

test.each(['/agent-developer', '-v', '--help'])(
  'a prompt like %s stands on a line of its own below a heading',
  (text) => {
    const lines = prompt({ ...TASK, prompt: text }, FRESH, null).split('\n');
    expect(lines.slice(0, 3)).toEqual(['# Task login', '', text]);
  },
);

test('an agent that takes its prompt literally gets nothing else', () => {
  const before: Failure = { kind: 'transient', message: 'It exited with code 1.' };
  const heard = [{ task: 'users', text: 'Done.' }];
  const context = { prose: false, attempt: 2, start: FRESH, before, heard, meanwhile: [] };
  const script = '  npx prettier --write src\n';
  expect(attemptPrompt({ ...TASK, prompt: script }, context)).toBe(script);
});

test('a new session after failed checks gets everything, and the output', () => {
  const before: Failure = {
    kind: 'checks-failed',
    message: 'A check failed.',
    check: 'npm test -- auth',
    output: 'FAIL auth.test.ts\n  expected 1, got ```2```\n',
  };
  const text = prompt(TASK, { kind: 'continue', session: null }, before);
  expect(text.slice(text.indexOf('# Before'))).toMatchInlineSnapshot(`
    "# Before this attempt (2)

    The check \`npm test -- auth\` failed:
    \`\`\`\`
    FAIL auth.test.ts
      expected 1, got \`\`\`2\`\`\`
    \`\`\`\`

    The workspace is as that attempt left it: look at \`git status\` and \`git log\` first.
    "
  `);
  expect(text).toContain('Add the login form.');
  expect(text).toContain('# Rules');
});

test('a resumed session that was cut short is only told to go on', () => {
  const before: Failure = { kind: 'rate-limited', message: 'You have hit your 5-hour limit.' };
  const start: AttemptStart = { kind: 'continue', session: 's1' };
  expect(prompt(TASK, start, before)).toMatchInlineSnapshot(`
    "# Task login, attempt 2

    The previous attempt was cut short. You have hit your 5-hour limit.

    The workspace is as that attempt left it: look at \`git status\` and \`git log\` first.

    Keep going until the task is done.
    "
  `);
});

test('a conflict names the files and what landed meanwhile', () => {
  const before: Failure = {
    kind: 'conflict',
    message: 'Conflict.',
    files: ['src/app.ts', 'src/menu.ts'],
    landedSince: ['users', 'menu'],
  };
  const start: AttemptStart = { kind: 'rework', session: 's1', commit: 'c1' };
  expect(prompt(TASK, start, before)).toMatchInlineSnapshot(`
    "# Task login, attempt 2

    Your work is finished but conflicts with what landed meanwhile (\`users\`, \`menu\`).
    These files conflict: \`src/app.ts\`, \`src/menu.ts\`.
    The merge is laid out in the workspace. Resolve each file so that both intentions survive, and
    leave no conflict marker. \`git show :2:PATH\` is your version, \`git show :3:PATH\` what landed.

    The workspace now holds your work merged with all that has landed. Keep that merge.

    Keep going until the task is done.
    "
  `);
});

test('a red gate gives its output and what landed meanwhile', () => {
  const before: Failure = {
    kind: 'gate-failed',
    message: 'The gate is red.',
    gate: 'tests',
    output: 'menu.test.ts: no login entry',
    landedSince: ['menu'],
  };
  const start: AttemptStart = { kind: 'rework', session: 's1', commit: 'c1' };
  expect(prompt(TASK, start, before)).toMatchInlineSnapshot(`
    "# Task login, attempt 2

    Your work is finished, but combined with what landed meanwhile (\`menu\`)
    the gate \`tests\` fails. Make the combination pass:
    \`\`\`
    menu.test.ts: no login entry
    \`\`\`

    The workspace now holds your work merged with all that has landed. Keep that merge.

    Keep going until the task is done.
    "
  `);
});

test.each<[Failure, string]>([
  [
    { kind: 'out-of-scope', message: 'Outside.', files: ['README.md'] },
    "These files were changed though they are not this task's: `README.md`.\n" +
      'Undo those changes and do the task without them.',
  ],
  [
    { kind: 'no-change', message: 'Nothing changed.' },
    'The previous attempt ended without changing a single file. Make the change.',
  ],
  [
    { kind: 'commit-failed', message: 'pre-commit: lint failed' },
    'The work could not be committed:\n```\npre-commit: lint failed\n```',
  ],
  [{ kind: 'turns', message: 'Too many.' }, 'The previous attempt failed. Too many.'],
])('what happened before is told: %o', (before, expected) => {
  const start: AttemptStart = { kind: 'continue', session: 's1' };
  expect(prompt(TASK, start, before).split('\n\n')[1]).toBe(expected);
});

test('of a long output only the end is told, where the reason stands', () => {
  const output = `${'noise\n'.repeat(100_000)}the reason`;
  const before: Failure = { kind: 'checks-failed', message: 'Red.', check: 'make', output };
  const text = prompt(TASK, FRESH, before);
  expect(text.length).toBeLessThan(8_000);
  expect(text).toContain('the reason\n```');
});

test('of a hundred files the first fifty are named and the rest counted', () => {
  const files = Array.from({ length: 100 }, (_, index) => `f${index}.ts`);
  const before: Failure = { kind: 'conflict', message: 'Conflict.', files, landedSince: [] };
  const text = prompt(TASK, { kind: 'rework', session: 's1', commit: 'c1' }, before);
  expect(text).toContain('`f49.ts` and 50 more.');
  expect(text).toContain('what landed meanwhile.');
});
