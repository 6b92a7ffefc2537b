/** What a native plan asks of agents beyond the work: tools, servers, limits, the fence. */

import { expect, test } from 'vitest';
import { planInput } from '../../../../test/support/plan-input.ts';
import { NO_OPTIONS } from '../../../model/plan.ts';
import { formatProblem } from '../../problem.ts';
import { native } from './native.ts';

function parse(text: string) {
  return native.parse(planInput('plan.yaml', text));
}

test('task options win over defaults, key by key', () => {
  const { plan } = parse(`
landfast: 1
sandbox: require
fence: { network: off, caches: [~/.npm, /var/cache/x] }
defaults:
  tools: { permission_mode: plan, allowed_cli: [git], allowed_tools: [WebFetch] }
  mcp: { db: { command: [db, --ro] } }
  pass_env: [DB_URL]
  max_turns: 50
tasks:
  - id: a
    prompt: x
    tools: { skip_permissions: true, allowed_cli: [npm, node], add_dirs: [/data, docs] }
    mcp: { web: { url: 'https://example.com/mcp' } }
    pass_env: [API_URL]
    budget_usd: 2
    schema: { type: object }
  - { id: b, prompt: y, agent: command, command: [my-agent, --go], prompt_as: argument }
`);
  expect(plan?.sandbox).toEqual({
    mode: 'require',
    network: 'off',
    caches: ['~/.npm', '/var/cache/x'],
  });
  expect(plan?.tasks.map(({ permissions }) => permissions)).toEqual(['bypassPermissions', 'plan']);
  expect(plan?.tasks[0]?.options).toEqual({
    tools: { allowed: ['WebFetch'], disallowed: [], commands: ['npm', 'node'] },
    dirs: ['/data', 'docs'],
    mcp: { db: { command: ['db', '--ro'], env: {} }, web: { url: 'https://example.com/mcp' } },
    maxTurns: 50,
    budgetUsd: 2,
    schema: { type: 'object' },
    passEnv: ['DB_URL', 'API_URL'],
    command: [],
    promptAs: 'stdin',
  });
  expect(plan?.tasks[1]?.options).toMatchObject({
    ...NO_OPTIONS,
    tools: { allowed: ['WebFetch'], disallowed: [], commands: ['git'] },
    mcp: { db: { command: ['db', '--ro'], env: {} } },
    maxTurns: 50,
    passEnv: ['DB_URL'],
    command: ['my-agent', '--go'],
    promptAs: 'argument',
  });
});

test('a fence can let single hosts through', () => {
  const hosts = ['api.Example.com', '*.npmjs.org', 'git.example.com:8443', '10.0.0.7', '[::1]:80'];
  const { plan, problems } = parse(
    `landfast: 1\nfence: { network: ${JSON.stringify(hosts)} }\ntasks: [{ id: a, prompt: x }]\n`,
  );
  expect(problems).toEqual([]);
  expect(plan?.sandbox.network).toEqual(['api.example.com', ...hosts.slice(1)]);
});

test.each([
  ['fence: { network: of }', '2:19: error: fence.network: expected on, off or a list of hosts'],
  ['fence: { network: api.example.com }', 'write it as a list: ["api.example.com"]'],
  ['fence: { network: [] }', '2:19: error: fence.network: the list is empty'],
  [
    'fence: { network: [a.example, "*"] }',
    '2:31: error: fence.network[1]: "*" would allow every host',
  ],
  ['fence: { network: [a.example, 7] }', '2:31: error: fence.network[1]: expected a host such as'],
  ['fence: { network: ["https://a.example/x"] }', 'leave only the host: a.example'],
  ['fence: { network: [localhost] }', 'localhost needs a port'],
  ['fence: { network: ["a..example"] }', 'expected a host such as'],
  ['fence: { network: ["a.*.example"] }', 'expected a host such as'],
  ['sandbox: maybe', '2:10: error: sandbox: expected one of off, on, require, found "maybe"'],
  ['fence: { hosts: [a] }', '2:10: error: unknown key "hosts" in fence'],
  ['defaults: { tools: { allowed_cli: ["rm -rf"] } }', 'expected the name of a program'],
  ['defaults: { mcp: { db: { command: [a], url: "http://x" } } }', 'either a command or a url'],
  [
    'defaults: { mcp: { db: { cmd: [a] } } }',
    'unknown key "cmd" in defaults.mcp.db\n  known keys: command, env, url',
  ],
  ['defaults: { pass_env: [LD_PRELOAD] }', 'the name of a variable that may be passed on'],
  ['defaults: { tools: { add_dirs: [""] } }', 'expected a path relative to the repository'],
  ['defaults: { max_turns: 0 }', 'a whole number from 1 to 10000'],
  [
    'workspace: { sparse: atuo }',
    'workspace.sparse: expected off, auto or a list of folders, found "atuo"',
  ],
  ['workspace: { sparse: packages/web }', 'write it as a list: ["packages/web"]'],
  ['workspace: { sparse: [] }', 'workspace.sparse: the list is empty\n  use off'],
  ['workspace: { sparse: [a, "**/b"] }', '2:26: error: workspace.sparse[1]: expected a folder'],
  ['workspace: { sparse: [../x] }', 'leaves the repository'],
  ['workspace: { sparse_also: ["*/x"] }', 'a glob has to begin with the name of one'],
])('%s is refused with its place', (line, expected) => {
  const { plan, problems } = parse(`landfast: 1\n${line}\ntasks: [{ id: a, prompt: x }]\n`);
  expect(plan).toBe(null);
  expect(problems.map(formatProblem).join('\n')).toContain(expected);
});

