/** Task files of claude-code-orchestrator: how agents are called, watched, logged and summed up. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { processList } from '../../src/process/process-list.ts';
import { TOO_SHORT, withLimit } from '../support/time-limit.ts';
import { ccoProject, entry, says } from './cco-project.ts';

const SESSION = '8b05f910-0000-4000-8000-000000000001';
const INIT = says({ type: 'system', subtype: 'init', session_id: SESSION, model: 'opus' });
const DONE = says({
  type: 'result',
  subtype: 'success',
  is_error: false,
  session_id: SESSION,
  duration_ms: 45_200,
  result: 'Opened https://github.com/o/r/pull/42',
});
const WORK = 'echo new > "$task.txt"';
/** It says who it is and then nothing more, with a child of its own. */
const SILENT = `${INIT}; sleep 600 & echo $! >> "$OUT/children"; wait`;

const STREAM = ['-p', '--output-format', 'stream-json', '--include-partial-messages', '--verbose'];
const TOOLS = [
  'tools:',
  '  permission_mode: plan',
  '  allowed_tools: [Edit, "Bash(git:*)"]',
  '  allowed_cli: [gh]',
  '  disallowed_tools: ["Bash(rm:*)"]',
  '  add_dirs: [/shared]',
].join('\n');
const RULES = [
  '--allowedTools=Edit,Bash(git:*),Bash(gh:*)',
  '--disallowedTools=Bash(rm:*)',
  '--add-dir=/shared',
];

test('C29: arguments come in the known order, in the workspace, the prompt on standard input', async () => {
  await using project = await ccoProject({ agents: { a: WORK }, config: `${TOOLS}\n` });
  expect((await project.run()).code).toBe(0);
  const { argv, cwd, prompt } = await project.call('a');
  const session = argv[argv.indexOf('--session-id') + 1]!;
  expect(argv).toEqual([
    ...['--permission-mode', 'plan', ...RULES],
    ...['--session-id', session, ...STREAM],
  ]);
  expect(cwd).toBe(join(project.repo.outside, 'worktrees', 'feature', 'a'));
  expect(prompt.startsWith('## Task: feat: a\n\nDo it.\n')).toBe(true);
});

test('C29: add_dirs outside of the repository are passed on', async () => {
  const config = 'tools: { add_dirs: [../shared] }\n';
  await using project = await ccoProject({ agents: { a: WORK }, config });
  expect((await project.run()).code).toBe(0);
  const shared = join(project.repo.outside, 'shared');
  expect((await project.call('a')).argv).toContain(`--add-dir=${shared}`);
});

test.each([
  ['-y', ['-y'], TOOLS],
  ['skip_permissions', [], `${TOOLS}\n  skip_permissions: true`],
  ['workflow.auto_approve', [], `${TOOLS}\nworkflow: { auto_approve: true }`],
])(
  'C31: with %s all permissions are skipped and the rest is unchanged',
  async (_, args, config) => {
    await using project = await ccoProject({ agents: { a: WORK }, config: `${config}\n` });
    expect((await project.run(...args)).code).toBe(0);
    const { argv } = await project.call('a');
    expect(argv.slice(0, 4)).toEqual(['--dangerously-skip-permissions', ...RULES]);
  },
);

test('C34: the test command of the project wins over the task’s own', async () => {
  const tasks = `tasks:\n${entry('a', '    test_command: npm test\n')}`;
  await using project = await ccoProject({
    agents: { a: WORK },
    tasks,
    config: 'project: { test_command: pytest }\n',
  });
  await project.run();
  const { prompt } = await project.call('a');
  expect(prompt).toContain('```\npytest\n```');
  expect(prompt).not.toContain('npm test');
});

test('C35: test instructions are the whole section on testing', async () => {
  const config =
    'project:\n  test_command: pytest\n  test_instructions: |\n    1. Start it.\n    2. Look.\n';
  await using project = await ccoProject({ agents: { a: WORK }, config });
  await project.run();
  expect((await project.call('a')).prompt).toContain(
    '\n\n## Testing\n\n1. Start it.\n2. Look.\n\n## When Complete\n',
  );
});

test('C37: the pull request gets 200 characters of the description, the task all of it', async () => {
  const long = 'x'.repeat(300);
  await using project = await ccoProject({
    agents: { a: WORK },
    tasks: `tasks:\n${entry('a').replace('Do it.', long)}`,
    config: 'git: { provider: github }\n',
  });
  await project.run();
  const { prompt } = await project.call('a');
  expect(prompt).toContain(`\n\n${long}\n\n`);
  expect(prompt).toContain(`--body '${'x'.repeat(200)}...' --base 'main'`);
});

test.each([
  ['--no-pr', ['--no-pr'], ''],
  ['workflow.auto_pr: false', [], 'workflow: { auto_pr: false }\n'],
])('with %s no pull request is asked for', async (_, args, config) => {
  await using project = await ccoProject({
    agents: { a: WORK },
    config: `git: { provider: github }\n${config}`,
  });
  await project.run(...args);
  expect((await project.call('a')).prompt).not.toContain('Pull Request');
});

