/**
 * Starts a child process as the leader of its own session and process group, or explains why it
 * could not be started. The only place that spawns.
 *
 * A background program outlives this process: neither the end of its process group nor a closed
 * terminal reaches it. Its input is a text, its output a file, and it carries no mark, so that
 * nothing that ends the children of a run ends it.
 */

import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { isSystemError, messageOf, OperationalError, otherwise } from '../base/errors.ts';
import type { Exit } from '../base/exit.ts';
import { MARK_VARIABLE } from './process-list.ts';

export interface Program {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Why a process never started. */
export type SpawnProblem =
  | 'no-program'
  | 'no-directory'
  | 'not-executable'
  | 'arguments-too-long'
  | 'no-resources'
  | 'other';

export const MORE_RESOURCES =
  'Raise the limits (`ulimit -n` for open files, `ulimit -u` for processes), or use fewer workers.';

export class SpawnError extends OperationalError {
  override readonly name = 'SpawnError';
  readonly problem: SpawnProblem;
  readonly file: string;

  constructor(program: Program, problem: SpawnProblem, cause: unknown) {
    const remedy = problem === 'no-resources' ? { remedy: MORE_RESOURCES } : {};
    super(describe(program, problem, cause), { cause, ...remedy });
    this.problem = problem;
    this.file = program.file;
  }
}

/** Its pid is known. */
export type StartedChild = ChildProcess & { readonly pid: number };

/**
 * Starts the program, `detached`: a signal to the group reaches its children, and it has no
 * terminal that it could ask for a password. A number is an open file for all that it prints.
 */
export async function start(
  program: Program,
  stdin: 'pipe' | 'ignore',
  output: 'pipe' | number = 'pipe',
): Promise<StartedChild> {
  const child = trySpawn(program, [stdin, output, output]);
  if (child instanceof Error) throw await spawnError(program, child);
  if (hasStarted(child)) {
    child.on('error', () => {}); // Later errors are about signals that came too late.
    return child;
  }
  const cause = await new Promise<unknown>((resolve) => child.once('error', resolve));
  throw await spawnError(program, cause);
}

/** Sends a signal to a process, or with a negative id to a group; false if not permitted. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    return !isSystemError(error, 'EPERM'); // ESRCH: already gone.
  }
}

/** From the arguments of a child's exit event. */
export function exitOf(code: number | null, killedBy: NodeJS.Signals | null): Exit {
  return code === null
    ? { kind: 'signalled', signal: killedBy ?? 'unknown' }
    : { kind: 'exited', code };
}

function trySpawn({ file, args, cwd, env }: Program, stdio: StdioOptions) {
  try {
    return spawn(file, args, { cwd, env, detached: true, stdio });
  } catch (error) {
    // E2BIG, ENOTDIR and a NUL in an argument are thrown, the others are emitted.
    return error instanceof Error ? error : new Error(String(error));
  }
}

function hasStarted(child: ChildProcess): child is StartedChild {
  return child.pid !== undefined;
}

async function spawnError(program: Program, cause: unknown): Promise<SpawnError> {
  // The system reports ENOENT for a missing directory, too.
  const directory = await stat(program.cwd).catch(otherwise(null));
  if (directory === null || !directory.isDirectory()) {
    return new SpawnError(program, 'no-directory', cause);
  }
  return new SpawnError(program, PROBLEMS[String(codeOf(cause))] ?? 'other', cause);
}

const PROBLEMS: Readonly<Record<string, SpawnProblem>> = {
  ENOENT: 'no-program',
  EACCES: 'not-executable',
  EPERM: 'not-executable',
  ENOEXEC: 'not-executable',
  E2BIG: 'arguments-too-long',
  EAGAIN: 'no-resources',
  EMFILE: 'no-resources',
  ENFILE: 'no-resources',
  ENOMEM: 'no-resources',
};

function describe({ file, cwd }: Program, problem: SpawnProblem, cause: unknown): string {
  switch (problem) {
    case 'no-program':
      return file.includes('/')
        ? `cannot start ${file}: no such file, or its interpreter is missing`
        : `cannot start ${file}: not found in PATH`;
    case 'no-directory':
      return `cannot start ${file}: the directory ${cwd} does not exist`;
    case 'not-executable':
      return `cannot start ${file}: permission denied, is it executable?`;
    case 'arguments-too-long':
      return `cannot start ${file}: its arguments and environment are too long`;
    case 'no-resources':
      return `cannot start ${file}: too many processes or open files (${codeOf(cause)})`;
    case 'other':
      return `cannot start ${file}: ${messageOf(cause)}`;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

export interface Background {
  readonly pid: number;
  /** Settles only while this process lives. */
  readonly ended: Promise<Exit>;
  stop(): void;
  /** Lets this process end first. */
  leave(): void;
}

/** Starts a background program. `log` is an open file. */
export async function startInBackground(
  program: Program,
  { input, log }: { readonly input: string; readonly log: number },
): Promise<Background> {
  const { [MARK_VARIABLE]: _, ...env } = program.env;
  const child = await start({ ...program, env }, 'pipe', log);
  const ended = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => resolve(exitOf(code, signal)));
  });
  child.stdin?.on('error', () => {}); // It may end without reading; its exit tells.
  child.stdin?.end(input);
  return {
    pid: child.pid,
    ended,
    stop: () => void sendSignal(child.pid, 'SIGTERM'),
    leave: () => child.unref(),
  };
}
