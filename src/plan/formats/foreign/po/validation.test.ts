/** Every rule of a manifest, by the row of the rules, at its place. */

import { describe, expect, test } from 'vitest';
import { planInput } from '../../../../../test/support/plan-input.ts';
import { formatProblem } from '../../../problem.ts';
import { poManifest } from './po-manifest.ts';

function problemsOf(text: string): string[] {
  const { plan, problems } = poManifest.parse(planInput('m', text));
  expect(plan === null).toBe(problems.some(({ severity }) => severity === 'error'));
  return problems.map((problem) => formatProblem(problem).split('\n')[0]!);
}

/** The manifest with one line (3) beside what is required, and one task. */
const top = (line: string) =>
  `---\npo_plan_version: "0.1"\n${line}\ncwd: .\ntasks:\n- { id: a, agent: b, read_only: no }\n---\n`;

/** The manifest with one task (line 5), whose keys these are. */
const one = (keys: string) => `---\npo_plan_version: "0.1"\ncwd: .\ntasks:\n- { ${keys} }\n---\n`;
const more = (keys: string) => one(`id: a, agent: b, read_only: no, ${keys}`);

describe('the envelope', () => {
  test.each([
    ['1: an empty file', '', 'm:1:1: error: front matter must start on line 1 with ---'],
    ['2: no end', '---\nx: 1\n', 'm:1:1: error: front matter is not closed'],
    ['3: no YAML', '---\na: [\n---\n', 'm:2:5: error: not YAML: Flow sequence'],
    ['3: a custom tag', top('name: !x y'), 'm:3:7: error: not YAML: Unresolved tag: !x'],
    [
      '3: no date',
      top('name: 2026-13-45'),
      'm:3:7: error: not YAML: 2026-13-45 is not a valid date',
    ],
    ['4: a list', '---\n- a\n---\n', 'm:2:1: error: front matter must be a mapping, found a list'],
    ['4: nothing', '---\n---\n', 'm:2:1: error: front matter must be a mapping, found nothing'],
  ])('%s', (_, text, expected) => {
    const problems = problemsOf(text);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(expected);
  });

  test('lines end where Python ends them', () => {
    const text = top('name: x').replace('---\npo', '---\u2028po');
    expect(problemsOf(text)).toEqual([]);
  });

  test('5: the version is text', () => {
    expect(problemsOf(top('').replace('"0.1"', '0.1'))).toEqual([
      'm:2:18: error: po_plan_version must be text, found 0.1 (a number)',
    ]);
  });

  test('keys may come twice or by merge, and unknown ones are ignored', () => {
    expect(problemsOf(top('cwd: 7\nx: &x { y: 1 }\nz: { <<: *x }\non: 1'))).toEqual([]);
  });
});

test.each([
  ['8', 'defaults: 3', 'm:3:11: error: defaults must be a mapping, found 3 (a number)'],
  [
    '8',
    'defaults: { max_retries: -1 }',
    'm:3:26: error: defaults.max_retries must be an integer of at least 0, found -1 (a number)',
  ],
  ['8', 'defaults: { model: x }', 'm:3:13: warning: defaults.model is ignored'],
  ['9', 'on_complete: 3', 'm:3:14: error: on_complete must be a mapping, found 3 (a number)'],
  ['9', 'on_failure: {}', 'm:3:13: error: on_failure.webhook_url is missing'],
  [
    '9',
    'on_failure: { webhook_url: 3 }',
    'm:3:28: error: on_failure.webhook_url must be text, found 3 (a number)',
  ],
  [
    '25',
    'concurrency_limits: 3',
    'm:3:21: error: concurrency_limits must be a mapping, found 3 (a number)',
  ],
  [
    '25',
    'concurrency_limits: { 3: 1 }',
    'm:3:23: error: concurrency_limits: a group must be text that is not empty',
  ],
  [
    '25',
    'concurrency_limits: { g: 1 }',
    'm:3:23: warning: concurrency_limits: no task is in group "g"',
  ],
])('row %s: %s', (_, line, expected) => {
  expect(problemsOf(top(line))).toEqual([expected]);
});

