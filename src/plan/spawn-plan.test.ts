import { expect, test } from 'vitest';
import { lower } from './formats/native/lower.ts';
import { idsOf, spawnPlan } from './spawn-plan.ts';

const AROUND = {
  land: true,
  here: null,
  config: {},
  home: '/home/ada',
  taken: new Set<string>(),
};
const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

test.each([
  ['implement auth', 'implement-auth'],
  ['Add Tests/unit', 'add-tests-unit'],
  ['fix issue #42: x', 'fix-issue-42-x'],
  ['  --help  ', 'help'],
  ['-rf /', 'rf'],
  ['a..b.lock', 'a-b-lock'],
  ['Ärger mit façade', 'arger-mit-facade'],
  ['修复登录', 'task'],
  ['🚀🚀', 'task'],
  ['ship it 🚀', 'ship-it'],
  ['first line\nsecond line', 'first-line-second-line'],
  ['keep snake_case', 'keep-snake_case'],
  ['@{-1}', '1'],
  ['x'.repeat(300), 'x'.repeat(50)],
])('%j has the id %j', (text, id) => {
  expect(idsOf([text])).toEqual([id]);
});

test('texts that begin alike, are equal, or have no letters get ids of their own', () => {
  const long = 'refactor the whole of the accounting module so that';
  const ids = idsOf([`${long} a`, `${long} b`, long, '修复', '登录', 'fix', 'fix', 'fix 2', 'FIX']);
  const slug = 'refactor-the-whole-of-the-accounting-module-so-tha';
  expect(ids).toEqual([
    slug,
    `${slug}-2`,
    `${slug}-3`,
    'task',
    'task-2',
    'fix',
    'fix-2',
    'fix-2-2',
    'fix-3',
  ]);
});

test('ids that an earlier run has used are left alone', () => {
  expect(idsOf(['fix', 'fix'], new Set(['fix', 'fix-3']))).toEqual(['fix-2', 'fix-4']);
});

test('whatever the texts are, every one has a valid id and no two the same', () => {
  const units = [
    'a',
    'Z',
    '-',
    '_',
    '.',
    '/',
    ' ',
    '\n',
    '\0',
    'é',
    '\ud800',
    '🚀',
    '漢',
    '\u202e',
  ];
  const texts: string[] = [];
  for (let n = 0; n < 3000; n += 1) {
    const length = n % 7;
    const text = Array.from({ length }, (_, i) => units[(n * (i + 3) + i) % units.length]);
    texts.push(text.join(''));
  }
  const ids = idsOf(texts);
  expect(ids.filter((id) => !ID.test(id))).toEqual([]);
  expect(new Set(ids).size).toBe(texts.length);
});

test('the plan is a native one of these tasks, with what is configured', () => {
  const config = { limits: { workers: 3 }, gates: [{ name: 'tests', run: 'npm test' }] };
  const given = { prompts: ['a b', 'c'], agent: 'codex', model: 'm' };
  const native = lower(
    {
      landfast: 1,
      defaults: { agent: 'codex', model: 'm' },
      tasks: [{ id: 'a-b' }, { id: 'c' }],
    },
    ['a b', 'c'],
    { name: 'spawn', config, home: '/home/ada' },
  );
  expect(spawnPlan({ ...AROUND, ...given, config })).toEqual({
    ...native,
    conventions: { ...native.conventions, commitMessage: '{title}' },
  });
});

test('with a prefix, branches and folders are named by the task alone, and nothing is merged', () => {
  const config = { branch_prefix: 'orchestra' };
  const { landing, workspace, conventions } = spawnPlan({ ...AROUND, prompts: ['x'], config });
  expect([landing.strategy, workspace.dir]).toEqual(['none', '.worktrees']);
  expect([conventions.branch, conventions.workspace]).toEqual(['orchestra/{task}', 'task-{task}']);
  const own = { ...config, worktree_dir: 'trees', land: { strategy: 'squash' } } as const;
  const other = spawnPlan({ ...AROUND, prompts: ['x'], config: own });
  expect([other.landing.strategy, other.workspace.dir]).toEqual(['squash', 'trees']);
});

test('work stays on its branch where landing is not wanted', () => {
  const config = { land: { strategy: 'squash' } } as const;
  const plan = spawnPlan({ ...AROUND, prompts: ['x'], land: false, config });
  expect(plan.landing.strategy).toBe('none');
});

test('without workspaces, tasks work where the user is', () => {
  const modes = (here: string) =>
    spawnPlan({ ...AROUND, prompts: ['x'], here }).tasks.map(({ mode, cwd }) => [mode, cwd]);
  expect([modes('')[0], modes('src/app')[0]]).toEqual([
    ['here', undefined],
    ['here', 'src/app'],
  ]);
});
