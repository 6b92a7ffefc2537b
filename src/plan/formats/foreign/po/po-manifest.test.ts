/** parallel-orchestra manifests: what their users rely on, by the number of the case. */

import { describe, expect, test } from 'vitest';
import { planInput } from '../../../../../test/support/plan-input.ts';
import { NO_OPTIONS, NO_SANDBOX, type Plan } from '../../../../model/plan.ts';
import { formatProblem } from '../../../problem.ts';
import { poManifest } from './po-manifest.ts';

function parse(text: string, directory = '') {
  const { plan, problems } = poManifest.parse(planInput('plan-report.md', text, { directory }));
  return { plan, problems: problems.map(formatProblem) };
}

function planOf(text: string, directory = ''): Plan {
  const { plan, problems } = parse(text, directory);
  expect(problems).toEqual([]);
  return plan!;
}

/** The smallest manifest around some tasks (in flow style) and further top-level lines. */
function manifest(tasks: readonly string[], lines: readonly string[] = ['cwd: "."']): string {
  const list = tasks.map((task) => `  - ${task}`);
  return ['---', 'po_plan_version: "0.1"', ...lines, 'tasks:', ...list, '---', '# Notes'].join(
    '\n',
  );
}

/** What workspaces get of the user's `.claude` folder. */
const INJECT = {
  from: '.claude',
  to: '.claude',
  skip: [
    ...['CLAUDE.md', 'settings.json', 'logs', 'memory'],
    ...['reports/!(plan-report-*.md)', 'reports/*/**'],
  ],
  blank: ['CLAUDE.md'],
};

const task = (id: string, more = 'read_only: false') => `{ id: ${id}, agent: dev, ${more} }`;

/** The only error, which must mention all of these. */
function expectError(text: string, ...tokens: string[]): void {
  const { plan, problems } = parse(text);
  expect(plan).toBeNull();
  const errors = problems.filter((problem) => problem.includes(': error: '));
  expect(errors).toHaveLength(1);
  for (const token of tokens) expect(errors[0]).toContain(token);
}

test('PO-01: only the required keys give the documented defaults', () => {
  const plan = planOf(manifest([task('a', 'read_only: true'), task('b')]));
  const both = {
    prompt: '/agent-dev',
    agent: 'claude',
    role: 'dev',
    needs: [],
    writes: [],
    outside: 'report',
    forbids: [],
    checks: [],
    retries: 1,
    timeoutMs: 900_000,
    idleMs: 900_000,
    allowEmpty: true,
    options: NO_OPTIONS,
    hears: [],
    answer: 'status-line',
  };

  expect(plan).toEqual({
    name: 'plan-report',
    tasks: [
      { ...both, id: 'a', mode: 'read', inPlace: true, permissions: 'dontAsk', env: {} },
      {
        ...both,
        id: 'b',
        mode: 'write',
        permissions: 'bypassPermissions',
        env: { PO_WORKTREE_GUARD: '1' },
      },
    ],
    gates: [],
    workspace: {
      salvage: '.claude/reports',
      setup: [],
      setupKey: [],
      copy: [],
      inject: [INJECT],
    },
    landing: {
      strategy: 'merge',
      verify: 'off',
      onConflict: 'fail',
      order: 'plan',
      onGateFailure: 'fail',
      onSemantic: 'warn',
      reworks: 0,
      publish: 'end',
    },
    limits: { workers: 3, gates: 1, groups: {} },
    sandbox: NO_SANDBOX,
    notify: [],
    conventions: {
      branch: 'parallel-orchestra/{task}-{hash}',
      workspace: '{run}/{task}',
      commitMessage: 'parallel-orchestra: task {task} [auto-commit]',
      mergeMessage: 'Merge parallel-orchestra task {task}',
      conflictExit: 3,
      summary: 'lines',
      noTasks: 'error',
      edits: 'apart',
      logs: { dir: '.claude/logs', style: 'streams' },
      reports: [],
    },
  });
});

test.each(['0.0', '0.2', '0.3', '0.4', '0.5', '0.6', '0.7', '1.0', 'v0.1', ''])(
  'PO-02: version "%s" is unsupported',
  (version) => {
    const text = manifest([task('a')]).replace('"0.1"', `"${version}"`);
    expectError(text, 'unsupported po_plan_version', 'supported: "0.1"', ':2:18:');
  },
);

