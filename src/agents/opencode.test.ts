/** OpenCode's command line for every wish of a job, and what its words at the start mean. */

import { expect, test } from 'vitest';
import { endOf, jobOf } from '../../test/support/job.ts';
import type { Exit } from '../base/exit.ts';
import type { Failure } from '../model/failure.ts';
import { type AgentOptions, NO_OPTIONS, type ToolRules } from '../model/plan.ts';
import type { Job } from './agent.ts';
import { opencode } from './opencode.ts';

const BASE = ['run', '--format', 'json', '--thinking', '--print-logs', '--log-level', 'ERROR'];
const SELF = {
  plugin: ['file://{temp}/landfast-reporter.js'],
  experimental: { continue_loop_on_deny: true },
};
const BYPASS = { permissions: 'bypassPermissions' } as const;

test('the prompt is standard input, and nothing but our reporter is added by itself', () => {
  const command = opencode.command(jobOf({ permissions: 'default', prompt: '# Task\n' }));
  expect(command).toMatchObject({
    file: 'opencode',
    args: BASE,
    stdin: '# Task\n',
    env: { OPENCODE_DISABLE_AUTOUPDATE: '1' },
  });
  expect(JSON.parse(command.env.OPENCODE_CONFIG_CONTENT ?? '')).toEqual(SELF);
  expect(Object.keys(command.files ?? {})).toEqual(['landfast-reporter.js']);
  expect(opencode.command(jobOf({ executable: '/opt/oc' })).file).toBe('/opt/oc');
});

test.each<[string, Partial<Job>, readonly string[]]>([
  ['resume', { resume: 'ses_1' }, ['--session', 'ses_1']],
  ['fork', { resume: 'ses_1', fork: true }, ['--session', 'ses_1', '--fork']],
  ['a fork of nothing', { fork: true }, []],
  ['model', { model: 'anthropic/claude-x' }, ['--model', 'anthropic/claude-x']],
  ['bypassPermissions', BYPASS, ['--auto']],
  ['bypassPermissions in a read task', { ...BYPASS, readOnly: true }, []],
])('%s is said by arguments', (_, job, more) => {
  expect(opencode.command(jobOf({ permissions: 'default', ...job })).args).toEqual([
    ...BASE,
    ...more,
  ]);
});

const LOOK = {
  '**': 'deny',
  '?ead': { '*': 'allow', '*.env': 'deny', '*.env.*': 'deny', '*.env.example': 'allow' },
  ...{ '?lob': 'allow', '?rep': 'allow', '?ist': 'allow', '?sp': 'allow', '?kill': 'allow' },
  ...{ '?odowrite': 'allow', '?odoread': 'allow', '?nvalid': 'allow' },
  ...{ '?ash': 'deny', '?xternal_directory': 'deny' },
};

test.each<[string, Partial<Job>, string, object]>([
  ['acceptEdits', { permissions: 'acceptEdits' }, 'build', { ...LOOK, '?dit': 'allow' }],
  ['dontAsk', { permissions: 'dontAsk' }, 'build', { ...LOOK, '?dit': 'deny' }],
  ['plan', { permissions: 'plan' }, 'plan', { ...LOOK, '?dit': 'deny', 'ed?t': 'deny' }],
  [
    'a read task',
    { ...BYPASS, readOnly: true },
    'build',
    { ...LOOK, '?dit': 'deny', 'ed?t': 'deny' },
  ],
  [
    'a role',
    { permissions: 'acceptEdits', role: 'critic' },
    'critic',
    { ...LOOK, '?dit': 'allow' },
  ],
  [
    'programs and folders',
    { permissions: 'default', ...wishes({ commands: ['git', 'npm'] }, { dirs: ['/data'] }) },
    'build',
    {
      '?ash': { git: 'allow', 'git *': 'allow', npm: 'allow', 'npm *': 'allow' },
      '?xternal_directory': { '/data/*': 'allow' },
    },
  ],
  [
    'rules, of which the last word is no',
    {
      ...BYPASS,
      ...wishes({
        allowed: ['webfetch', 'bash(npm test *)'],
        disallowed: ['webfetch', 'write(docs/*)', 'tickets_*', '*'],
      }),
    },
    'build',
    {
      'w?bfetch': 'allow',
      'b?sh': { 'npm test *': 'allow' },
      'we?fetch': 'deny',
      'ed?t': { 'docs/*': 'deny' },
      'ti?kets_*': 'deny',
      '****': 'deny',
    },
  ],
])('%s is said by rules, in this order', (_, job, agent, permission) => {
  const config = configOf(job);
  expect(config).toEqual({ ...SELF, default_agent: agent, agent: { [agent]: { permission } } });
  expect(JSON.stringify(config.agent)).toBe(JSON.stringify({ [agent]: { permission } }));
});