describe('row 9: a webhook', () => {
  const hook = (url: string) => problemsOf(top(`on_complete: { webhook_url: "${url}" }`));

  test('that is public passes', () => {
    for (const host of ['hooks.example.com', '8.8.8.8', '[2606:4700::1111]', 'localhost.example']) {
      expect(hook(`https://${host}/x`)).toEqual([]);
    }
    expect(problemsOf(top('on_failure: { webhook_url: https://e.org, retry: 1 }'))).toEqual([
      'm:3:43: warning: on_failure.retry is ignored',
    ]);
  });

  test.each(['http', 'ftp', 'HTTPS'])('needs HTTPS in lower case, not %s', (scheme) => {
    expect(hook(`${scheme}://example.com`)).toEqual([
      `m:3:29: error: on_complete.webhook_url needs HTTPS (https://…), found the scheme "${scheme}"`,
    ]);
  });

  test('has at most 2048 characters and an address', () => {
    expect(hook(`https://e.org/${'x'.repeat(2034)}`)).toEqual([]);
    expect(hook(`https://e.org/${'x'.repeat(2035)}`)[0]).toContain('longer than 2048');
    expect(hook('https://')[0]).toContain('is not a valid address');
  });

  test.each([
    'localhost',
    'LOCALHOST',
    'localhost.',
    'localhost.localdomain',
    'localhost4',
    'localhost6',
    'ip6-localhost',
    'ip6-loopback',
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '0.0.0.0',
    '255.255.255.255',
    '[::1]',
    '[::]',
    '[fe80::1]',
    '[fd00::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:a00:1]',
    'user@127.0.0.1',
    '127.0.0.1:8443',
  ])('does not go to %s', (host) => {
    const problems = hook(`https://${host}/x`);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain('m:3:29: error: on_complete.webhook_url must not point to');
  });
});

describe('row 10: tasks', () => {
  const tasks = (text: string) => problemsOf(`---\npo_plan_version: "0.1"\ncwd: .\n${text}\n---\n`);

  test.each([
    ['name: x', 'm:2:1: error: tasks is missing'],
    ['tasks:', 'm:4:1: error: tasks is missing'],
    ['tasks: 3', 'm:4:8: error: tasks must be a list, found 3 (a number)'],
    ['tasks: []', 'm:4:8: error: tasks must not be empty'],
  ])('%s', (text, expected) => {
    expect(tasks(text)).toEqual([expected]);
  });

  test('row 11: each is a mapping', () => {
    expect(tasks('tasks: [x]')).toEqual(['m:4:9: error: tasks[0] must be a mapping, found "x"']);
  });
});

test.each(['cwd', 'timeout_sec', 'idle_timeout_sec', 'retry_delay_sec', 'retry_backoff_factor'])(
  'row 12: a task must not have %s',
  (key) => {
    expect(problemsOf(more(`${key}: 1`))).toEqual([
      `m:5:37: error: tasks[0]: ${key} is not allowed in a task`,
    ]);
  },
);

test.each([
  [
    '14',
    'id: a, agent: 3, read_only: no',
    'm:5:19: error: task "a": agent must be text, found 3 (a number)',
  ],
  ['14', 'id: a, agent: x:y, read_only: no', 'm:5:19: error: task "a": agent "x:y" is not allowed'],
  [
    '15',
    'id: 7, agent: b, read_only: no',
    'm:5:9: error: tasks[0]: id must be text, found 7 (a number)',
  ],
  [
    '15',
    'id: on, agent: b, read_only: no',
    'm:5:9: error: tasks[0]: id must be text, found true (a boolean)',
  ],
  [
    '15',
    'id: 2026-04-29, agent: b, read_only: no',
    'm:5:9: error: tasks[0]: id must be text, found 2026-04-29 (a date)',
  ],
  ['15', 'id: "", agent: b, read_only: no', 'm:5:9: error: tasks[0]: id "" is not allowed'],
  [
    '16',
    'id: a, agent: b, read_only: 1',
    'm:5:33: error: task "a": read_only must be true or false, found 1 (a number)',
  ],
])('row %s: { %s }', (_, keys, expected) => {
  expect(problemsOf(one(keys))).toEqual([expected]);
});