test('further folders may lie anywhere', () => {
  const { plan, problems } = parse(
    'landfast: 1\ndefaults: { tools: { add_dirs: [../x/, a/../../y, ~/z] } }\ntasks: [{ id: a, prompt: x }]',
  );
  expect(problems).toEqual([]);
  expect(plan?.tasks[0]?.options.dirs).toEqual(['../x', '../y', '~/z']);
});

test('a workspace may hold some folders', () => {
  const { plan, problems } = parse(
    'landfast: 1\nworkspace: { sparse: [./a/, b/**], sparse_also: [c] }\ntasks: [{ id: a, prompt: x }]',
  );
  expect(problems).toEqual([]);
  expect(plan?.workspace).toMatchObject({ sparse: ['a', 'b/**'], sparseAlso: ['c'] });
});

test('what the last words mean is one of five answers', () => {
  const { plan } = parse('landfast: 1\ntasks: [{ id: a, prompt: x, answer: status-word }]');
  expect(plan?.tasks[0]?.answer).toBe('status-word');
  const wrong = parse('landfast: 1\ntasks: [{ id: a, prompt: x, answer: status-wurd }]');
  expect(wrong.problems.map(formatProblem)).toMatchInlineSnapshot(`
    [
      "plan.yaml:2:37: error: tasks[0].answer: expected one of free, status-line, status-word, completion, marker, found "status-wurd"
      did you mean status-word?",
    ]
  `);
});

test('a task hears only what it needs', () => {
  const { plan } = parse(
    'landfast: 1\ntasks: [{ id: a, prompt: x }, { id: b, prompt: y, needs: [a], hears: [a, a] }]',
  );
  expect(plan?.tasks.map(({ hears }) => hears)).toEqual([[], ['a']]);
  const wrong = parse(
    'landfast: 1\ntasks: [{ id: a, prompt: x }, { id: b, prompt: y, hears: [a] }]',
  );
  expect(wrong.problems.map(formatProblem)).toMatchInlineSnapshot(`
    [
      "plan.yaml:2:59: error: hears names "a", which the task does not need
      add "a" to its needs, or remove it from hears",
    ]
  `);
});

test('other tasks do not see work that stays on its branch, so only readers may need it', () => {
  const { plan } = parse(`
landfast: 1
land: { strategy: none, push: origin }
tasks:
  - { id: a, prompt: x, branch: feature/a, title: The first }
  - { id: b, prompt: y, read_only: true, needs: [a] }
  - { id: c, prompt: z, needs: [b] }
`);
  expect(plan?.landing).toMatchObject({ strategy: 'none', push: 'origin' });
  expect(plan?.tasks[0]).toMatchObject({ branch: 'feature/a', title: 'The first' });
  const wrong = parse(
    'landfast: 1\nland: { strategy: none }\ntasks: [{ id: a, prompt: x }, { id: b, prompt: y, needs: [a] }]',
  );
  expect(wrong.problems.map(formatProblem)).toMatchInlineSnapshot(`
    [
      "plan.yaml:3:59: error: with strategy none, tasks that need "a" do not see its work
      choose another strategy, or merge the tasks",
    ]
  `);
});
