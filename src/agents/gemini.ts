/**
 * Gemini CLI, driven headless: one process per attempt, the prompt on standard input, a stream of
 * JSON lines on standard output (gemini/stream.ts), its retries on standard error only.
 *
 *   G1. The prompt is never an argument, and never changed: where it names an existing `@path`, the
 *       CLI adds that file, as its users know it.
 *   G2. The session id is ours from the start, so an attempt that dies at once can be resumed. A
 *       session belongs to its folder, and an attempt's workspace stays where it is.
 *   G3. The CLI does not restart itself, so a signal reaches the process that does the work.
 *   G4. Where a `result` does not name its error, the exit code does: the HTTP status modulo 256.
 *
 * The CLI has no roles, forks, budgets and schemas; MCP servers and a turn limit can only be set in
 * files that belong to root, the user or the repository.
 */

import type { Permissions } from '../model/plan.ts';
import type { AgentEnd, AgentOutcome, CommandLine, Job } from './agent.ts';
import { type Agent, NO_ABILITIES } from './agent.ts';
import { allowing, type ToolNames } from './denial.ts';
import { kindOfExit, startFailure } from './gemini/failure.ts';
import { guardRules, SHELL, taskRules, WRITING_TOOLS } from './gemini/policy.ts';
import { StreamParser } from './gemini/stream.ts';
import { streamOutcome } from './outcome.ts';

export const gemini: Agent = {
  name: 'gemini',
  can: {
    ...NO_ABILITIES,
    resume: true,
    prose: true,
    model: true,
    permissions: ['default', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions'],
    toolRules: true,
    commands: true,
    dirs: true,
  },
  program: {
    file: 'gemini',
    versionArgs: ['--version'],
    install: 'npm install -g @google/gemini-cli',
    keeps: ['~/.gemini', '~/.cache'],
    login: null,
    sessions: {
      kind: 'files',
      places: ['$GEMINI_CLI_HOME/.gemini/tmp', '~/.gemini/tmp'],
      // The name holds only the beginning of the id.
      isFileOf: (session, path) =>
        path.includes('/chats/session-') && path.endsWith(`-${session.slice(0, 8)}.jsonl`),
    },
  },
  command,
  parser: (job) => new StreamParser(job),
  allow: (job, call) => allowing(job, call, TOOLS),
  outcome,
};

const TOOLS: ToolNames = { shell: SHELL, edits: WRITING_TOOLS, rules: true };

function command(job: Job): CommandLine {
  const args = ['--output-format', 'stream-json'];
  if (job.resume === null) args.push('--session-id', job.newSession);
  else args.push('--resume', job.resume);
  args.push('--approval-mode', APPROVAL_MODES[approval(job)], ...POLICY_ARGS);
  if (job.model !== null) args.push(`--model=${job.model}`);
  args.push(...job.options.dirs.map((dir) => `--include-directories=${dir}`));
  return {
    file: job.executable ?? 'gemini',
    args,
    stdin: job.prompt,
    env: {
      GEMINI_CLI_NO_RELAUNCH: 'true',
      // The workspace is of the user's own repository. Untrusted, the CLI refuses to start.
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    },
    inherit: INHERIT,
    files: { 'guard.toml': guardRules(job), 'task.toml': taskRules(job) },
  };
}

/** A read task gets no permission to write, and no prompt; planning is stricter still. */
function approval({ permissions, readOnly }: Job): Permissions {
  return readOnly && permissions !== 'plan' ? 'dontAsk' : permissions;
}

/**
 * Headless, the CLI refuses whatever it would have to ask for, so its `default` is both our
 * `default` and `dontAsk`: it reads, searches, and runs what a rule allows. `auto_edit` adds writing
 * files in the workspace and fetching pages. `plan` reads only; the guard (gemini/policy.ts) keeps
 * the model in it. `yolo` allows everything.
 */
const APPROVAL_MODES: Readonly<Record<Permissions, string>> = {
  default: 'default',
  dontAsk: 'default',
  acceptEdits: 'auto_edit',
  plan: 'plan',
  bypassPermissions: 'yolo',
  auto: 'default', // Not among our abilities: no plan comes here with it.
};

/**
 * Ours outrank the user's rules as an administrator's. A machine with rules for all users ignores
 * that flag: there they count as the user's, whose own folder must then be named, too.
 */
const POLICY_ARGS: readonly string[] = ['admin-policy', 'policy']
  .flatMap((flag) => [`--${flag}={temp}/guard.toml`, `--${flag}={temp}/task.toml`])
  .concat('--policy=~/.gemini/policies');

/**
 * What the CLI needs to find its account, model and network. What a session around us has set for
 * itself (GEMINI_CLI, GEMINI_CLI_IDE_*, SANDBOX …) stays out.
 */
const INHERIT: readonly string[] = [
  ...['GEMINI_API_KEY', 'GEMINI_API_KEY_AUTH_MECHANISM', 'GEMINI_DEFAULT_AUTH_TYPE', 'GOOGLE_*'],
  ...['GEMINI_CLI_HOME', 'GEMINI_CLI_CUSTOM_HEADERS', 'GEMINI_CLI_USE_COMPUTE_ADC', 'CLOUD_SHELL'],
  ...['GEMINI_CLI_SYSTEM_SETTINGS_PATH', 'GEMINI_CLI_SYSTEM_DEFAULTS_PATH'],
  ...['GEMINI_MODEL', 'GEMINI_TELEMETRY_*', 'NO_BROWSER'],
];

function outcome(end: AgentEnd): AgentOutcome {
  const { exit, result, stderrTail } = end;
  const code = exit.kind === 'exited' ? exit.code : 0;
  // An error without a name counts as transient; the exit code may know better.
  const isVague = result?.failure?.kind === 'transient' && code !== 0;
  const kind = isVague ? kindOfExit(code, stderrTail) : null;
  if (kind === null || !result?.failure) return streamOutcome(end, startFailure(code, stderrTail));
  return { ok: false, failure: { kind, message: result.failure.message } };
}
