/** The native plan: every kind of problem, with the line and column it is told at. */

import { describe, expect, test } from 'vitest';
import { planInput } from '../../../../test/support/plan-input.ts';
import { formatProblem, type Problem, ProblemLog } from '../../problem.ts';
import { plainValue, readYaml } from '../../syntax/yaml.ts';
import { native, parseObject } from './native.ts';

/** Problems without the file's name. */
function problemsOf(text: string): string[] {
  const { plan, problems } = native.parse(planInput('p.yaml', text));
  expect(plan).toBeNull();
  const root = readYaml({ text, firstLine: 1, version: '1.2' }, new ProblemLog('p.yaml'));
  if (root?.kind === 'map') expectSameOfObject(plainValue(root), problems);
  return problems.map((problem) => formatProblem(problem).slice('p.yaml:'.length));
}

/** An object has the problems of its YAML, but for keys that are given twice. */
function expectSameOfObject(plan: unknown, problems: readonly Problem[]): void {
  const about = ({ message, remedy = '' }: Problem) =>
    `${message}\n${remedy.replace(/the task (?:on line \d+|at tasks\[\d+\]\.id)/, 'the task')}`;
  const ofText = problems.map(about).filter((text) => !text.includes('is given twice'));
  const ofObject = parseObject(plan, 'plan', planInput('', '')).problems;
  expect(ofObject.map(about).sort()).toEqual(ofText.sort());
}

