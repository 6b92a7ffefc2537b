/**
 * Claude Code, driven headless: one process per attempt, the prompt on standard input, a stream of
 * JSON lines on standard output (claude/stream.ts).
 *
 *   C1. The prompt never is an argument: no length limit, and no flag can swallow it.
 *   C2. The session id is ours from the start, so an attempt that dies at once can be resumed.
 *   C3. Long waits belong to the engine: the CLI retries a few times only and leaves nothing
 *       running behind its last answer.
 */

import type { AgentOptions } from '../model/plan.ts';
import type { Agent, AgentEnd, AgentOutcome, CommandLine, Job } from './agent.ts';
import { startFailure } from './claude/failure.ts';
import { StreamFormatter } from './claude/log-formatter.ts';
import { StreamParser } from './claude/stream.ts';
import { allowing, type ToolNames } from './denial.ts';
import { streamOutcome } from './outcome.ts';

export const claude: Agent = {
  name: 'claude',
  can: {
    resume: true,
    fork: true,
    prose: true,
    role: true,
    model: true,
    permissions: ['default', 'acceptEdits', 'plan', 'dontAsk', 'auto', 'bypassPermissions'],
    toolRules: true,
    commands: true,
    dirs: true,
    mcp: true,
    maxTurns: true,
    budget: true,
    schema: true,
    anyCommand: false,
  },
  program: {
    file: 'claude',
    versionArgs: ['--version'],
    install: 'npm install -g @anthropic-ai/claude-code',
    keeps: ['$CLAUDE_CONFIG_DIR', '~/.claude', '~/.claude.json', '~/.cache'],
    login: {
      args: ['auth', 'status'],
      judge: ({ stdout }) => {
        const answer = /"loggedIn"\s*:\s*(true|false)/.exec(stdout);
        if (answer === null) return 'unknown';
        return answer[1] === 'true' ? 'in' : 'out';
      },
    },
    sessions: {
      kind: 'files',
      places: ['$CLAUDE_CONFIG_DIR/projects', '~/.claude/projects'],
      // The folder's name cannot be decoded (`my.app` and `my-app` share one); the id is unique.
      isFileOf: (session, path) => path.split('/').slice(1).join('/') === `${session}.jsonl`,
    },
  },
  command,
  parser: () => new StreamParser(),
  formatter: () => new StreamFormatter(),
  allow: (job, call) => allowing(job, call, TOOLS),
  outcome,
};

function command(job: Job): CommandLine {
  const { maxTurns, schema } = job.options;
  const args = [
    ...[...permissionArgs(job), ...sessionArgs(job), '-p', ...STREAM],
    ...flag('--max-turns', maxTurns),
    ...flag('--json-schema', schema && JSON.stringify(schema)),
    ...(hasMcp(job.options) ? ['--mcp-config={temp}/mcp.json', '--strict-mcp-config'] : []),
    ...flag('--agent', job.role),
    ...flag('--model', job.model),
    ...flag('--max-budget-usd', job.budgetUsd),
  ];
  return {
    file: job.executable ?? 'claude',
    args,
    stdin: job.prompt,
    env: {
      CLAUDE_CODE_MAX_RETRIES: '3',
      CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
      CLAUDE_CODE_STARTUP_FAILURE_RESULTS: '1',
      DISABLE_AUTOUPDATER: '1',
    },
    inherit: INHERIT,
    ...(hasMcp(job.options) ? { files: { 'mcp.json': mcpConfig(job.options.mcp) } } : {}),
  };
}

const STREAM = ['--output-format', 'stream-json', '--include-partial-messages', '--verbose'];

function sessionArgs({ resume, fork, newSession }: Job): readonly string[] {
  if (resume === null) return ['--session-id', newSession];
  return fork
    ? ['--resume', resume, '--fork-session', '--session-id', newSession]
    : ['--resume', resume];
}

function flag(name: string, value: string | number | null): readonly string[] {
  return value === null ? [] : [name, String(value)];
}

