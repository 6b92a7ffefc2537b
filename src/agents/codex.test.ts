/** The command line of Codex, and what the end of its process means. */

import { expect, test } from 'vitest';
import { endOf, jobOf } from '../../test/support/job.ts';
import { type AgentOptions, NO_OPTIONS } from '../model/plan.ts';
import type { Job } from './agent.ts';
import { codex } from './codex.ts';

const JOB = jobOf();
const ALWAYS = ['exec', '--json', '--skip-git-repo-check'];

function args(part: Partial<Job>): readonly string[] {
  const all = codex.command({ ...JOB, ...part }).args;
  expect([...all.slice(0, ALWAYS.length), all.at(-1)]).toEqual([...ALWAYS, '-']);
  return all.slice(ALWAYS.length, -1);
}

function withOptions(options: Partial<AgentOptions>): Job {
  return { ...JOB, options: { ...NO_OPTIONS, ...options } };
}

test('a new attempt may edit its workspace, and the prompt is no argument', () => {
  const { inherit, ...command } = codex.command(JOB);
  expect(command).toEqual({
    file: 'codex',
    args: [...ALWAYS, '-s', 'workspace-write', '-'],
    stdin: JOB.prompt,
    env: { RUST_LOG: 'error,codex_otel.trace_safe=info' },
  });
  expect(inherit).toContain('OPENAI_API_KEY');
});

test('nothing of a session around us is inherited', () => {
  const nested = ['CODEX_THREAD_ID', 'CODEX_SESSION_ID', 'CODEX_CI', 'CODEX_SANDBOX', 'RUST_LOG'];
  const passes = (name: string) =>
    codex
      .command(JOB)
      .inherit.some((pattern) =>
        pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
      );
  expect(nested.filter(passes)).toEqual([]);
});

test.each([
  ['plan', false, ['-s', 'read-only']],
  ['acceptEdits', false, ['-s', 'workspace-write']],
  ['auto', false, ['--approve-for-me']],
  ['bypassPermissions', false, ['--dangerously-bypass-approvals-and-sandbox']],
  ['plan', true, ['-s', 'read-only']],
  ['acceptEdits', true, ['-s', 'read-only']],
  ['auto', true, ['-s', 'read-only']],
  ['bypassPermissions', true, ['-s', 'read-only']],
] as const)('%s, in a read task: %s', (permissions, readOnly, expected) => {
  expect(args({ permissions, readOnly })).toEqual(expected);
});

test('exactly the modes that can be rendered are offered', () => {
  expect(codex.can.permissions).toEqual(['acceptEdits', 'plan', 'auto', 'bypassPermissions']);
});

test('a session is resumed or forked under its own id, after all other options', () => {
  const model = 'gpt-5';
  expect(args({ resume: 's1', model })).toEqual([
    ...['-s', 'workspace-write', '-m', 'gpt-5', 'resume', 's1'],
  ]);
  expect(args({ resume: 's1', fork: true, model })).toEqual([
    ...['-s', 'workspace-write', '-m', 'gpt-5', 'fork', 's1'],
  ]);
});

test('the user’s program is used', () => {
  expect(codex.command({ ...JOB, executable: '/opt/codex' }).file).toBe('/opt/codex');
});

test('further folders are opened where there are walls to open', () => {
  const { options } = withOptions({ dirs: ['../lib', '/srv/data'] });
  const opened = ['--add-dir', '../lib', '--add-dir', '/srv/data'];
  expect(args({ options })).toEqual(['-s', 'workspace-write', ...opened]);
  expect(args({ options, permissions: 'auto' })).toEqual(['--approve-for-me', ...opened]);
  expect(args({ options, readOnly: true })).toEqual(['-s', 'read-only']);
});

test('a schema is a file', () => {
  const schema = { type: 'object', properties: { ok: { type: 'boolean' } } };
  const command = codex.command(withOptions({ schema }));
  expect(command.args).toEqual([
    ...ALWAYS,
    ...['-s', 'workspace-write', '--output-schema', '{temp}/schema.json', '-'],
  ]);
  expect(command.files).toEqual({ 'schema.json': JSON.stringify(schema) });
});

test('all MCP servers are one setting, and their secrets are no arguments', () => {
  const command = codex.command(
    withOptions({
      mcp: {
        docs: { url: 'https://mcp.example/x' },
        'my.db': { command: ['db', '--name', 'it’s "a"'], env: {} },
        keyed: { command: ['node', "it's.js"], env: { TOKEN: "s'3", OTHER: '$x' } },
      },
    }),
  );
  const servers = [
    '"docs"={url="https://mcp.example/x"}',
    '"my.db"={command="db",args=["--name","it’s \\"a\\""]}',
    '"keyed"={command="/bin/sh",args=["{temp}/mcp-3.sh"]}',
  ];
  expect(command.args.slice(ALWAYS.length + 2, -1)).toEqual([
    '-c',
    `mcp_servers={${servers.join(',')}}`,
  ]);
  expect(command.files).toEqual({
    'mcp-3.sh': `export TOKEN='s'\\''3'\nexport OTHER='$x'\nexec 'node' 'it'\\''s.js'\n`,
  });
});

test.each([
  [0, 'Logged in using ChatGPT\n', 'in'],
  [1, 'Not logged in\n', 'unknown'],
  [2, "error: unrecognized subcommand 'status'\n", 'unknown'],
])('a log-in is believed, a missing one may be a key elsewhere: %s %j', (code, stderr, login) => {
  expect(codex.program.login?.judge({ code, stdout: '', stderr })).toBe(login);
});

test.each([
  [
    'Error: thread/resume: thread/resume failed: no rollout found for thread id s1 (code -32600)',
    'session-lost',
    'The agent no longer knows the session to resume.',
  ],
  [
    "error: unexpected argument '--approve-for-me' found\n\nUsage: codex exec",
    'permanent',
    'This version of the agent does not accept its arguments.',
  ],
  ['Error: Model provider `x` not found', 'permanent', 'The agent’s own configuration is wrong.'],
  [
    'Output schema file /tmp/x is not valid JSON: EOF',
    'permanent',
    'The agent does not accept the task’s schema.',
  ],
])('a refusal to start is told as what it is: %s', (stderrTail, kind, sentence) => {
  const failure = { kind, message: `${sentence} ${stderrTail.split('\n')[0]}` };
  expect(codex.outcome(endOf({ job: JOB, stderrTail }))).toEqual({ ok: false, failure });
  expect(codex.outcome(endOf({ job: JOB, stderrTail, spoke: true }))).toEqual({
    ok: false,
    failure,
  });
});

test('a stand-in that never spoke the stream’s language is judged as a plain command', () => {
  const fine = endOf({ job: JOB, exit: { kind: 'exited', code: 0 }, stdoutTail: 'all fine\n' });
  expect(codex.outcome(fine)).toEqual({ ok: true, text: 'all fine' });
});

test('an agent that began to work and fell silent is no success, though it exits with 0', () => {
  const message = 'The agent ended without a result. It exited with code 0.';
  expect(
    codex.outcome(endOf({ job: JOB, spoke: true, exit: { kind: 'exited', code: 0 } })),
  ).toEqual({
    ok: false,
    failure: { kind: 'transient', message },
  });
});