test('a role without rules is only named, so that the CLI misses it where it is not there', () => {
  expect(configOf({ ...BYPASS, role: 'critic' })).toEqual({ ...SELF, default_agent: 'critic' });
});

test('the reporter looks for a role, but not for one of the CLI’s own', () => {
  const source = (role: string | null) =>
    opencode.command(jobOf({ role })).files?.['landfast-reporter.js'] ?? '';
  expect(source('critic')).toContain('const role = "critic";');
  expect(source('plan')).toContain('const role = null;');
  expect(source(null)).toContain('const role = null;');
});

test('MCP servers are configured, and what may be secret stands in files', () => {
  const mcp = {
    local: { command: ['npx', 'server'], env: { KEY: 'secret-1', OTHER: 'secret-2' } },
    remote: { url: 'https://mcp.example.org' },
  };
  const job = jobOf({ permissions: 'default', options: { ...NO_OPTIONS, mcp } });
  const { env, files, args } = opencode.command(job);
  expect(JSON.parse(env.OPENCODE_CONFIG_CONTENT ?? '')).toEqual({
    ...SELF,
    mcp: {
      local: {
        type: 'local',
        command: ['npx', 'server'],
        environment: { KEY: '{file:{temp}/mcp-1-1}', OTHER: '{file:{temp}/mcp-1-2}' },
        enabled: true,
      },
      remote: { type: 'remote', url: 'https://mcp.example.org', enabled: true },
    },
  });
  expect(files).toMatchObject({ 'mcp-1-1': 'secret-1', 'mcp-1-2': 'secret-2' });
  expect(JSON.stringify([args, env])).not.toContain('secret-');
});

test.each<[string, string, Failure]>([
  [
    'a lost session',
    '\u001b[91m\u001b[1mError: \u001b[0mSession not found\n',
    {
      kind: 'session-lost',
      message: 'The agent no longer knows the session to resume. Error: Session not found',
    },
  ],
  [
    'a role that is not there',
    'agent "nobody" not found\n',
    {
      kind: 'permanent',
      message: 'The agent cannot take the task’s role. agent "nobody" not found',
    },
  ],
  [
    'a role that is a sub-agent',
    'timestamp=1 level=ERROR message=failed error="Error: default agent \\"x\\" is a subagent"\n',
    {
      kind: 'permanent',
      message: 'The agent cannot take the task’s role. ' + 'Error: default agent "x" is a subagent',
    },
  ],
  [
    'a database in use',
    'Error: Failed query: CREATE TABLE `project`\nparams: \n',
    {
      kind: 'transient',
      message: 'The agent could not use its database. Error: Failed query: CREATE TABLE `project`',
    },
  ],
  [
    'other words',
    'Segmentation fault\n',
    { kind: 'transient', message: 'It exited with code 1: Segmentation fault' },
  ],
])('%s at the start is told by the words', (_, stderrTail, failure) => {
  expect(opencode.outcome(endOf({ stderrTail }))).toEqual({ ok: false, failure });
});

test('a program that never spoke the language is a plain command', () => {
  const exit: Exit = { kind: 'exited', code: 0 };
  expect(opencode.outcome(endOf({ exit, stdoutTail: 'hello\n' }))).toEqual({
    ok: true,
    text: 'hello',
  });
  expect(opencode.outcome(endOf({ exit, spoke: true }))).toMatchObject({ ok: false });
});

function wishes(tools: Partial<ToolRules>, more: Partial<AgentOptions> = {}): Partial<Job> {
  const options = { ...NO_OPTIONS, ...more, tools: { ...NO_OPTIONS.tools, ...tools } };
  return { options };
}

function configOf(job: Partial<Job>): Record<string, unknown> {
  return JSON.parse(opencode.command(jobOf(job)).env.OPENCODE_CONFIG_CONTENT ?? '');
}
