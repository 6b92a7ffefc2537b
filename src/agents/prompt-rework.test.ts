import { expect, test } from 'vitest';
import type { Meanwhile } from '../model/effect.ts';
import { conflictSection, gateSection } from './prompt.ts';

const USERS: Meanwhile = {
  task: 'users',
  title: 'Add the users table',
  prompt: 'Add the users table\n\nEvery user has a name and an e-mail address.',
  said: 'Users have a name now.\nThe address is checked in `mail.ts`.',
  files: ['src/app.ts', 'src/users.ts'],
};
const MENU: Meanwhile = { task: 'menu', title: 'A menu', prompt: 'A menu', said: '', files: [] };

test('a conflict tells each file, whose the other side is, and what that was for', () => {
  const told = conflictSection(
    {
      kind: 'conflict',
      message: 'No.',
      files: ['src/app.ts', 'img.png', 'old.ts'],
      conflicts: [
        {
          path: 'src/app.ts',
          kind: 'content',
          lines: [
            [10, 14],
            [20, 20],
          ],
        },
        { path: 'img.png', kind: 'binary' },
        { path: 'old.ts', kind: 'deleted-there' },
      ],
      landedSince: ['users', 'menu'],
    },
    [USERS, MENU],
  );
  expect(told).toMatchInlineSnapshot(`
    "Your work is finished but conflicts with what landed meanwhile (\`users\`, \`menu\`).

    - \`src/app.ts\`: both changed lines 10-14, 20 (the other side is \`users\`)
    - \`img.png\`: both changed a binary file; the workspace holds yours, without markers
    - \`old.ts\`: changed here, deleted there; delete it or keep it as it should be

    The merge is laid out in the workspace. Resolve each file so that both intentions survive, and
    leave no conflict marker. \`git show :2:PATH\` is your version, \`git show :3:PATH\` what landed.

    What landed meanwhile, and what it was for:

    \`users\`: Add the users table
    It was asked:
    > Add the users table
    >
    > Every user has a name and an e-mail address.
    It reported:
    > Users have a name now.
    > The address is checked in \`mail.ts\`.

    \`menu\`: A menu"
  `);
});

test('a red gate tells what failed and what the others were for', () => {
  const output = `${'ok\n'.repeat(5_000)}login.test.ts: expected a name\n${'ok\n'.repeat(5_000)}`;
  const told = gateSection(
    { kind: 'gate-failed', message: 'Red.', gate: 'tests', output, landedSince: ['menu'] },
    [MENU],
  );
  expect(told.split('\n').slice(0, 3)).toEqual([
    'Your work is finished, but combined with what landed meanwhile (`menu`)',
    'the gate `tests` fails. Make the combination pass:',
    '```',
  ]);
  expect(told).toContain('\nlogin.test.ts: expected a name\n');
  expect(told.split('\n').slice(-3)).toEqual([
    'What landed meanwhile, and what it was for:',
    '',
    '`menu`: A menu',
  ]);
  expect(told.length).toBeLessThan(8_000);
});

test('whatever landed, and however long it is, the text stays bounded', () => {
  const many = Array.from({ length: 200 }, (_, at) => ({
    ...USERS,
    task: `t${at}`,
    prompt: 'p'.repeat(50_000),
    said: 's'.repeat(50_000),
  }));
  const files = Array.from({ length: 1_000 }, (_, at) => `f${at}`);
  const conflicts = files.map((path) => ({ path, kind: 'content' }) as const);
  const landedSince = many.map(({ task }) => task);
  const told = conflictSection(
    { kind: 'conflict', message: 'No.', files, conflicts, landedSince },
    many,
  );
  expect(told.length).toBeLessThan(16_000);
  expect(told).toContain('- and 980 more, see `git status`');
  expect(told).toContain('(192 earlier ones are left out.)');
});