test('PO-04: a file of the predecessor is read as such, with a note', () => {
  const text = [
    ...['---', 'clade_plan_version: "0.7"', 'name: old'],
    'defaults: { timeout_sec: 600, retry_delay_sec: 2.5, retry_backoff_factor: 3 }',
    'tasks:',
    '  - { id: a, agent: dev, read_only: false, cwd: .., writes: [src/a.ts], idle_timeout_sec: 60 }',
    '  - { id: b, agent: dev, read_only: true, timeout_sec: 1200, idle_timeout_sec: 9 }',
    '  - { id: c, agent: dev, read_only: true, cwd: sub, max_retries: 2, retry_delay_sec: 0 }',
    '---',
  ].join('\n');
  const { plan, problems } = parse(text, 'examples');
  expect(poManifest.detect({ path: 'm.md', text })).toEqual({ line: 2, column: 1 });
  expect(problems).toEqual([
    expect.stringContaining(":2:1: warning: clade_plan_version is the key of parallel-orchestra's"),
  ]);
  const wanted = plan?.tasks.map(({ id, cwd, writes, retries, retry, timeoutMs, idleMs }) => ({
    ...{ id, cwd, writes, retries, retry, timeoutMs, idleMs },
  }));
  const retry = { factor: 3, session: 'resumed', afterTimeout: false };
  expect(wanted).toEqual([
    {
      ...{ id: 'a', cwd: undefined, writes: ['src/a.ts'], retries: 0, timeoutMs: 600_000 },
      ...{ idleMs: 60_000, retry: { ...retry, pauseMs: 2500 } },
    },
    {
      ...{ id: 'b', cwd: 'examples', writes: [], retries: 0, timeoutMs: 1_200_000 },
      ...{ idleMs: 1_200_000, retry: { ...retry, pauseMs: 2500 } },
    },
    {
      ...{ id: 'c', cwd: 'examples/sub', writes: [], retries: 2, timeoutMs: 600_000 },
      ...{ idleMs: 600_000, retry: { ...retry, pauseMs: 0 } },
    },
  ]);
});

test('PO-04: versions the predecessor never had and times that cannot be are errors', () => {
  const old = (version: string, more = '') =>
    `---\nclade_plan_version: ${version}\ntasks:\n  - ${task('a', `read_only: no${more}`)}\n---\n`;
  expectError(old('"0.8"'), 'unsupported clade_plan_version "0.8"', '"0.1" to "0.7"', ':2:21:');
  expectError(old('0.1'), 'clade_plan_version must be text, found 0.1 (a number)');
  expectError(old('"0.7"', ', timeout_sec: 0'), 'timeout_sec must be a number from 1 to 2073600');
  expectError(old('"0.7"', ', retry_delay_sec: "2"'), 'retry_delay_sec must be a number');
  expectError(old('"0.7"', ', cwd: 3'), 'cwd must be text, found 3 (a number)');
});

test('models of the successor are honoured where they are known, others ignored as they were', () => {
  const lines = ['cwd: "."', 'defaults: { model: haiku }'];
  const tasks = [
    task('a'),
    task('b', 'read_only: yes, model: opus'),
    task('c', 'read_only: no, model: 7'),
  ];
  const { plan, problems } = parse(manifest(tasks, lines));
  expect(plan?.tasks.map(({ model }) => model)).toEqual(['haiku', 'opus', 'haiku']);
  expect(problems).toEqual([
    expect.stringContaining(":4:13: warning: model is a key of parallel-orchestra's successor"),
    expect.stringContaining('warning: task "c": model is ignored'),
  ]);
});

test('a sequential plan of the successor runs one task at a time, with a note', () => {
  const { plan, problems } = parse(manifest([task('a')]).replace('"0.1"', 'sequential'));
  expect(plan?.limits.workers).toBe(1);
  expect(problems).toEqual([
    expect.stringContaining(':2:18: warning: po_plan_version "sequential"'),
  ]);
});

