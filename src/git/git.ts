/**
 * git: the one door to the git program.
 *
 *   G1. Callers name the exit codes that are answers; everything else is thrown as a GitError.
 *   G2. Nothing hangs: no command can ask a person (environment.ts) and each has a time limit.
 *   G3. A lock that somebody else holds is waited for, in growing steps and not for ever. A lost
 *       compare-and-swap of a ref also says `cannot lock ref`, but is an answer and never retried.
 *   G4. No automatic maintenance: it races with commits. The shared configuration is never
 *       written; settings travel on the command line.
 *
 * An aborted signal is thrown as its reason.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { OperationalError } from '../base/errors.ts';
import { type Captured, capture, TimeLimitError } from '../process/capture.ts';
import { scratchFolder } from '../process/scratch.ts';
import { ShellPool } from '../process/shell-pool.ts';
import { BATCH_SSH, choosesSsh, DURABLE, gitEnvironment } from './environment.ts';
import { sparseSettings } from './sparse.ts';

/** The id of a commit, tree or blob, in full. */
export type Sha = string;

/** What git answered. */
export interface GitResult {
  /** -1 if a signal ended it. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface GitOptions {
  /** Exit codes that are answers; default: only 0. */
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
const REMOTE_COMMANDS = new Set(['clone', 'fetch', 'ls-remote', 'pull', 'push', 'submodule']);

/** What a shell answers for a program that SIGKILL has ended. */
const KILLED_CODE = 128 + 9;
const WHO_KILLED =
  'Somebody ended it; the system does when memory runs out. Try again, or resume the run.';

/** git failed in a way its caller has no meaning for. */
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

/** The name of the command, behind options of git itself. */
function commandIn(args: readonly string[]): string {
  return args.find((arg) => !arg.startsWith('-')) ?? '';
}

/** git did not end within its time limit, and was stopped. */
export class GitTimeoutError extends OperationalError {
  override readonly name = 'GitTimeoutError';
  readonly args: readonly string[];

  constructor(args: readonly string[], limitMs: number, stderr: string) {
    const said = stderr.trim() === '' ? '' : `; it said: ${stderr.trim()}`;
    super(`git ${commandIn(args)} took longer than ${limitMs / 1000} s and was stopped${said}`);
    this.args = args;
  }
}

let shells: ShellPool | null = null;

/** From now on git is started by small shells (process/shell-pool.ts): a run needs it often. */
export function openGitShells(run: string): void {
  shells ??= new ShellPool(gitEnvironment(process.env, {}), scratchFolder(run));
}

/**
 * Runs a small program of the system that may be run twice: by such a shell where they are open,
 * and directly where that did not succeed. The shells of an engine that slept while another one
 * finished its run have lost their files.
 */
export async function runTool(
  file: string,
  args: readonly string[],
  signal: AbortSignal,
  cwd = '/',
): Promise<Captured> {
  const command = { file, args, cwd, stdin: '' };
  const tried = await shells?.capture({ ...command, env: {} }, signal).catch(() => undefined);
  if (tried?.exit.kind === 'aborted') return tried;
  if (tried?.exit.kind === 'exited' && tried.exit.code === 0) return tried;
  return capture({ ...command, env: process.env }, signal);
}

/** Lets the shells go; git is started directly again. */
export async function closeGitShells(): Promise<void> {
  const open = shells;
  shells = null;
  await open?.close();
}

/** Runs git in a directory. */
export async function git(
  dir: string,
  args: readonly string[],
  signal: AbortSignal,
  options: GitOptions = {},
): Promise<GitResult> {
  for (const waitMs of LOCK_WAITS_MS) {
    const result = await runOnce(dir, args, signal, options);
    if (!isLocked(result)) return accepted(args, result, options);
    await sleep(waitMs * (0.5 + Math.random()), undefined, { signal }).catch(() => {});
  }
  return accepted(args, await runOnce(dir, args, signal, options), options);
}

/** What git had to say about a failure: its errors, or else its output. */
export function textOf({ stdout, stderr }: GitResult): string {
  return stderr.trim() === '' ? stdout.trim() : stderr.trim();
}

/** The fields of a NUL-terminated list. */
export function splitNul(text: string): readonly string[] {
  return text === '' ? [] : text.replace(/\0$/, '').split('\0');
}

/** Whether git failed only because somebody else holds a lock for a moment. */
export function isLocked({ code, stderr }: GitResult): boolean {
  if (code === 0 || code === 1) return false;
  if (/Unable to create '.*\.lock': File exists/is.test(stderr)) return true;
  if (/could not lock|failed to read .*commondir/i.test(stderr)) return true;
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
  const limitMs = options.limitMs ?? LIMIT_MS;
  const added = { ...(await sshFor(dir, args, signal)), ...options.env };
  const command = {
    file: 'git',
    args: [...SETTINGS, ...sparseSettings(dir), ...settingsOf(options), ...args],
    cwd: dir,
    stdin: options.stdin ?? '',
    limitMs,
  };
  const { exit, stdout, stderr } = await (shells === null
    ? capture({ ...command, env: gitEnvironment(process.env, added) }, signal)
    : shells.capture({ ...command, env: added }, signal));
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

function settingsOf({ config = {} }: GitOptions): readonly string[] {
  return Object.entries(config).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

function accepted(args: readonly string[], result: GitResult, options: GitOptions): GitResult {
  if ((options.okCodes ?? [0]).includes(result.code)) return result;
  throw new GitError(args, result);
}

/** The variable would hide core.sshCommand, so it is set only where that is not. */
async function sshFor(
  dir: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<NodeJS.ProcessEnv> {
  if (!REMOTE_COMMANDS.has(args[0] ?? '') || choosesSsh(process.env)) return {};
  const query = ['config', '--get', 'core.sshCommand'];
  const { stdout } = await runOnce(dir, query, signal, {});
  return stdout === '' ? BATCH_SSH : {};
}