test.each([
  ['17', 'env: { PYTHONPATH: x }', '5:44: error: task "a": env: PYTHONPATH must not be set'],
  ['-', 'env: [x]', '5:42: error: task "a": env must be a mapping, found a list'],
  ['-', 'env: { A: 1 }', '5:47: error: task "a": env: A must be text, found 1 (a number)'],
  ['-', 'env: { "A=B": x }', '5:44: error: task "a": env: "A=B" is not a variable name'],
  ['-', 'env: { NO: x }', '5:44: error: task "a": env: "false" is not a variable name'],
  ['-', 'prompt: 3', '5:45: error: task "a": prompt must be text, found 3 (a number)'],
  ['-', 'prompt: null', '5:45: error: task "a": prompt must be text, found nothing'],
  ['-', 'prompt: ""', '5:45: warning: task "a": prompt is empty'],
  ['18', 'writes: x', '5:45: error: task "a": writes must be a list, found "x"'],
  ['18', 'writes: [3]', '5:46: error: task "a": writes: an entry must be text, found 3 (a number)'],
  ['18', 'writes: [""]', '5:46: error: task "a": writes: an entry must not be empty'],
  [
    '18',
    'writes: [/x]',
    '5:46: warning: task "a": writes: "/x" is not below the repository\'s root',
  ],
  ['19', 'depends_on: x', '5:49: error: task "a": depends_on must be a list, found "x"'],
  [
    '19',
    'depends_on: [3]',
    '5:50: error: task "a": depends_on: an entry must be text, found 3 (a number)',
  ],
  ['19', 'depends_on: [""]', '5:50: error: task "a": depends_on: an entry must not be empty'],
  [
    '21',
    'concurrency_group: 3',
    '5:56: error: task "a": concurrency_group must be text that is not empty, found 3 (a number)',
  ],
  [
    '21',
    'concurrency_group: ""',
    '5:56: error: task "a": concurrency_group must be text that is not empty, found ""',
  ],
])('row %s: %s', (_, keys, expected) => {
  expect(problemsOf(more(keys))).toEqual([`m:${expected}`]);
});

test('what YAML 1.1 takes for text are ids, and nothing is an empty list of dependencies', () => {
  for (const id of ['y', 'n', '1e3', '0o7']) {
    expect(problemsOf(one(`id: ${id}, agent: "", read_only: no, depends_on: `))).toEqual([]);
  }
  expect(problemsOf(more('depends_on: [], colour: x'))).toEqual([]);
});

test('an absolute cwd elsewhere is not followed, and that is said', () => {
  expect(problemsOf(top('').replace('cwd: .', 'cwd: /srv/app'))).toEqual([
    'm:4:6: warning: cwd "/srv/app" is not below the repository\'s root: tasks start there instead',
  ]);
});

test('all problems are shown at once', () => {
  const text =
    '---\npo_plan_version: 1\ntasks:\n- id: a\n  agent: b c\n- id: a\n  read_only: 1\n---\n';
  expect(problemsOf(text)).toEqual([
    'm:2:1: error: cwd is missing',
    'm:2:18: error: po_plan_version must be text, found 1 (a number)',
    'm:4:3: error: task "a": read_only is missing',
    'm:5:10: error: task "a": agent "b c" is not allowed',
    'm:6:3: error: task "a": agent is missing',
    'm:6:7: error: duplicate task id "a"',
    'm:7:14: error: task "a": read_only must be true or false, found 1 (a number)',
  ]);
});