describe('each problem has its place and a way out', () => {
  const plan = (lines: string) => `landfast: 1\n${lines}\ntasks: [{ id: a, prompt: x }]`;
  const task = (keys: string) => `landfast: 1\ntasks:\n  - { id: a, prompt: xx, ${keys} }`;

  test.each([
    ['nam: x', '2:1: error: unknown key "nam"\n  did you mean "name"?'],
    [
      'zzz: x',
      '2:1: error: unknown key "zzz"\n  known keys: landfast, name, base, target, defaults, workspace, gates, land, limits, sandbox, fence, notify, failures, conventions, tasks',
    ],
    ['name: 7', '2:7: error: name: expected text, found 7 (a number)\n  put it in quotes: "7"'],
    [
      'failures: [{ match: "a(", kind: auth }]',
      '2:21: error: failures[0].match: not a regular expression: /a(/i: Unterminated group',
    ],
    [
      'failures: [{ match: "x*", kind: auth }]',
      '2:21: error: failures[0].match: not a regular expression: it matches everything',
    ],
    [
      'failures: [{ match: x, kind: fatal }]',
      '2:30: error: failures[0].kind: expected one of transient, rate-limited, permanent, auth, billing, found "fatal"',
    ],
    ['name: "a\\0"', '2:7: error: name: text must not contain NUL'],
    ['target: -f', '2:9: error: target: expected the name of a branch, found "-f"'],
    ['target: a..b', '2:9: error: target: expected the name of a branch, found "a..b"'],
    ['defaults: []', '2:11: error: defaults: expected a mapping, found an empty list'],
    [
      'defaults: { model: -x }',
      '2:20: error: defaults.model: expected a name without spaces that does not begin with "-", found "-x"',
    ],
    [
      'gates: [npm test]',
      '2:9: error: gates[0]: expected a mapping, found "npm test"\n  write it as\n  - name: npm-test\n    run: npm test',
    ],
    [
      'gates: "tsc: all"',
      '2:8: error: gates: expected a list, found "tsc: all"\n  write it as\n  - name: tsc-all\n    run: "tsc: all"',
    ],
    [
      'defaults: { fallbacks: [codex] }',
      '2:25: error: defaults.fallbacks[0]: expected a mapping, found "codex"\n  write it as\n  - agent: codex',
    ],
    [
      'defaults: { agent: cluade }',
      '2:20: error: defaults.agent: expected one of claude, codex, gemini, opencode, acp, command, shell, found "cluade"\n  did you mean claude?',
    ],
    ['gates: { a: b }', '2:8: error: gates: expected a list, found a mapping'],
    ['gates: [{ name: a }]', '2:9: error: missing key "run" in gates[0]'],
    [
      'gates: [{ name: a, run: x }, { name: a, run: y }]',
      '2:38: error: duplicate gate name "a"\n  rename one',
    ],
    [
      'land: { strategy: pr }',
      '2:19: error: land.strategy: "pr" is not available in this version: Landfast does not open pull requests itself\n  use merge or squash or rebase or none',
    ],
    [
      'land: { push: origin }',
      '2:9: error: push needs strategy: none\n  add strategy: none to land, or remove push',
    ],
    [
      'land: { publish: eech }',
      '2:18: error: land.publish: expected one of end, each, ask, off, found "eech"\n  did you mean each?',
    ],
    [
      'land: { on_conflict: agnet }',
      '2:22: error: land.on_conflict: expected one of agent, fail, hold, found "agnet"\n  did you mean agent?',
    ],
    [
      'land: { reworks: 1.5 }',
      '2:18: error: land.reworks: expected a whole number from 0 to 100, found 1.5 (a number)',
    ],
    [
      'limits: { workers: 0 }',
      '2:20: error: limits.workers: expected a whole number from 1 to 256, found 0 (a number)',
    ],
    [
      'limits: { budget_usd: 0 }',
      '2:23: error: limits.budget_usd: expected an amount of dollars above zero, found 0 (a number)',
    ],
    [
      'limits: { groups: { db: x } }',
      '2:25: error: limits.groups.db: expected a whole number from 1 to 256, found "x"',
    ],
    [
      'limits: { max_workers: 2 }',
      '2:11: error: unknown key "max_workers" in limits\n  did you mean "workers"?',
    ],
    [
      'workspace: { copy: [../.env] }',
      '2:21: error: workspace.copy[0]: "../.env" leaves the repository\n  name something below the repository\'s root, without ..',
    ],
    [
      'notify: [{ webhook: "http://hooks.example.com" }]',
      '2:21: error: notify[0].webhook: the address needs HTTPS (https://…), found the scheme "http"\n  use the https address of the receiver',
    ],
    [
      'notify: [{ on: [finished] }]',
      '2:10: error: notify[0]: a notification has exactly one of webhook, command, desktop, bell',
    ],
    [
      'notify: [{ on: [started], bell: true }]',
      '2:17: error: notify[0].on[0]: expected one of finished, failed, person, limit, found "started"',
    ],
    [
      'workspace: { keep: [cache/] }',
      '2:20: error: workspace.keep: expected true or false, found a list\n  name files that the next task may find in keep_files',
    ],
    [
      'workspace: { copy: [.git/config] }',
      '2:21: error: workspace.copy[0]: ".git/config" belongs to git itself',
    ],
  ])('%s', (lines, expected) => {
    expect(problemsOf(plan(lines))).toEqual([expected]);
  });

  test.each([
    [
      'depends_on: [b]',
      '3:26: error: unknown key "depends_on" in tasks[0]\n  did you mean "needs"?',
    ],
    [
      'retries: -1',
      '3:35: error: tasks[0].retries: expected a whole number from 0 to 100, found -1 (a number)',
    ],
    [
      'timeout: soon',
      '3:35: error: tasks[0].timeout: expected a duration such as 90s, 7m or 1h30m, found "soon"',
    ],
    [
      'timeout: 0',
      '3:35: error: tasks[0].timeout: expected a duration such as 90s, 7m or 1h30m, found 0 (a number)',
    ],
    ['idle: 30d', '3:32: error: tasks[0].idle: expected a duration of at most 24d, found "30d"'],
    [
      'permissions: yolo',
      '3:39: error: tasks[0].permissions: expected one of default, acceptEdits, plan, dontAsk, auto, bypassPermissions, found "yolo"',
    ],
    ['read_only: yes', '3:37: error: tasks[0].read_only: expected true or false, found "yes"'],
    [
      'read_only: true, writes: [x]',
      '3:43: error: a read_only task writes nothing\n  remove writes or read_only',
    ],
    ['writes: /etc', '3:34: error: tasks[0].writes: expected a list, found "/etc"'],
    [
      'writes: [/etc]',
      '3:35: error: tasks[0].writes[0]: "/etc" is an absolute path\n  write it relative to the repository\'s root',
    ],
    [
      'writes: ["C:\\\\x"]',
      '3:35: error: tasks[0].writes[0]: "C:\\\\x" is an absolute path\n  write it relative to the repository\'s root',
    ],
    [
      'writes: ["a/{b,../..}/c"]',
      '3:35: error: tasks[0].writes[0]: "a/{b,../..}/c" leaves the repository\n  name something below the repository\'s root, without ..',
    ],
    [
      'cwd: a/../..',
      '3:31: error: tasks[0].cwd: "a/../.." leaves the repository\n  name something below the repository\'s root, without ..',
    ],
    [
      'env: { A-B: x }',
      '3:33: error: tasks[0].env.A-B: "A-B" is not a valid name of an environment variable\n  use letters, digits and _, not beginning with a digit',
    ],
    [
      'env: { DYLD_X: x }',
      '3:33: error: tasks[0].env.DYLD_X: DYLD_X must not be set: it changes how programs are loaded\n  remove it, or set it in a script that the task runs',
    ],
    [
      'env: { LD_PRELOAD: x }',
      '3:33: error: tasks[0].env.LD_PRELOAD: LD_PRELOAD must not be set: it changes how programs are loaded\n  remove it, or set it in a script that the task runs',
    ],
    [
      'env: { A: 1 }',
      '3:36: error: tasks[0].env.A: expected text, found 1 (a number)\n  put it in quotes: "1"',
    ],
    ['env: [A]', '3:31: error: tasks[0].env: expected a mapping of names to text, found a list'],
    [
      'needs: [b]',
      '3:34: error: task "a": needs names undefined task ids: "b"\n  name a task of this plan, or remove it',
    ],
    [
      'needs: [a]',
      '3:34: error: cyclic dependency: a -> a\n  remove one of these from needs: none of the tasks could ever start',
    ],
    [
      'group: db',
      '3:33: error: task "a": group "db" has no limit\n  add it: limits: { groups: { db: 1 } }',
    ],
    ['prompt_file: x.md', '3:26: error: a task has prompt or prompt_file, not both\n  remove one'],
  ])('task with %s', (keys, expected) => {
    expect(problemsOf(task(keys))).toEqual([expected]);
  });

  test.each([
    [
      'landfast: 2\ntasks: [{ id: a, prompt: x }]',
      '1:11: error: landfast: expected 1, found 2 (a number)',
    ],
    ['tasks: [{ id: a, prompt: x }]', '1:1: error: missing key "landfast"'],
    ['landfast: 1', '1:1: error: missing key "tasks"'],
    [
      'landfast: 1\ntasks: []',
      '2:8: error: tasks: expected at least one entry, found an empty list',
    ],
    ['landfast: 1\ntasks: [7]', '2:9: error: tasks[0]: expected a mapping, found 7 (a number)'],
    ['landfast: 1\ntasks: [{ prompt: x }]', '2:9: error: missing key "id" in tasks[0]'],
    [
      'landfast: 1\ntasks: [{ id: a }]',
      '2:9: error: task "a" has no prompt\n  add prompt or prompt_file',
    ],
    [
      'landfast: 1\ntasks: [{ id: a, prompt: " " }]',
      '2:26: error: tasks[0].prompt: expected text, found " "',
    ],
    ['- landfast: 1', '1:1: error: a plan must be a mapping\n  begin it with landfast: 1'],
  ])('%j', (text, expected) => {
    expect(problemsOf(text)).toEqual([expected]);
  });

  test.each(['-a', 'a b', 'a/b', '../a', '_a', 'a.b', 'é', 'x'.repeat(65)])('id %s', (id) => {
    const [problem, ...others] = problemsOf(`landfast: 1\ntasks: [{ id: "${id}", prompt: x }]`);
    expect(problem).toMatch(/^2:15: error: tasks\[0\]\.id: expected an id/);
    expect(others).toEqual([]);
  });

  test('all of them come together, in the order of the text', () => {
    const text =
      'landfast: 2\nnam: x\ntasks:\n  - id: a\n    needs: [z]\n    prompt: x\n  - id: a\n';
    expect(problemsOf(text).map((problem) => problem.split('\n')[0])).toEqual([
      '1:11: error: landfast: expected 1, found 2 (a number)',
      '2:1: error: unknown key "nam"',
      '5:13: error: task "a": needs names undefined task ids: "z"',
      '7:5: error: task "a" has no prompt',
      '7:9: error: duplicate task id "a"',
    ]);
  });
});