test('an absolute cwd below the root is followed, one elsewhere is not', () => {
  const cwdOf = (cwd: string) => {
    const { plan, problems } = parse(manifest([task('a', 'read_only: yes')], [`cwd: ${cwd}`]), 'x');
    return [plan?.tasks[0]?.cwd, problems.length];
  };
  const root = planInput('m', '').repository.root;
  expect([`${root}/sub/dir`, root, '/elsewhere', '../..'].map(cwdOf)).toEqual([
    ['sub/dir', 0],
    [undefined, 0],
    [undefined, 1],
    [undefined, 1],
  ]);
});

test('PO-05: cwd is required and text', () => {
  expectError(manifest([task('a')], []), 'cwd is missing');
  expectError(manifest([task('a')], ['cwd: 123']), 'cwd must be text, found 123', ':3:6:');
  expectError(manifest([task('a')], ['cwd:']), 'cwd must be text, found nothing', ':3:1:');
});

test.each(['id', 'agent', 'read_only'])('PO-07: a task without %s', (key) => {
  const keys = ['id: a', 'agent: dev', 'read_only: false'].filter((k) => !k.startsWith(key));
  expectError(manifest([`{ ${keys.join(', ')} }`]), `${key} is missing`, ':5:5:');
});

test('PO-08: read_only takes the booleans of YAML 1.1, not text', () => {
  expect(planOf(manifest([task('a', 'read_only: yes')])).tasks[0]?.mode).toBe('read');
  expect(planOf(manifest([task('a', 'read_only: Off')])).tasks[0]?.mode).toBe('write');
  expectError(manifest([task('a', 'read_only: "yes"')]), 'read_only must be true or false');
});

test('PO-10: both delimiters are needed', () => {
  const text = manifest([task('a')]);
  expectError(text.replace('---\n', ''), 'front matter must start', ':1:1:');
  expectError(` ${text}`, 'front matter must start');
  expectError(text.replace('\n---\n', '\n'), 'front matter is not closed');
});

test.each(['../../etc/passwd', 'task/slash', 'task space', 'task@bad', '', 'a\\n'])(
  'PO-11: id "%s" is not allowed',
  (id) => expectError(manifest([task(`"${id}"`)]), ' id ', 'is not allowed', ':5:11:'),
);

describe('the same write target', () => {
  const writes = (path: string, more = '') => `read_only: false, writes: [${path}]${more}`;

  test('PO-13: in two tasks that may run together is a conflict', () => {
    const tasks = [task('a', writes('src/output.py')), task('b', writes('src/output.py'))];
    expectError(manifest(tasks), 'conflict', '"a"', '"b"', 'src/output.py', ':6:53:');
  });

  test.each([
    ['src', 'src/x.py'],
    ['src/x.py', 'src'],
    ['.', 'src/x.py'],
    ['src/*.py', 'src/x.py'],
  ])('PO-13: %s and %s in two such tasks are a conflict, too', (one, other) => {
    const tasks = [task('a', writes(`"${one}"`)), task('b', writes(`"${other}"`))];
    expectError(manifest(tasks), 'conflict: tasks "a" and "b" write', 'which overlap');
  });

  test('PO-13: paths that only begin alike are not', () => {
    const tasks = [task('a', writes('src')), task('b', writes('src-old, srcs/x.py'))];
    expect(planOf(manifest(tasks)).tasks).toHaveLength(2);
  });

  test('PO-14: is fine once depends_on orders the tasks', () => {
    const b = task('b', writes('src/../src/x.py', ', depends_on: [a]'));
    const { tasks } = planOf(manifest([task('a', writes('./src/x.py')), b]));
    expect(tasks.map((t) => t.writes)).toEqual([['src/x.py'], ['src/x.py']]);
  });
});

test('PO-01: writes and depends_on with nothing behind them are empty', () => {
  const nothing = 'read_only: false, writes: null, depends_on: null';
  const [a] = planOf(manifest([task('a', nothing)])).tasks;
  expect({ writes: a?.writes, needs: a?.needs }).toEqual({ writes: [], needs: [] });
});

test('PO-16: unknown dependencies are undefined, in sorted order', () => {
  const text = manifest([task('a', 'read_only: no, depends_on: [zoo, b, art]'), task('b')]);
  expectError(text, 'undefined task ids: "art", "zoo"', ':5:54:');
});

