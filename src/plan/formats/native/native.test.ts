/** The native plan: every key, every default, and where prompts come from. */

import { posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { taskSpec } from '../../../../test/support/journal-builder.ts';
import { planInput } from '../../../../test/support/plan-input.ts';
import { NATIVE_CONVENTIONS, NO_OPTIONS, NO_SANDBOX, type Plan } from '../../../model/plan.ts';
import type { Config } from '../../config/schema.ts';
import { formatProblem } from '../../problem.ts';
import { native } from './native.ts';

interface Given {
  readonly path?: string;
  readonly directory?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly config?: Config;
}

function parse(text: string, given: Given = {}) {
  const { path = 'plans/accounts.yaml', directory = 'plans', files = {}, config = {} } = given;
  const around = Object.entries(files).map(([name, content]) => [
    posix.join(directory, name),
    content,
  ]);
  const all = { directory, files: Object.fromEntries(around), config };
  return native.parse(planInput(path, text, all));
}

function planOf(text: string, given: Given = {}): Plan {
  const { plan, problems } = parse(text, given);
  expect(problems).toEqual([]);
  return plan!;
}

/** Problems without the file's name. */
function problemsOf(text: string, given: Given = {}): string[] {
  const { problems } = parse(text, given);
  return problems.map((problem) => formatProblem(problem).slice(problem.file.length + 1));
}

const EVERYTHING = `landfast: 1
name: accounts
target: release/2
defaults:
  agent: codex
  role: developer
  model: large
  retries: 5
  timeout: 1h30m
  idle: 90
  permissions: plan
  env: { A: one, B: one }
workspace: { setup: [npm ci], setup_key: [package-lock.json], copy: [.env.local] }
gates:
  - { name: types, run: npx tsc --noEmit, timeout: 500ms }
  - { name: tests, run: npm test }
  - { name: messages, run: npx commitlint, sees: commit }
land:
  strategy: squash
  verify: "off"
  on_conflict: fail
  on_gate_failure: fail
  on_semantic: fail
  reworks: 0
  publish: "off"
limits: { workers: 8, gates: 2, budget_usd: 2.5, groups: { db: 1 } }
tasks:
  - id: users
    prompt: Add users
  - id: login
    prompt_file: prompts/login.md
    agent: claude
    role: reviewer
    model: small
    needs: [users, users]
    writes: [./src/auth/, "src/*.ts"]
    forbids: [src/billing/**]
    checks: [npm test -- auth]
    group: db
    retries: 0
    timeout: 2m
    idle: 1.5s
    permissions: bypassPermissions
    allow_empty: true
    env: { B: two }
    cwd: packages/app/
  - id: review
    prompt: Look
    read_only: true
`;

test('every key becomes part of the plan', () => {
  const all = {
    agent: 'codex',
    role: 'developer',
    model: 'large',
    mode: 'write',
    needs: [],
    writes: [],
    outside: 'fail',
    forbids: [],
    checks: [],
    retries: 5,
    timeoutMs: 5_400_000,
    idleMs: 90_000,
    permissions: 'plan',
    allowEmpty: false,
    env: { A: 'one', B: 'one' },
    options: NO_OPTIONS,
    hears: [],
    answer: 'free',
  };
  const login = {
    ...all,
    id: 'login',
    prompt: 'Log in.\nSafely.',
    agent: 'claude',
    role: 'reviewer',
    model: 'small',
    needs: ['users'],
    writes: ['src/auth', 'src/*.ts'],
    forbids: ['src/billing/**'],
    checks: ['npm test -- auth'],
    group: 'db',
    retries: 0,
    timeoutMs: 120_000,
    idleMs: 1_500,
    permissions: 'bypassPermissions',
    allowEmpty: true,
    env: { A: 'one', B: 'two' },
    cwd: 'packages/app',
  };

  const files = { 'prompts/login.md': '\uFEFFLog in.\r\nSafely.\n' };
  expect(planOf(EVERYTHING, { files })).toEqual({
    name: 'accounts',
    target: 'release/2',
    tasks: [
      { ...all, id: 'users', prompt: 'Add users' },
      login,
      { ...all, id: 'review', prompt: 'Look', mode: 'read' },
    ],
    gates: [
      { name: 'types', run: 'npx tsc --noEmit', timeoutMs: 500 },
      { name: 'tests', run: 'npm test', timeoutMs: 600_000 },
      { name: 'messages', run: 'npx commitlint', timeoutMs: 600_000, sees: 'commit' },
    ],
    workspace: {
      setup: ['npm ci'],
      setupKey: ['package-lock.json'],
      copy: ['.env.local'],
      inject: [],
    },
    landing: {
      strategy: 'squash',
      verify: 'off',
      onConflict: 'fail',
      onGateFailure: 'fail',
      onSemantic: 'fail',
      reworks: 0,
      publish: 'off',
      trailers: true,
    },
    limits: { workers: 8, gates: 2, budgetUsd: 2.5, groups: { db: 1 } },
    sandbox: NO_SANDBOX,
    notify: [],
    conventions: NATIVE_CONVENTIONS,
  });
});

test('the shortest plan has all the defaults', () => {
  expect(planOf('landfast: 1\ntasks: [{ id: a, prompt: Do it }]')).toEqual({
    name: 'accounts',
    tasks: [taskSpec({ id: 'a', prompt: 'Do it' })],
    gates: [],
    workspace: { setup: [], setupKey: [], copy: [], inject: [] },
    landing: {
      strategy: 'merge',
      verify: 'each',
      onConflict: 'agent',
      onGateFailure: 'agent',
      onSemantic: 'agent',
      reworks: 2,
      publish: 'end',
      trailers: true,
    },
    limits: { workers: 4, gates: 1, groups: {} },
    sandbox: NO_SANDBOX,
    notify: [],
    conventions: NATIVE_CONVENTIONS,
  });
});

describe('a Markdown plan', () => {
  const front = '---\nlandfast: 1\ntasks:\n  - id: a\n  - id: b\n    prompt: own\n---\n';
  const markdown = { path: 'p.md' };

  test('has prompts in sections of its body', () => {
    const body =
      '# Title\n\n## `a`\n\nDo a.\n\n### Details\n```sh\n## no heading\n```\n# Notes\nmine\n';
    const { tasks } = planOf(front + body, markdown);
    expect(tasks.map(({ prompt }) => prompt)).toEqual([
      'Do a.\n\n### Details\n```sh\n## no heading\n```',
      'own',
    ]);
  });

  test('tells of sections that are no prompt, and of tasks that have none', () => {
    expect(problemsOf(`${front}## b\nunused\n## a\n\n## Notes\n`, markdown)).toEqual([
      '4:5: error: task "a" has no prompt\n  add prompt or prompt_file, or text below a heading ## a',
      '8:1: warning: section "b" belongs to no task without a prompt\n' +
        '  ## is for the ids of tasks without a prompt; inside a prompt use ###',
      '12:1: warning: section "Notes" belongs to no task without a prompt\n' +
        '  ## is for the ids of tasks without a prompt; inside a prompt use ###',
    ]);
  });

  test('that is not closed says so', () => {
    expect(problemsOf('---\nlandfast: 1\n# Body\n', markdown)).toEqual([
      '1:1: error: the front matter is not closed\n  end it with a line that is exactly ---',
    ]);
  });
});

describe('a prompt file', () => {
  const plan = (path: string) => `landfast: 1\ntasks: [{ id: a, prompt_file: "${path}" }]`;
  const remedy = "name a file in the repository, relative to the plan's folder";

  test('is read relative to the folder of the plan, and may lie beside it', () => {
    const files = { '../prompts/a.md': 'hello' };
    expect(planOf(plan('../prompts/a.md'), { files }).tasks[0]?.prompt).toBe('hello');
    const outside = { directory: '../elsewhere', files: { 'a.md': 'hi' } };
    expect(planOf(plan('a.md'), outside).tasks[0]?.prompt).toBe('hi');
  });

  test.each([
    ['../../x', `prompt_file: "../../x" leaves the repository\n  ${remedy}`],
    ['/etc/passwd', `prompt_file: "/etc/passwd" is an absolute path\n  ${remedy}`],
    ['~/x', `prompt_file: "~/x" is an absolute path\n  ${remedy}`],
    ['no.md', 'prompt_file: "no.md" cannot be read\n  it is relative to the plan\'s folder'],
    [
      'empty.md',
      'prompt_file: "empty.md" has no text in it\n  it is relative to the plan\'s folder',
    ],
  ])('%s is refused', (path, expected) => {
    expect(problemsOf(plan(path), { files: { 'empty.md': ' \n' } })).toEqual([
      `2:31: error: ${expected}`,
    ]);
  });
});

describe('a seed', () => {
  const plan = (workspace: string) =>
    `landfast: 1\nworkspace:\n  ${workspace}\ntasks: [{ id: a, prompt: p }]\n`;

  test('needs a set-up and what that depends on, of the plan or of the configuration', () => {
    const wanted = plan('seed: [node_modules]');
    const refused = [
      '3:3: error: workspace.seed needs workspace.setup and workspace.setup_key\n' +
        '  add setup: [npm ci] and setup_key: [package-lock.json], or what your project has',
    ];
    expect(problemsOf(wanted)).toEqual(refused);
    const setup = { setup: ['npm ci'] };
    expect(problemsOf(wanted, { config: { workspace: setup } })).toEqual(refused);
    const whole = { ...setup, setup_key: ['package-lock.json'] };
    expect(problemsOf(wanted, { config: { workspace: whole } })).toEqual([]);
    expect(problemsOf(plan('seed: []'))).toEqual([]);
  });
});
