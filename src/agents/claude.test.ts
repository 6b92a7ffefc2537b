/** The command line of Claude Code, and what the end of its process means. */

import { expect, test } from 'vitest';
import { endOf, jobOf } from '../../test/support/job.ts';
import { type AgentOptions, NO_OPTIONS } from '../model/plan.ts';
import type { Job } from './agent.ts';
import { claude } from './claude.ts';

const JOB = jobOf({ newSession: '11111111-1111-4111-8111-111111111111' });

const ALWAYS = [
  '-p',
  ...['--output-format', 'stream-json', '--include-partial-messages', '--verbose'],
];

/** The arguments without those that are always there. */
function args(part: Partial<Job>): readonly string[] {
  const all = claude.command({ ...JOB, ...part }).args;
  const at = all.indexOf('-p');
  expect(all.slice(at, at + ALWAYS.length)).toEqual(ALWAYS);
  return [...all.slice(0, at), ...all.slice(at + ALWAYS.length)];
}

test('a new attempt names its session, and the prompt is no argument', () => {
  const { inherit, ...command } = claude.command(JOB);
  expect(command).toEqual({
    file: 'claude',
    args: ['--permission-mode', 'acceptEdits', '--session-id', JOB.newSession, ...ALWAYS],
    stdin: JOB.prompt,
    env: {
      CLAUDE_CODE_MAX_RETRIES: '3',
      CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
      CLAUDE_CODE_STARTUP_FAILURE_RESULTS: '1',
      DISABLE_AUTOUPDATER: '1',
    },
  });
  expect(inherit).toContain('ANTHROPIC_API_KEY');
});

test('nothing of a session around us is inherited', () => {
  const nested = ['CLAUDECODE', 'CLAUDE_CODE_SESSION_ID', 'CLAUDE_CODE_ENTRYPOINT'];
  const passes = (name: string) =>
    claude
      .command(JOB)
      .inherit.some((pattern) =>
        pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
      );
  expect(nested.filter(passes)).toEqual([]);
});

test('the user’s program, the role, the model and the budget are passed on', () => {
  const part = { executable: '/opt/claude', role: 'developer', model: 'opus', budgetUsd: 1.5 };
  expect(claude.command({ ...JOB, ...part }).file).toBe('/opt/claude');
  expect(args(part).slice(4)).toEqual([
    ...['--agent', 'developer', '--model', 'opus', '--max-budget-usd', '1.5'],
  ]);
});

test('a session is resumed under its own id', () => {
  expect(args({ resume: 's1' }).slice(2)).toEqual(['--resume', 's1']);
  expect(args({ resume: 's1' })).not.toContain('--session-id');
});

test('skipping permissions has a flag of its own', () => {
  expect(args({ permissions: 'bypassPermissions' })).toEqual([
    '--dangerously-skip-permissions',
    ...['--session-id', JOB.newSession],
  ]);
  expect(args({ permissions: 'default' })).toEqual(['--session-id', JOB.newSession]);
});

test.each([
  ['bypassPermissions', 'dontAsk'],
  ['acceptEdits', 'dontAsk'],
  ['plan', 'plan'],
] as const)('a read task with %s gets %s and no tool that writes', (permissions, mode) => {
  expect(args({ readOnly: true, permissions }).slice(0, 3)).toEqual([
    '--permission-mode',
    mode,
    '--disallowedTools=Edit,Write,NotebookEdit',
  ]);
});

