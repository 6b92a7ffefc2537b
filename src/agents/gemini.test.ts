/** The command line of Gemini CLI, the rules beside it, and what the end of its process means. */

import { expect, test } from 'vitest';
import { endOf, jobOf } from '../../test/support/job.ts';
import type { Exit } from '../base/exit.ts';
import type { Failure } from '../model/failure.ts';
import { NO_OPTIONS, type ToolRules } from '../model/plan.ts';
import type { Job } from './agent.ts';
import { gemini } from './gemini.ts';

const JOB = jobOf({ newSession: '11111111-1111-4111-8111-111111111111' });

const POLICIES = [
  '--admin-policy={temp}/guard.toml',
  '--admin-policy={temp}/task.toml',
  '--policy={temp}/guard.toml',
  '--policy={temp}/task.toml',
  '--policy=~/.gemini/policies',
];

function args(part: Partial<Job>): readonly string[] {
  return gemini.command({ ...JOB, ...part }).args.slice(2);
}

function guard(part: Partial<Job>): string | undefined {
  return gemini.command({ ...JOB, ...part }).files?.['guard.toml'];
}

function rules(tools: Partial<ToolRules>): string | undefined {
  const options = { ...NO_OPTIONS, tools: { ...NO_OPTIONS.tools, ...tools } };
  return gemini.command({ ...JOB, options }).files?.['task.toml'];
}

test('a new attempt names its session, and the prompt is no argument', () => {
  const { inherit, files, ...command } = gemini.command(JOB);
  expect(command).toEqual({
    file: 'gemini',
    args: [
      ...['--output-format', 'stream-json', '--session-id', JOB.newSession],
      ...['--approval-mode', 'auto_edit', ...POLICIES],
    ],
    stdin: JOB.prompt,
    env: { GEMINI_CLI_NO_RELAUNCH: 'true', GEMINI_CLI_TRUST_WORKSPACE: 'true' },
  });
  expect(Object.keys(files ?? {})).toEqual(['guard.toml', 'task.toml']);
  expect(inherit).toContain('GEMINI_API_KEY');
});

test('nothing of a session around us is inherited', () => {
  const nested = ['GEMINI_CLI', 'GEMINI_CLI_IDE_SERVER_PORT', 'GEMINI_CLI_NO_RELAUNCH', 'SANDBOX'];
  const passes = (name: string) =>
    gemini
      .command(JOB)
      .inherit.some((pattern) =>
        pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
      );
  expect(nested.filter(passes)).toEqual([]);
});

test('a session is resumed under its own id', () => {
  expect(args({ resume: 's1' }).slice(0, 2)).toEqual(['--resume', 's1']);
  expect(args({ resume: 's1' })).not.toContain('--session-id');
});

test('the user’s program, the model and further folders are passed on', () => {
  const options = { ...NO_OPTIONS, dirs: ['/data', '/shared docs'] };
  const part = { executable: '/opt/gemini', model: 'gemini-2.5-flash', options };
  expect(gemini.command({ ...JOB, ...part }).file).toBe('/opt/gemini');
  expect(args(part).slice(4 + POLICIES.length)).toEqual([
    '--model=gemini-2.5-flash',
    '--include-directories=/data',
    '--include-directories=/shared docs',
  ]);
});

const deny = (tool: string) =>
  `[[rule]]\ntoolName = "${tool}"\ndecision = "deny"\npriority = 999\n`;
const NO_RAISING = [deny('enter_plan_mode'), deny('exit_plan_mode')];
const NO_WRITING = [deny('write_file'), deny('replace')];

test.each([
  ['default', 'default', NO_RAISING],
  ['dontAsk', 'default', NO_RAISING],
  ['acceptEdits', 'auto_edit', NO_RAISING],
  ['plan', 'plan', NO_RAISING],
  ['bypassPermissions', 'yolo', []],
] as const)('%s is rendered as %s, which the model cannot leave', (permissions, mode, denied) => {
  expect(args({ permissions }).slice(2, 4)).toEqual(['--approval-mode', mode]);
  expect(guard({ permissions })).toBe(denied.join('\n'));
});

