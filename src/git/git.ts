/**
 * Runs the git program. Every git command goes through here or through long-lived.ts.
 *
 * Callers name the exit codes that are results; everything else is thrown as a GitError, and an
 * aborted signal as its reason. No command can prompt (environment.ts), and each has a time limit.
 * A lock of another process is waited for; a lost compare-and-swap of a ref also says `cannot lock
 * ref`, but is never retried. Automatic maintenance is off: it races with commits. Settings travel
 * on the command line; the shared configuration is never written.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { OperationalError, otherwise } from '../base/errors.ts';
import { environment, PerRuntime } from '../base/runtime.ts';
import { type Captured, capture, TimeLimitError } from '../process/capture.ts';
import { scratchFolder } from '../process/scratch.ts';
import { ShellPool } from '../process/shell-pool.ts';
import { BATCH_SSH, choosesSsh, DURABLE, gitEnvironment } from './environment.ts';
import { sparseSettings } from './sparse.ts';

/** The full id of a commit, tree or blob. */
export type Sha = string;

export interface GitResult {
  /** -1 if a signal ended it. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface GitOptions {
  /** Exit codes that are results; default: only 0. */
  readonly okCodes?: readonly number[];
  readonly stdin?: string;
  /** Settings for this command only, `-c name=value`. */
  readonly config?: Readonly<Record<string, string>>;
  /** Added to the environment. */
  readonly env?: NodeJS.ProcessEnv;
  readonly limitMs?: number;
}

/** For commands that run hooks or fill a large working tree. */
export const LONG_LIMIT_MS = 10 * 60_000;

const LIMIT_MS = 60_000;
const LOCK_WAITS_MS = [25, 50, 100, 200, 400, 800, 1_600];

const SETTINGS = [
  ['-c', DURABLE],
  ['-c', 'gc.auto=0'],
  ['-c', 'maintenance.auto=false'],
  ['-c', 'core.quotePath=false'],
  ['-c', 'core.filesRefLockTimeout=1000'], // git's own patience with a locked ref is 100 ms.
].flat();

/** Commands that may use ssh. */
const REMOTE_COMMAND = /^(?:clone|fetch|ls-remote|pull|push|submodule)$/;

/** The exit code that a shell reports for a program that SIGKILL ended. */
const KILLED_CODE = 128 + 9;
const WHO_KILLED =
  'It was killed, perhaps by the system because memory ran out. Try again, or resume the run.';

export class GitError extends OperationalError {
  override readonly name = 'GitError';
  readonly args: readonly string[];
  readonly result: GitResult;

  constructor(args: readonly string[], result: GitResult) {
    const killed = result.code === KILLED_CODE || result.code === -1;
    super(
      `git ${commandIn(args)} failed with ${result.code}: ${textOf(result)}`,
      killed ? { remedy: WHO_KILLED } : {},
    );
    this.args = args;
    this.result = result;
  }
}

/** The name of the command, after options of git itself. */
function commandIn(args: readonly string[]): string {
  return args.find((arg) => !arg.startsWith('-')) ?? '';
}

export class GitTimeoutError extends OperationalError {
  override readonly name = 'GitTimeoutError';

  constructor(args: readonly string[], limitMs: number, stderr: string) {
    const said = stderr.trim() === '' ? '' : `; it said: ${stderr.trim()}`;
    super(`git ${commandIn(args)} took longer than ${limitMs / 1000} s and was stopped${said}`);
  }
}

/** The small shells that start git for a run (process/shell-pool.ts). */
const shells = new PerRuntime<ShellPool | null>(
  ({ env, run }) => (run === null ? null : new ShellPool(gitEnvironment(env), scratchFolder(run))),
  async (pool) => pool?.close(),
);

/**
 * Runs a small system program that may be run twice: by a shell where there are any, and directly
 * where that fails. The shells of an engine that slept while another one finished its run have lost
 * their files.
 */
export async function runTool(
  file: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<Captured> {
  const command = { file, args, cwd: '/', stdin: '' };
  const tried = await shells.current
    ?.capture({ ...command, env: {} }, signal)
    .catch(otherwise(undefined));
  if (tried?.exit.kind === 'aborted') return tried;
  if (tried?.exit.kind === 'exited' && tried.exit.code === 0) return tried;
  return capture({ ...command, env: environment() }, signal);
}

export async function git(
  dir: string,
  args: readonly string[],
  signal: AbortSignal,
  options: GitOptions = {},
): Promise<GitResult> {
  for (const waitMs of LOCK_WAITS_MS) {
    const result = await runOnce(dir, args, signal, options);
    if (!isLocked(result)) return accepted(args, result, options);
    await sleep(waitMs * (0.5 + Math.random()), undefined, { signal }).catch(otherwise(undefined));
  }
  return accepted(args, await runOnce(dir, args, signal, options), options);
}

/** The message of a failure: standard error, or else the output. */
export function textOf({ stdout, stderr }: GitResult): string {
  return stderr.trim() === '' ? stdout.trim() : stderr.trim();
}

/** The fields of a NUL-terminated list. */
export function splitNul(text: string): readonly string[] {
  return text === '' ? [] : text.replace(/\0$/, '').split('\0');
}

/** A NUL-terminated list. */
export function joinNul(fields: readonly string[]): string {
  return fields.map((field) => `${field}\0`).join('');
}

/** Whether another process held a lock for a moment, or was halfway through changing a worktree. */
export function isLocked({ code, stderr }: GitResult): boolean {
  if (code === 0 || code === 1) return false;
  if (/Unable to create '.*\.lock': File exists/is.test(stderr)) return true;
  if (/could not lock|failed to read .*commondir/i.test(stderr)) return true;
  if (/could not create directory of '.*worktrees\/.*': No such file/.test(stderr)) return true;
  return (
    /cannot lock ref/.test(stderr) &&
    !/but expected|unable to resolve|already exists|cannot create/.test(stderr)
  );
}

async function runOnce(
  dir: string,
  args: readonly string[],
  signal: AbortSignal,
  options: GitOptions,
): Promise<GitResult> {
  const { limitMs = LIMIT_MS, config = {}, stdin = '' } = options;
  const settings = Object.entries(config).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const added = { ...(await sshFor(dir, args, signal)), ...options.env };
  const command = {
    file: 'git',
    args: [...SETTINGS, ...sparseSettings(dir), ...settings, ...args],
    cwd: dir,
    stdin,
    limitMs,
  };
  const pool = shells.current;
  const { exit, stdout, stderr } = await (pool === null
    ? capture({ ...command, env: gitEnvironment(environment(), added) }, signal)
    : pool.capture({ ...command, env: added }, signal));
  switch (exit.kind) {
    case 'exited':
      return { code: exit.code, stdout, stderr };
    case 'signalled':
      return { code: -1, stdout, stderr: `${stderr}\nended by ${exit.signal}` };
    case 'aborted':
      if (!(exit.reason instanceof TimeLimitError)) throw exit.reason;
      throw new GitTimeoutError(args, limitMs, stderr);
  }
}

function accepted(args: readonly string[], result: GitResult, options: GitOptions): GitResult {
  if ((options.okCodes ?? [0]).includes(result.code)) return result;
  throw new GitError(args, result);
}

/** The variable would override core.sshCommand, so it is set only where that is not. */
async function sshFor(
  dir: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<NodeJS.ProcessEnv> {
  if (!REMOTE_COMMAND.test(args[0] ?? '') || choosesSsh(environment())) return {};
  const { stdout } = await runOnce(dir, ['config', '--get', 'core.sshCommand'], signal, {});
  return stdout === '' ? BATCH_SSH : {};
}