test('every option becomes a flag, and servers a file of their own', () => {
  const options: AgentOptions = {
    ...NO_OPTIONS,
    tools: { allowed: ['WebFetch', 'Edit(src/**)'], disallowed: ['Bash(rm *)'], commands: ['npm'] },
    dirs: ['/data', '/more data'],
    mcp: {
      db: { command: ['db-server', '--ro'], env: { DB: 'x' } },
      docs: { url: 'http://127.0.0.1:1/mcp' },
    },
    maxTurns: 7,
    schema: { type: 'object' },
  };
  const { files } = claude.command({ ...JOB, options });
  expect(args({ options })).toEqual([
    ...['--permission-mode', 'acceptEdits'],
    '--allowedTools=WebFetch,Edit(src/**),Bash(npm:*)',
    '--disallowedTools=Bash(rm *)',
    ...['--add-dir=/data', '--add-dir=/more data'],
    ...['--session-id', JOB.newSession, '--max-turns', '7'],
    ...[
      '--json-schema',
      '{"type":"object"}',
      '--mcp-config={temp}/mcp.json',
      '--strict-mcp-config',
    ],
  ]);
  expect(JSON.parse(files?.['mcp.json'] ?? '')).toEqual({
    mcpServers: {
      db: { type: 'stdio', command: 'db-server', args: ['--ro'], env: { DB: 'x' } },
      docs: { type: 'http', url: 'http://127.0.0.1:1/mcp' },
    },
  });
});

test('a fork goes on from a session and leaves it as it was', () => {
  expect(args({ resume: 's0', fork: true })).toEqual([
    ...['--permission-mode', 'acceptEdits'],
    ...['--resume', 's0', '--fork-session', '--session-id', JOB.newSession],
  ]);
});

test('an answer must have the form that was asked for', () => {
  const job = { ...JOB, options: { ...NO_OPTIONS, schema: { type: 'object' } } };
  const result = { type: 'result', ok: true, text: '{"a":1}' } as const;
  expect(claude.outcome(endOf({ job, result }))).toMatchObject({
    failure: { kind: 'schema' },
  });
  const structured = { a: 1 };
  expect(claude.outcome(endOf({ job, result: { ...result, structured } }))).toEqual({
    ok: true,
    text: '{"a":1}',
    structured,
  });
});

test('its own word tells whether somebody is logged in', () => {
  const judge = (stdout: string) => claude.program.login?.judge({ code: 0, stdout, stderr: '' });
  expect(judge('{"loggedIn": true}')).toBe('in');
  expect(judge('{"loggedIn":false}')).toBe('out');
  expect(judge('hello')).toBe('unknown');
});

test.each([
  [
    'No conversation found with session ID: s1',
    'session-lost',
    'The agent no longer knows the session to resume.',
  ],
  [
    "error: unknown option '--max-budget-usd'\n(Did you mean --model?)",
    'permanent',
    'This version of the agent does not accept its arguments.',
  ],
  [
    "--agent 'x' not found. Available agents: Plan",
    'permanent',
    "The agent does not know the task's role.",
  ],
  ['Not logged in · Please run /login', 'auth', 'The agent has no account to work with.'],
])('a refusal to start is told as what it is: %s', (stderrTail, kind, sentence) => {
  const line = stderrTail.split('\n')[0];
  const failure = { kind, message: `${sentence} ${line}` };
  expect(claude.outcome(endOf({ job: JOB, stderrTail }))).toEqual({ ok: false, failure });
});

test('a stand-in that never spoke the stream’s language is judged as a plain command', () => {
  const fine = endOf({ job: JOB, exit: { kind: 'exited', code: 0 }, stdoutTail: 'all fine\n' });
  expect(claude.outcome(fine)).toEqual({ ok: true, text: 'all fine' });
  expect(claude.outcome(endOf({ job: JOB, stderrTail: 'Rate limit reached' }))).toEqual({
    ok: false,
    failure: {
      kind: 'rate-limited',
      message: 'It exited with code 1: Rate limit reached',
      guessed: true,
    },
  });
});

test('an agent that began to work and fell silent is no success, though it exits with 0', () => {
  const given = endOf({
    job: JOB,
    spoke: true,
    exit: { kind: 'exited', code: 0 },
    stdoutTail: 'noise',
  });
  expect(claude.outcome(given)).toEqual({
    ok: false,
    failure: {
      kind: 'transient',
      message: 'The agent ended without a result. It exited with code 0.',
    },
  });
});