test('C38: the log reads as users know it, and the state has the session and the request', async () => {
  const use = (name: string, input: object) => ({ type: 'tool_use', id: name, name, input });
  const part = (event: object) => ({ type: 'stream_event', session_id: SESSION, event });
  const lines = [
    part({ type: 'content_block_delta', delta: { type: 'text_delta', text: 'I will look.' } }),
    part({ type: 'content_block_stop' }),
    {
      type: 'assistant',
      session_id: SESSION,
      message: {
        content: [
          use('Bash', { command: 'git status' }),
          use('Edit', { file_path: 'src/a.py' }),
          use('TodoWrite', {}),
        ],
      },
    },
    { type: 'user', tool_use_result: { stdout: 'On branch x' }, message: { content: [] } },
    {
      type: 'user',
      message: {
        content: [{ type: 'tool_result', content: [{ type: 'text', text: 'one' }, 'two'] }],
      },
    },
    part({ type: 'message_stop' }),
  ].map(says);
  await using project = await ccoProject({
    agents: { a: [INIT, ...lines, "echo 'a plain line'", WORK, DONE].join('\n') },
  });
  expect((await project.run()).code).toBe(0);
  expect(await project.log('a')).toBe(`[INIT] Session: 8b05f910... Model: opus
I will look.
[TOOL] Bash: git status
[TOOL] Edit: src/a.py
[TOOL] TodoWrite
[RESULT] On branch x
[RESULT] one
two

---
a plain line

[COMPLETE] Duration: 45.2s
Opened https://github.com/o/r/pull/42
`);
  expect(await project.results()).toEqual([
    {
      task_id: 'a',
      status: 'success',
      branch: 'feature/a',
      pr_url: 'https://github.com/o/r/pull/42',
      pr_id: 42,
      error: null,
      attempts: 1,
      session_id: SESSION,
    },
  ]);
});

test('C40: a line that is only a number is logged, and the agent goes on', async () => {
  const agent = `${INIT}\necho 123\necho null\n${WORK}\n${DONE}`;
  await using project = await ccoProject({ agents: { a: agent } });
  expect((await project.run()).code).toBe(0);
  expect(await project.log('a')).toContain('\n123\nnull\n');
  expect(await project.calls()).toEqual(['a']);
});

test('C41: a silent agent is resumed once with a prompt, then it is a timeout and nothing is left', () =>
  withLimit(1_000, async (limitMs) => {
    await using project = await ccoProject({
      agents: { a: SILENT },
      config: `agent: { inactivity_timeout: ${limitMs / 1_000}, max_retries: 1, retry_delay: 0 }\n`,
    });
    const { code, stdout } = await project.run();
    expect(code).toBe(1);
    const children = join(project.repo.outside, 'out/children');
    const pids = (await readFile(children, 'utf8').catch(() => '')).split('\n').slice(0, -1);
    if (pids.length < 2) return TOO_SHORT;
    expect(await project.results()).toMatchObject([
      {
        status: 'timeout',
        attempts: 2,
        session_id: SESSION,
        error: 'Agent timed out (inactivity) after 2 attempt(s)',
      },
    ]);
    expect(stdout).toContain(`⏱ a (feature/a)
  Status: timeout
  Attempts: 2
  Error: Agent timed out (inactivity) after 2 attempt(s)
  Session ID (for manual resume): ${SESSION}

0/1 completed, 1 timed out
`);
    const { argv, prompt } = await project.call('a', 2);
    expect(argv.slice(argv.indexOf('--resume')).slice(0, 2)).toEqual(['--resume', SESSION]);
    expect(prompt).toContain('Keep going until the task is done.');
    expect(pids).toHaveLength(2);
    expect(processList().filter(({ pid }) => pids.includes(String(pid)))).toEqual([]);
    return null;
  }));

test('a task that runs too long is tried again, with a new session where that is wanted', () =>
  withLimit(1_000, async (limitMs) => {
    const busy = `${INIT}; while :; do ${INIT}; sleep 0.1; done`;
    const limits = `max_runtime: ${limitMs / 1_000}, max_retries: 1, retry_delay: 0`;
    await using project = await ccoProject({
      agents: { a: busy },
      config: `agent: { ${limits}, use_resume: false }\n`,
    });
    expect((await project.run()).code).toBe(1);
    expect(await project.results()).toMatchObject([
      { status: 'timeout', attempts: 2, error: 'Agent timed out (max_runtime) after 2 attempt(s)' },
    ]);
    if ((await project.calls()).length < 2) return TOO_SHORT;
    expect((await project.call('a', 2)).argv).not.toContain('--resume');
    expect((await project.call('a', 2)).prompt).toContain('## Task: feat: a');
    return null;
  }));

test('C43: the log holds both attempts with a marker between them', async () => {
  const agent = `${INIT}; echo "try $nth"; [ $nth = 1 ] && exit 1; ${WORK}; ${DONE}`;
  await using project = await ccoProject({
    agents: { a: agent },
    config: 'agent: { retry_delay: 0 }\n',
  });
  const { code, stdout } = await project.run();
  expect([code, stdout]).toMatchObject([0, expect.stringContaining('  Attempts: 2\n')]);
  const first = '[INIT] Session: 8b05f910... Model: opus\ntry 1\n';
  const marker = `\n--- RETRY (resuming session ${SESSION}) ---\n`;
  const second = '[INIT] Session: 8b05f910... Model: opus\ntry 2\n';
  expect((await project.log('a')).startsWith(`${first}${marker}${second}`)).toBe(true);
});

test('C50: status before any run is a notice, afterwards a row for each task', async () => {
  await using project = await ccoProject({
    agents: { a: `${WORK}; ${INIT}; ${DONE}`, b: 'echo no >&2; exit 2' },
  });
  expect(await project.cli('status')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('No run yet'),
  });
  expect((await project.run()).code).toBe(1);
  const { code, stdout } = await project.cli('status');
  expect([code, stdout]).toEqual([
    0,
    [
      'Task  Status   Branch     Notes',
      'a     success  feature/a  https://github.com/o/r/pull/42',
      'b     failed   feature/b  It exited with code 2: no',
      '',
    ].join('\n'),
  ]);
});
