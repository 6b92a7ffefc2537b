import { describe, expect, test } from 'vitest';
import { planInput } from '../../../../test/support/plan-input.ts';
import { NATIVE_CONVENTIONS } from '../../../model/plan.ts';
import type { Config } from '../../config/schema.ts';
import { formatProblem } from '../../problem.ts';
import { native } from './native.ts';

function parse(more: object, task: object = {}) {
  const text = JSON.stringify({ landfast: 1, ...more, tasks: [{ id: 'a', prompt: 'p', ...task }] });
  const { plan, problems } = native.parse(planInput('plan.yaml', text));
  return { plan, problems: problems.map(formatProblem) };
}

test('the ways of another tool are said in `conventions`, one by one', () => {
  const conventions = {
    branch: 'team/{task}',
    workspace: '{branch}',
    commit_message: '{title}',
    conflict_exit: 3,
    summary: 'lines',
    no_tasks: 'notice',
    logs: { dir: 'logs', style: 'story' },
    reports: [{ path: 'out.json', style: 'results' }],
  };
  expect(parse({ conventions }).plan?.conventions).toEqual({
    branch: 'team/{task}',
    workspace: '{branch}',
    commitMessage: '{title}',
    mergeMessage: NATIVE_CONVENTIONS.mergeMessage,
    conflictExit: 3,
    summary: 'lines',
    noTasks: 'notice',
    logs: { dir: 'logs', style: 'story' },
    reports: [{ path: 'out.json', style: 'results' }],
  });
});

test.each([
  [{ branch: 'team/x' }, 'conventions.branch: expected the name of a branch with {task} in it'],
  [{ workspace: '../{task}' }, 'conventions.workspace: "../{task}" leaves the repository'],
  [{ workspace: 'all' }, 'conventions.workspace: expected a folder with {task} or {branch} in it'],
  [{ conflict_exit: 2 }, 'conventions.conflict_exit: expected 1 or 3'],
])('a convention that would not work is refused: %j', (conventions, message) => {
  expect(parse({ conventions }).problems.join()).toContain(message);
});

test('a task has its own title, branch and way to be tried again', () => {
  const task = {
    title: 'T',
    branch: 'feature/x',
    here: true,
    wave: 2,
    rules: 'own',
    outside: 'report',
    answer: 'status-word',
    retry: { pause: 0, factor: 3, session: 'new', after_timeout: true },
  };
  expect(parse({}, task).plan?.tasks[0]).toMatchObject({
    title: 'T',
    branch: 'feature/x',
    mode: 'here',
    wave: 2,
    rules: 'own',
    outside: 'report',
    answer: 'status-word',
    retry: { pauseMs: 0, factor: 3, session: 'new', afterTimeout: true },
  });
});

test('what is laid into workspaces, and where they are', () => {
  const workspace = {
    dir: '~/trees',
    keep: true,
    exclude: ['.cache/'],
    inject: [{ from: '.claude', to: '.claude', skip: ['*.local'], blank: ['x.json'] }],
  };
  expect(parse({ base: 'dev', workspace }).plan).toMatchObject({
    base: 'dev',
    workspace: { ...workspace, dir: '/home/ada/trees' },
  });
});

test.each([
  ['branch', 'x/{task}-{agent}', '{agent}', '{run}, {task}, {hash}'],
  ['workspace', '{task}/{title}', '{title}', '{run}, {task}, {branch}'],
  ['commit_message', '{task}: {cost}', '{cost}', '{run}, {task}, {title}, {agent}, {model}'],
  ['merge_message', '{x}', '{x}', '{run}, {task}, {title}, {agent}, {model}, {cost}'],
])('a key that %s does not know is refused with those it knows', (key, template, wrong, known) => {
  expect(parse({ conventions: { [key]: template } }).problems).toEqual([
    expect.stringMatching(/^plan.yaml:1:\d+: error: /),
  ]);
  const [problem] = parse({ conventions: { [key]: template } }).problems;
  expect(problem).toContain(`conventions.${key}: unknown key ${wrong}\n`);
  expect(problem).toContain(`known keys: ${known}`);
});

test('a slip in a key is pointed out', () => {
  const { problems } = parse({ conventions: { merge_message: 'Land {task} by {agnet}' } });
  expect(problems[0]).toContain('did you mean {agent}? known keys: {run}, ');
});

describe('independent tasks', () => {
  const task = { id: 'a', prompt: 'p', independent: true };
  const gate = { name: 'tests', run: 'npm test' };
  const problems = (plan: object, config: Config = {}) => {
    const text = JSON.stringify({ landfast: 1, ...plan }, null, 1);
    const { problems: found } = native.parse(planInput('plan.yaml', text, { config }));
    return found.map(formatProblem);
  };

  test('need gates that are about paths, in the plan and in the configuration', () => {
    const scoped = { ...gate, paths: ['src/**'] };
    expect(problems({ gates: [scoped], tasks: [task] })).toEqual([]);
    expect(problems({ gates: [gate], tasks: [{ ...task, independent: false }] })).toEqual([]);
    expect(problems({ gates: [{ ...scoped, name: 'web' }, gate], tasks: [task] })).toEqual([
      'plan.yaml:11:3: error: gate "tests" has no paths, so "a" cannot be independent\n' +
        '  add the paths that its verdict depends on, or remove independent',
    ]);
    expect(problems({ tasks: [task] }, { gates: [gate] })).toEqual([
      'plan.yaml:7:4: error: gate "tests" of the configuration has no paths, so "a" cannot be' +
        ' independent\n  add them there, give the plan gates of its own, or remove independent',
    ]);
    expect(problems({ tasks: [task] }, { gates: [scoped] })).toEqual([]);
  });

  test('land something', () => {
    const reader = { ...task, read_only: true };
    expect(problems({ tasks: [reader] })).toEqual([
      'plan.yaml:7:4: error: a task with read_only lands nothing, so it cannot be independent\n' +
        '  remove independent',
    ]);
  });
});

test('a read-only task may be here: it looks at the checkout and makes nothing', () => {
  const text = 'landfast: 1\ntasks: [{ id: a, prompt: p, read_only: true, here: true }]\n';
  const { plan, problems } = native.parse(planInput('plan.yaml', text));
  expect(problems).toEqual([]);
  expect(plan?.tasks[0]).toMatchObject({ mode: 'read', inPlace: true });
});

test('two tasks cannot have one branch', () => {
  const second = { id: 'b', prompt: 'p', branch: 'x' };
  const text = JSON.stringify({
    landfast: 1,
    tasks: [{ id: 'a', prompt: 'p', branch: 'x' }, second],
  });
  const { problems } = native.parse(planInput('plan.yaml', text));
  expect(problems.map(({ message }) => message)).toEqual(['duplicate branch "x"']);
});