test('PO-17: cycles are shown as a path', () => {
  const needs = (id: string, need: string) => task(id, `read_only: no, depends_on: [${need}]`);
  expectError(manifest([needs('a', 'b'), needs('b', 'a')]), 'cyclic', 'a -> b -> a');
  expectError(manifest([needs('a', 'a')]), 'cyclic', 'a -> a');
  expectError(
    manifest([needs('a', 'c'), needs('b', 'a'), needs('c', 'b')]),
    'cyclic',
    'a -> c -> b -> a',
  );
});

test('PO-19: max_retries is converted as Python does', () => {
  const retries = (value: string) => manifest([task('a', `read_only: no, max_retries: ${value}`)]);
  const values = ['3', '"2"', '1.9', 'true', '" 1_0 "', '0'];
  expect(values.map((value) => planOf(retries(value)).tasks[0]?.retries)).toEqual([
    3, 2, 1, 1, 10, 0,
  ]);
  for (const wrong of ['-1', '', '"2.5"', 'many', '[1]', '.inf']) {
    expectError(retries(wrong), 'max_retries must be an integer');
  }
});

test('PO-20: a task overrides defaults.max_retries', () => {
  const tasks = [task('a'), task('b', 'read_only: no, max_retries: 5')];
  const plan = planOf(manifest(tasks, ['cwd: .', 'defaults: { max_retries: 2 }']));
  expect(plan.tasks.map(({ retries }) => retries)).toEqual([2, 5]);
});

test.each([
  'LD_PRELOAD',
  'LD_LIBRARY_PATH',
  'LD_AUDIT',
  'DYLD_INSERT_LIBRARIES',
  'DYLD_LIBRARY_PATH',
  'PYTHONPATH',
  'PO_WORKTREE_GUARD',
])('PO-22: env %s is refused', (name) => {
  expectError(manifest([task('a', `read_only: no, env: { ${name}: x }`)]), name, 'task "a"');
});

test('PO-23: a group needs a limit from 1 to 256', () => {
  const tasks = [task('a', 'read_only: no, concurrency_group: g')];
  const limits = (value: string) => manifest(tasks, ['cwd: .', `concurrency_limits: ${value}`]);

  expectError(manifest(tasks), 'concurrency_limits is missing', '"g"');
  for (const wrong of ['0', '257', '"x"', '[]']) expectError(limits(`{ g: ${wrong} }`), '1 to 256');
  const good = ['2', '"2"', '2.9', 'true', '256'].map((value) => planOf(limits(`{ g: ${value} }`)));
  expect(good.map((plan) => plan.limits.groups)).toEqual([
    { g: 2 },
    { g: 2 },
    { g: 2 },
    { g: 1 },
    { g: 256 },
  ]);
  expect(good[0]?.tasks[0]?.group).toBe('g');
});

test('PO-25: CRLF, blanks behind the delimiters and --- inside a prompt are accepted', () => {
  const prompt = 'read_only: false\n    prompt: |\n      one\n      ---\n      two';
  const text = manifest([`id: a\n    agent: dev\n    ${prompt}`]).replaceAll(/^---$/gm, '--- \t');
  expect(planOf(text.replaceAll('\n', '\r\n')).tasks[0]?.prompt).toBe('one\n---\ntwo\n');
});

test('PO-26: a byte order mark is accepted', () => {
  expect(planOf(`\uFEFF${manifest([task('a')])}`).tasks).toHaveLength(1);
});

test('PO-74: duplicate ids are refused', () => {
  expectError(manifest([task('a'), task('b'), task('a')]), 'duplicate task id "a"', ':7:11:');
});

test('PO-76: paths are relative to the folder of the manifest', () => {
  const tasks = [
    task('a', 'read_only: false, writes: [../../src/x.py, y.py, ../../../z.py]'),
    task('b', 'read_only: true'),
  ];
  const { plan, problems } = parse(manifest(tasks, ['cwd: "../.."']), 'ex/.claude/reports');

  expect(problems).toEqual([]);
  expect(plan?.tasks.map(({ cwd, writes }) => ({ cwd, writes }))).toEqual([
    { cwd: undefined, writes: ['ex/src/x.py', 'ex/.claude/reports/y.py', 'z.py'] },
    { cwd: 'ex', writes: [] },
  ]);
});