test('every permission mode it claims has a row above, and `auto` is none of them', () => {
  expect(gemini.can.permissions).toEqual([
    ...['default', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions'],
  ]);
});

test.each([
  ['bypassPermissions', 'default'],
  ['acceptEdits', 'default'],
  ['plan', 'plan'],
] as const)('a read task with %s gets %s and no tool that writes', (permissions, mode) => {
  const part = { readOnly: true, permissions };
  expect(args(part).slice(2, 4)).toEqual(['--approval-mode', mode]);
  expect(guard(part)).toBe([...NO_RAISING, ...NO_WRITING].join('\n'));
});

test('a task without rules has an empty file of them', () => {
  expect(rules({})).toBe('');
});

test('programs and tools are allowed by rules, and a refusal outranks them', () => {
  const tools = {
    commands: ['git'],
    allowed: ['web_fetch', 'run_shell_command(npm run "test")', 'ShellTool(ls)', 'mcp_jira_*'],
    disallowed: ['run_shell_command(git push)', 'google_web_search', 'read_file(.env)'],
  };
  expect(rules(tools)).toMatchInlineSnapshot(`
    "[[rule]]
    toolName = "run_shell_command"
    commandPrefix = "git push"
    decision = "deny"
    priority = 900

    [[rule]]
    toolName = "google_web_search"
    decision = "deny"
    priority = 900

    [[rule]]
    toolName = "read_file"
    argsPattern = "\\\\u002eenv"
    decision = "deny"
    priority = 900

    [[rule]]
    toolName = "web_fetch"
    decision = "allow"
    priority = 500

    [[rule]]
    toolName = "run_shell_command"
    commandPrefix = "npm run \\"test\\""
    decision = "allow"
    priority = 500

    [[rule]]
    toolName = "run_shell_command"
    commandPrefix = "ls"
    decision = "allow"
    priority = 500

    [[rule]]
    toolName = "mcp_jira_*"
    decision = "allow"
    priority = 500

    [[rule]]
    toolName = "run_shell_command"
    commandPrefix = "git"
    decision = "allow"
    priority = 500
    "
  `);
});

test('a rule’s text is matched as it stands, whatever it holds', () => {
  const odd = 'src/(a|b)*+?{2}"ü\n😀\\';
  const [, toml = '""'] =
    /argsPattern = (".*")/.exec(rules({ disallowed: [`x(${odd})`] }) ?? '') ?? [];
  const matcher = new RegExp(JSON.parse(toml) as string);
  expect(matcher.test(JSON.stringify({ path: odd }))).toBe(true);
  expect(matcher.test(JSON.stringify({ path: 'src/aa' }))).toBe(false);
  expect(matcher.source).not.toMatch(/[*+?{(]/); // The engine refuses what could be slow.
});

test.each([
  [145, '', 'auth'], // 401
  [147, '', 'auth'], // 403
  [144, '', 'permanent'], // 400
  [148, '', 'permanent'], // 404
  [244, '', 'transient'], // 500
  [247, '', 'transient'], // 503
  [53, '', 'turns'],
  [173, '', 'rate-limited'], // 429
  [130, '', 'interrupted'],
  [1, '', 'transient'],
  [0, '', 'transient'],
  [1, 'Error when talking to Gemini API … ModelNotFoundError: no such model', 'permanent'],
])('an error without a name is known by exit code %i %s: %s', (code, stderrTail, kind) => {
  const failure: Failure = { kind: 'transient', message: 'Odd.' };
  const result = { type: 'result', ok: false, text: '', failure } as const;
  const given = endOf({
    job: JOB,
    result,
    spoke: true,
    stderrTail,
    exit: { kind: 'exited', code },
  });
  expect(gemini.outcome(given)).toEqual({ ok: false, failure: { kind, message: 'Odd.' } });
});

test.each([
  [
    41,
    'Please set an Auth method in your settings.json or specify GEMINI_API_KEY',
    'auth',
    'The agent has no account to work with.',
  ],
  [41, 'Invalid auth method selected.', 'auth', 'The agent has no account to work with.'],
  [
    42,
    'Error resuming session: Invalid session identifier "s1".\n  Use --list-sessions to see them.',
    'session-lost',
    'The agent no longer knows the session to resume.',
  ],
  [42, 'No input provided via stdin.', 'permanent', 'The agent did not accept its input.'],
  [
    55,
    '\u001b[31mGemini CLI is not running in a trusted directory.\u001b[0m',
    'permanent',
    'The agent does not trust its workspace.',
  ],
  [
    1,
    'Unknown argument: admin-policy\n\nUsage: gemini [options]',
    'permanent',
    'This version of the agent does not accept its arguments.',
  ],
])('a refusal to start is told as what it is: %i %s', (code, stderrTail, kind, sentence) => {
  const line = stderrTail.split('\n')[0]?.replace('\u001b[31m', '').replace('\u001b[0m', '');
  const failure = { kind, message: `${sentence} ${line}` };
  const noise = 'YOLO mode is enabled.';
  const exit: Exit = { kind: 'exited', code };
  expect(
    gemini.outcome(endOf({ job: JOB, stderrTail: `${noise}\n${stderrTail}\n`, exit })),
  ).toEqual({
    ok: false,
    failure,
  });
});

test('a stand-in that never spoke the stream’s language is judged as a plain command', () => {
  const fine = endOf({ job: JOB, exit: { kind: 'exited', code: 0 }, stdoutTail: 'all fine\n' });
  expect(gemini.outcome(fine)).toEqual({ ok: true, text: 'all fine' });
  expect(gemini.outcome(endOf({ job: JOB, stderrTail: 'boom' }))).toEqual({
    ok: false,
    failure: { kind: 'transient', message: 'It exited with code 1: boom' },
  });
});

test('an agent that fell silent is no success, though an interrupted one exits with 0', () => {
  const given = endOf({ job: JOB, spoke: true, exit: { kind: 'exited', code: 0 } });
  const message = 'The agent ended without a result. It exited with code 0.';
  expect(gemini.outcome(given)).toEqual({ ok: false, failure: { kind: 'transient', message } });
});