function hasMcp({ mcp }: AgentOptions): boolean {
  return Object.keys(mcp).length > 0;
}

function mcpConfig(servers: AgentOptions['mcp']): string {
  const entries = Object.entries(servers).map(([name, server]) => {
    if ('url' in server) return [name, { type: 'http', url: server.url }];
    const [command, ...args] = server.command;
    return [name, { type: 'stdio', command, args, env: server.env }];
  });
  return JSON.stringify({ mcpServers: Object.fromEntries(entries) });
}

/** Flags that take several values are given with `=`, so that they take no more than their own. */
function permissionArgs(job: Job): readonly string[] {
  const { tools, dirs } = job.options;
  const allowed = [...tools.allowed, ...tools.commands.map((name) => `Bash(${name}:*)`)];
  const refused = [...(job.readOnly ? WRITING_TOOLS : []), ...tools.disallowed];
  return [
    ...modeArgs(job),
    ...(allowed.length === 0 ? [] : [`--allowedTools=${allowed.join(',')}`]),
    ...(refused.length === 0 ? [] : [`--disallowedTools=${refused.join(',')}`]),
    ...dirs.map((dir) => `--add-dir=${dir}`),
  ];
}

/** A read task gets no permission to write, and no prompt; planning is stricter still. */
function modeArgs({ readOnly, permissions }: Job): readonly string[] {
  if (readOnly) return ['--permission-mode', permissions === 'plan' ? 'plan' : 'dontAsk'];
  if (permissions === 'bypassPermissions') return ['--dangerously-skip-permissions'];
  return permissions === 'default' ? [] : ['--permission-mode', permissions];
}

const WRITING_TOOLS = ['Edit', 'Write', 'NotebookEdit'];
const TOOLS: ToolNames = { shell: 'Bash', edits: WRITING_TOOLS, rules: true };

/**
 * What the CLI needs to find its account, model and network. What a session around us has set for
 * itself (CLAUDECODE, CLAUDE_CODE_SESSION_ID, CLAUDE_CODE_ENTRYPOINT …) stays out: the CLI would
 * take itself for a part of that session.
 */
const INHERIT: readonly string[] = [
  ...['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_BASE_URL', 'CLAUDE_CODE_OAUTH_TOKEN'],
  ...['ANTHROPIC_CUSTOM_HEADERS', 'CLAUDE_CONFIG_DIR', 'IS_SANDBOX'],
  ...['ANTHROPIC_MODEL', 'ANTHROPIC_SMALL_FAST_MODEL', 'ANTHROPIC_DEFAULT_*'],
  ...['CLAUDE_CODE_SUBAGENT_MODEL', 'CLAUDE_CODE_MAX_OUTPUT_TOKENS', 'MAX_THINKING_TOKENS'],
  ...['CLAUDE_CODE_USE_BEDROCK', 'ANTHROPIC_BEDROCK_*', 'AWS_*', 'CLAUDE_CODE_SKIP_*'],
  ...['CLAUDE_CODE_USE_VERTEX', 'ANTHROPIC_VERTEX_*', 'GOOGLE_*', 'CLOUD_ML_REGION'],
  ...['VERTEX_REGION_*', 'CLAUDE_CODE_USE_FOUNDRY', 'ANTHROPIC_FOUNDRY_*'],
  ...['API_TIMEOUT_MS', 'BASH_DEFAULT_TIMEOUT_MS', 'BASH_MAX_TIMEOUT_MS'],
  ...['DISABLE_TELEMETRY', 'DISABLE_ERROR_REPORTING', 'CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC'],
];

function outcome(end: AgentEnd): AgentOutcome {
  const { result, job } = end;
  if (result?.ok && job.options.schema !== null && result.structured === undefined) {
    const message = 'The agent ended without an answer in the form that the task asks for.';
    return { ok: false, failure: { kind: 'schema', message } };
  }
  return streamOutcome(end, startFailure(end.stderrTail));
}
