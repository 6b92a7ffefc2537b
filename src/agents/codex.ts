/**
 * OpenAI's Codex CLI, driven headless: one process per attempt, the prompt on standard input, JSON
 * lines on standard output and a few log lines on standard error (codex/stream.ts).
 *
 *   C1. The prompt is never an argument: with one, the CLI still waits for the end of its input.
 *   C2. The session id is the CLI's own; it is known from its first line on.
 *   C3. Permissions are the CLI's own sandbox, without prompts: a command that it refuses fails, and
 *       the model learns of it, but the stream does not show it.
 *         plan               reads everything, writes nothing, no network (also every read task)
 *         acceptEdits        writes the workspace, `dirs`, TMPDIR and /tmp, not `.git`; no network
 *         auto               the same, and the CLI's reviewer model decides on what goes further
 *         bypassPermissions  no sandbox at all
 *       The other modes would need prompts or rules for single tools; it has neither.
 *   C4. The environment of a plan's MCP server may hold secrets: it is in a file, not an argument.
 */

import { quoted } from '../base/shell-word.ts';
import type { AgentOptions, McpServer } from '../model/plan.ts';
import { type Agent, type CommandLine, type Job, NO_ABILITIES } from './agent.ts';
import { startFailure } from './codex/failure.ts';
import { LOG_FILTER, StreamParser } from './codex/stream.ts';
import { allowing, type ToolNames } from './denial.ts';
import { streamOutcome } from './outcome.ts';

export const codex: Agent = {
  name: 'codex',
  can: {
    ...NO_ABILITIES,
    resume: true,
    fork: true,
    prose: true,
    model: true,
    permissions: ['acceptEdits', 'plan', 'auto', 'bypassPermissions'],
    dirs: true,
    mcp: true,
    schema: true,
  },
  program: {
    file: 'codex',
    versionArgs: ['--version'],
    install: 'npm install -g @openai/codex',
    keeps: ['$CODEX_HOME', '~/.codex', '~/.cache'],
    login: {
      args: ['login', 'status'],
      // "Not logged in" is no verdict: a key in the environment or a provider's own will do.
      judge: ({ code, stderr }) => (code === 0 && /Logged in/i.test(stderr) ? 'in' : 'unknown'),
    },
    sessions: {
      kind: 'files',
      places: ['$CODEX_HOME/sessions', '~/.codex/sessions'],
      isFileOf: (session, path) => path.endsWith(`-${session}.jsonl`),
    },
  },
  command,
  parser: (job) => new StreamParser(job),
  allow: (job, call) => allowing(job, call, TOOLS),
  outcome: (end) => streamOutcome(end, startFailure(end.stderrTail)),
};

const TOOLS: ToolNames = { shell: 'shell', edits: ['apply_patch'], rules: false };

function command(job: Job): CommandLine {
  const { schema } = job.options;
  const mcp = mcpFiles(job.options);
  const files = {
    ...mcp,
    ...(schema === null ? {} : { 'schema.json': JSON.stringify(schema) }),
  };
  return {
    file: job.executable ?? 'codex',
    args: [
      ...['exec', '--json', '--skip-git-repo-check'],
      ...permissionArgs(job),
      ...(job.model === null ? [] : ['-m', job.model]),
      ...(schema === null ? [] : ['--output-schema', '{temp}/schema.json']),
      ...mcpArgs(job.options),
      ...sessionArgs(job),
      '-',
    ],
    stdin: job.prompt,
    env: { RUST_LOG: LOG_FILTER },
    inherit: INHERIT,
    ...(Object.keys(files).length === 0 ? {} : { files }),
  };
}

/** All other options come before these words: after them the CLI accepts only some. */
function sessionArgs({ resume, fork }: Job): readonly string[] {
  return resume === null ? [] : [fork ? 'fork' : 'resume', resume];
}

function permissionArgs({ permissions, readOnly, options }: Job): readonly string[] {
  if (readOnly || permissions === 'plan') return ['-s', 'read-only'];
  if (permissions === 'bypassPermissions') return ['--dangerously-bypass-approvals-and-sandbox'];
  const mode = permissions === 'auto' ? ['--approve-for-me'] : ['-s', 'workspace-write'];
  return [...mode, ...options.dirs.flatMap((dir) => ['--add-dir', dir])];
}

/** One override for all servers: a second one for the same key would replace the first. */
function mcpArgs({ mcp }: AgentOptions): readonly string[] {
  const servers = Object.entries(mcp).map(([name, server], index) => {
    return `${toml(name)}=${'url' in server ? `{url=${toml(server.url)}}` : stdio(server, index)}`;
  });
  return servers.length === 0 ? [] : ['-c', `mcp_servers={${servers.join(',')}}`];
}

type StdioServer = Extract<McpServer, { command: unknown }>;

function stdio(server: StdioServer, index: number): string {
  const [file = '', ...args] = hasEnv(server)
    ? ['/bin/sh', `{temp}/${scriptName(index)}`]
    : server.command;
  return `{command=${toml(file)},args=[${args.map(toml).join(',')}]}`;
}

/** Scripts that set a server's environment and become the server. */
function mcpFiles({ mcp }: AgentOptions): Readonly<Record<string, string>> {
  const scripts = Object.values(mcp).flatMap((server, index) => {
    if ('url' in server || !hasEnv(server)) return [];
    const variables = Object.entries(server.env).map(([name, value]) => `${name}=${quoted(value)}`);
    const lines = variables.map((variable) => `export ${variable}\n`).join('');
    return [[scriptName(index), `${lines}exec ${server.command.map(quoted).join(' ')}\n`]];
  });
  return Object.fromEntries(scripts);
}

function hasEnv({ env }: StdioServer): boolean {
  return Object.keys(env).length > 0;
}

function scriptName(index: number): string {
  return `mcp-${index + 1}.sh`;
}

/** A string of JSON is one of TOML, but for a character that TOML wants to see escaped. */
function toml(text: string): string {
  return JSON.stringify(text).replaceAll('\u007f', '\\u007f');
}

/**
 * What the CLI needs to find its account and network. Variables that an enclosing session has set for
 * itself (CODEX_THREAD_ID, CODEX_SANDBOX, CODEX_CI …) stay out.
 */
const INHERIT: readonly string[] = [
  ...['CODEX_HOME', 'CODEX_SQLITE_HOME', 'CODEX_API_KEY', 'CODEX_ACCESS_TOKEN'],
  ...['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'OPENAI_ORGANIZATION', 'OPENAI_PROJECT'],
  ...['CODEX_CA_CERTIFICATE', 'AZURE_OPENAI_API_KEY', 'OPENROUTER_API_KEY', 'AWS_*'],
];
