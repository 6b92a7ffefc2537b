/**
 * OpenCode, driven headless: one process per attempt, the prompt on standard input, JSON lines on
 * standard output and those of our reporter on standard error (opencode/stream.ts).
 *
 *   O1. The prompt is never an argument: the CLI would put quotes around it.
 *   O2. The session id is the CLI's own, known when it first asks the model. It is resumed in the
 *       folder it began in: from another one the CLI hangs.
 *   O3. OPENCODE_CONFIG_CONTENT adds what a job asks for to the user's configuration. Every tool sees
 *       that variable, so the values of an MCP server's environment are in files.
 *   O4. Permissions are rules (opencode/permission.ts), given to the agent that works: the role, or
 *       the CLI's own `build` or `plan`. Where no rules are needed the user's default agent works.
 *   O5. A refused tool does not end the turn: the model learns of it and continues.
 *   O6. The CLI's exit code is 0 even where it gave up.
 *
 * With a plugin, such as our reporter, the CLI waits at its first start for packages that it then
 * installs into its configuration folder.
 */

import type { AgentOptions } from '../model/plan.ts';
import type { AgentEnd, AgentOutcome, CommandLine, Job } from './agent.ts';
import { type Agent, NO_ABILITIES } from './agent.ts';
import { allowing, type ToolNames } from './denial.ts';
import { isVague, startFailure } from './opencode/failure.ts';
import { permissionRules, WRITING } from './opencode/permission.ts';
import { REPORTER_FILE, reporterSource } from './opencode/reporter.ts';
import { StreamParser } from './opencode/stream.ts';
import { streamOutcome } from './outcome.ts';

export const opencode: Agent = {
  name: 'opencode',
  can: {
    ...NO_ABILITIES,
    resume: true,
    fork: true,
    prose: true,
    role: true,
    model: true,
    permissions: ['default', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions'],
    toolRules: true,
    commands: true,
    dirs: true,
    mcp: true,
    // `steps` of an agent ends in a summary that looks like success; the others it does not have.
  },
  program: {
    file: 'opencode',
    versionArgs: ['--version'],
    install: 'npm install -g opencode-ai',
    keeps: ['~/.local/share/opencode', '~/.local/state/opencode', '~/.config/opencode', '~/.cache'],
    login: null,
    sessions: {
      kind: 'sqlite',
      places: [
        '$OPENCODE_DB',
        '$XDG_DATA_HOME/opencode/opencode.db',
        '~/.local/share/opencode/opencode.db',
      ],
      query: 'SELECT id FROM session WHERE id = ?',
    },
  },
  command,
  parser: () => new StreamParser(),
  allow: (job, call) => allowing(job, call, TOOLS),
  outcome,
};

const TOOLS: ToolNames = { shell: 'bash', edits: ['edit', ...WRITING], rules: true };

function command(job: Job): CommandLine {
  const bypass = job.permissions === 'bypassPermissions' && !job.readOnly;
  return {
    file: job.executable ?? 'opencode',
    args: [
      ...['run', '--format', 'json', '--thinking', '--print-logs', '--log-level', 'ERROR'],
      ...(job.resume === null ? [] : ['--session', job.resume]),
      ...(job.resume !== null && job.fork ? ['--fork'] : []),
      ...(job.model === null ? [] : ['--model', job.model]),
      ...(bypass ? ['--auto'] : []),
    ],
    stdin: job.prompt,
    env: {
      OPENCODE_CONFIG_CONTENT: JSON.stringify(configuration(job)),
      OPENCODE_DISABLE_AUTOUPDATE: '1',
    },
    inherit: INHERIT,
    files: { [REPORTER_FILE]: reporterSource(job.role), ...mcpFiles(job.options) },
  };
}

function configuration(job: Job): object {
  const rules = permissionRules(job);
  const ruled = Object.keys(rules).length > 0;
  const own = job.permissions === 'plan' ? 'plan' : 'build';
  const agent = job.role ?? (ruled ? own : null);
  return {
    plugin: [`file://{temp}/${REPORTER_FILE}`],
    experimental: { continue_loop_on_deny: true },
    ...(agent !== null && { default_agent: agent }),
    ...(agent !== null && ruled && { agent: { [agent]: { permission: rules } } }),
    ...(Object.keys(job.options.mcp).length > 0 && { mcp: mcpServers(job.options) }),
  };
}

function mcpServers({ mcp }: AgentOptions): object {
  const servers = Object.entries(mcp).map(([name, server], index) => {
    if ('url' in server) return [name, { type: 'remote', url: server.url, enabled: true }];
    const names = Object.keys(server.env);
    const environment = names.map((key, at) => [key, `{file:{temp}/${secretFile(index, at)}}`]);
    const { command } = server;
    return [
      name,
      { type: 'local', command, environment: Object.fromEntries(environment), enabled: true },
    ];
  });
  return Object.fromEntries(servers);
}

function mcpFiles({ mcp }: AgentOptions): Readonly<Record<string, string>> {
  const files = Object.values(mcp).flatMap((server, index) => {
    const values = 'url' in server ? [] : Object.values(server.env);
    return values.map((value, at) => [secretFile(index, at), value]);
  });
  return Object.fromEntries(files);
}

function secretFile(server: number, variable: number): string {
  return `mcp-${server + 1}-${variable + 1}`;
}

/**
 * What the CLI needs to find its configuration, and the keys of the providers most people use;
 * `pass_env` adds others. Variables that an enclosing session has set for itself (OPENCODE, OPENCODE_PID,
 * OPENCODE_CONFIG_CONTENT, OPENCODE_SERVER_PASSWORD …) stay out.
 */
const INHERIT: readonly string[] = [
  ...['OPENCODE_CONFIG', 'OPENCODE_CONFIG_DIR', 'OPENCODE_DISABLE_PROJECT_CONFIG', 'OPENCODE_DB'],
  ...['OPENCODE_MODELS_URL', 'OPENCODE_MODELS_PATH', 'OPENCODE_DISABLE_MODELS_FETCH'],
  ...['OPENCODE_DISABLE_LSP_DOWNLOAD', 'OPENCODE_API_KEY', 'ANTHROPIC_API_KEY', 'OPENAI_API_KEY'],
  ...['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY', 'GOOGLE_CLOUD_PROJECT'],
  ...['GOOGLE_APPLICATION_CREDENTIALS', 'GOOGLE_VERTEX_*', 'VERTEX_LOCATION', 'AWS_*', 'AZURE_*'],
  ...['GITHUB_TOKEN', 'OPENROUTER_API_KEY', 'GROQ_API_KEY', 'MISTRAL_API_KEY', 'DEEPSEEK_API_KEY'],
  ...['XAI_API_KEY', 'CEREBRAS_API_KEY', 'TOGETHER_API_KEY', 'MOONSHOT_API_KEY', 'ZHIPU_API_KEY'],
];

function outcome(end: AgentEnd): AgentOutcome {
  const { result } = end;
  const refusal = startFailure(end.stderrTail);
  const isKnown = refusal !== null && result?.ok === false && result.failure !== undefined;
  if (isKnown && isVague(result.failure)) return { ok: false, failure: refusal };
  return streamOutcome(end, refusal);
}
