/** The line of configuration that would allow a refused tool. */

import { expect, test } from 'vitest';
import { jobOf } from '../../test/support/job.ts';
import { NO_OPTIONS, type Permissions } from '../model/plan.ts';
import { acp } from './acp.ts';
import type { Agent } from './agent.ts';
import { claude } from './claude.ts';
import { codex } from './codex.ts';
import { whatOf } from './denial.ts';
import { gemini } from './gemini.ts';
import { opencode } from './opencode.ts';

const allow = (agent: Agent, tool: string, input: unknown, permissions?: Permissions) =>
  agent.allow?.(jobOf({ cwd: '/w', permissions: permissions ?? 'acceptEdits' }), { tool, input });

test.each([
  [claude, 'Bash', { command: 'curl -s https://x.test > a' }, 'tools: { allowed_cli: [curl] }'],
  [
    claude,
    'Bash',
    { command: 'A=1 npm ci && jq . a | npm x' },
    'tools: { allowed_cli: [npm, jq] }',
  ],
  [claude, 'Bash', { command: 'for i in 1 2; do x; done' }, 'tools: { allowed_tools: [Bash] }'],
  [claude, 'Bash', { command: '$(x) y' }, 'tools: { allowed_tools: [Bash] }'],
  [claude, 'WebFetch', { url: 'https://x.test' }, 'tools: { allowed_tools: [WebFetch] }'],
  [claude, 'Write', { file_path: '/else/a.txt' }, 'tools: { add_dirs: [/else] }'],
  [claude, 'Read', { file_path: '/my files/a' }, 'tools: { add_dirs: ["/my files"] }'],
  [gemini, 'run_shell_command', { command: 'curl x' }, 'tools: { allowed_cli: [curl] }'],
  [opencode, 'bash', { command: 'curl x' }, 'tools: { allowed_cli: [curl] }'],
  [codex, 'shell', { command: 'curl x' }, 'tools: { permission_mode: bypassPermissions }'],
  [acp, 'execute', { command: 'curl x' }, 'tools: { permission_mode: bypassPermissions }'],
] as const)('%o: %s %o is allowed by its own line', (agent, tool, input, line) => {
  expect(allow(agent, tool, input)).toBe(line);
});

test.each([
  [claude, 'Write'],
  [gemini, 'write_file'],
  [opencode, 'patch'],
  [codex, 'apply_patch'],
  [acp, 'edit'],
] as const)('where edits need leave, %o may be given it for %s', (agent, tool) => {
  const input = { file_path: '/w/a.txt' };
  expect(allow(agent, tool, input, 'plan')).toBe('tools: { permission_mode: acceptEdits }');
});

test('what the plan itself refuses has no such line', () => {
  const tools = { allowed: [], disallowed: ['Bash(rm:*)', 'WebFetch'], commands: ['git'] };
  const job = jobOf({ options: { ...NO_OPTIONS, tools } });
  const tool = (name: string, command: string) => ({ tool: name, input: { command } });

  expect(claude.allow?.(job, tool('WebFetch', ''))).toBe(null);
  expect(claude.allow?.(job, tool('Bash', 'rm x'))).toBe(null);
  expect(claude.allow?.(jobOf({ readOnly: true }), tool('Edit', ''))).toBe(null);
});

test('what a tool was to do is its command, its file or its address', () => {
  expect([{ command: ['a', 'b'] }, { file_path: 'x' }, { url: 'u' }, null, 7].map(whatOf)).toEqual([
    'a b',
    'x',
    'u',
    null,
    null,
  ]);
});
