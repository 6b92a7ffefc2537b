/**
 * Launchers: small shells from which scripts are started, because starting a process from a large
 * one is dear (co-shell.ts says why). What they start is a program like any other: its output comes
 * as it is written, and it can be halted and ended.
 *
 *   N1. A launcher has one program at a time. It is the leader of the group and of the session that
 *       its program is in; whatever signal but SIGKILL the group gets, the launcher stays.
 *   N2. Output goes through named pipes of the launcher's own, opened anew for each program, so
 *       that its end is seen. Where it is not (somebody who escaped us still holds a pipe), or the
 *       program had to be ended, the launcher is not used again.
 *   N3. Words reach the shell quoted; nothing in them is ever read as shell text. The program finds
 *       exactly the environment that it was given.
 *   N4. A launcher ends when its input is closed: it does not outlive us and its program.
 *   N5. Nothing depends on them: where there is none, or one cannot be used, the caller starts the
 *       program itself.
 *
 * What a shell can say of an end is a number. Above 128 it adds a word where a signal was the
 * reason (`Killed`), except for SIGINT and SIGPIPE: these count as exit codes.
 */

import { constants, openSync, rmSync, statSync } from 'node:fs';
import { Socket } from 'node:net';
import { constants as system } from 'node:os';
import { OperationalError } from '../base/errors.ts';
import type { Exit } from '../base/exit.ts';
import { quoted } from '../base/shell-word.ts';
import type { Running } from './running.ts';
import { scratchFolder } from './scratch.ts';
import { type Shell, TELL } from './shell.ts';
import { ShellPool } from './shell-pool.ts';
import type { Program } from './spawn.ts';
import { assignments, canHandOver, startShell, takePipes } from './starter.ts';
import { startIn } from './table.ts';
import { Family } from './tree.ts';

/** What launchers start: all other programs may be missing, and then a shell cannot say so. */
const SHELL = '/bin/sh';

/** Far from what the system refuses to take as arguments. */
const MOST_CHARACTERS = 60_000;

let launchers: Launchers | null = null;

/** From now on scripts are started by launchers. */
export function openLaunchers(run: string): void {
  if (process.platform === 'linux') launchers ??= new Launchers(scratchFolder(run));
}

/** Lets them go; scripts are started directly again. */
export async function closeLaunchers(): Promise<void> {
  const open = launchers;
  launchers = null;
  await open?.close();
}

/**
 * Says that a script will be started soon: what takes its time is done meanwhile. The answer is
 * called right before it is started, or when it will not be.
 */
export function expectScript(): () => void {
  return launchers?.expect() ?? (() => undefined);
}

/** Starts a script that needs no input; null where the caller has to do it. */
export async function launch(program: Program, mark: string | null): Promise<Running | null> {
  if (launchers === null || program.file !== SHELL) return null;
  if (!canHandOver(program.env)) return null;
  const words = [...program.args, ...Object.values(program.env), program.cwd].join(' ');
  if (words.includes('\0') || words.length > MOST_CHARACTERS) return null;
  if (statSync(program.cwd, { throwIfNoEntry: false })?.isDirectory() !== true) return null;
  return launchers.launch(program, mark);
}

class Launchers {
  readonly #pool: ShellPool<Launcher>;

  /** `dir` goes when they do. */
  constructor(dir: string) {
    this.#pool = new ShellPool(dir, makeLauncher);
  }

  expect(): () => void {
    return this.#pool.expect();
  }

  async launch(program: Program, mark: string | null): Promise<Running | null> {
    // Whatever is wrong, the caller meets it too, and can say what it is.
    const launcher = await this.#pool.take().catch(() => null);
    if (launcher === null) return null;
    const running = await launcher.begin(program, mark);
    if (running !== null) {
      return { ...running, over: (isClean) => this.#pool.give(launcher, isClean) };
    }
    await this.#pool.give(launcher, false);
    return null;
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }
}

/** The pipes of the starter, or else some of its own. */
async function makeLauncher(path: string): Promise<Launcher> {
  const shell = await startShell({});
  const given = takePipes();
  const launcher = new Launcher(shell, given ?? [`${path}.out`, `${path}.err`]);
  if (await launcher.prepare(given !== null)) return launcher;
  await launcher.close();
  throw new OperationalError('A shell could not make its pipes.');
}

type Begun = Omit<Running, 'over'>;

class Launcher {
  readonly #shell: Shell;
  readonly #pipes: readonly [string, string];

  constructor(shell: Shell, pipes: readonly [string, string]) {
    this.#shell = shell;
    this.#pipes = pipes;
  }

  get isOver(): boolean {
    return this.#shell.isOver;
  }

  /** What the shell has to say comes on one stream, in its order. */
  async prepare(hasPipes: boolean): Promise<boolean> {
    const stay = 'trap : HUP INT QUIT USR1 USR2 ALRM TERM'; // A script may signal its whole group.
    this.#shell.say(`exec 2>&1; ${stay}\n`);
    if (hasPipes) return true;
    this.#shell.say(`mkfifo -m 600 ${this.#pipes.map(quoted).join(' ')}; echo "=$?"\n`);
    return (await this.#shell.line()) === '=0';
  }

  async begin(program: Program, mark: string | null): Promise<Begun | null> {
    const streams = this.#open();
    if (streams === null) return null;
    const [stdout, stderr] = streams;
    this.#shell.say(this.#commandFor(program));
    const born = (await this.#shell.line()) ?? '';
    const pid = Number.parseInt(born, 10);
    if (!(pid > 0)) {
      for (const stream of streams) stream.destroy();
      return null;
    }
    const root = { pid, start: startIn(born), group: this.#shell.pid };
    return { family: new Family(root, mark), stdin: null, stdout, stderr, exit: this.#exit() };
  }

  async close(): Promise<void> {
    await this.#shell.close();
    for (const pipe of this.#pipes) rmSync(pipe, { force: true });
  }

  /** The ends that we read from; they must be open before somebody writes. */
  #open(): readonly [Socket, Socket] | null {
    const { O_RDONLY, O_NONBLOCK } = constants;
    const [out, err] = this.#pipes;
    const streams: Socket[] = [];
    try {
      for (const pipe of [out, err]) {
        streams.push(new Socket({ fd: openSync(pipe, O_RDONLY | O_NONBLOCK), readable: true }));
      }
      return [streams[0]!, streams[1]!];
    } catch {
      for (const stream of streams) stream.destroy(); // No handles are left, perhaps.
      return null;
    }
  }

  /**
   * First the process tells of itself, then it becomes the program: one that could not tell must
   * not run, because the caller starts it itself then. To open a pipe for writing alone
   * would wait for a reader, who may just have died; with 7 and 8 open as well it never waits.
   */
  #commandFor({ args, cwd, env }: Program): string {
    const [out, err] = this.#pipes.map(quoted);
    const redirect = `exec 7<>${out} 8<>${err} </dev/null >${out} 2>${err} 7>&- 8>&-`;
    const become = [...assignments(env), 'exec', SHELL, ...args.map(quoted)].join(' ');
    const enter = `cd -P ${quoted(cwd)} && unset OLDPWD PWD`;
    return `(${TELL} && ${redirect} && ${enter} && ${become}); echo "=$?"\n`;
  }

  async #exit(): Promise<Exit> {
    let isSignal = false;
    for (;;) {
      const line = await this.#shell.line();
      if (line === null) return { kind: 'signalled', signal: 'unknown' };
      if (line.startsWith('=')) return exitOf(Number(line.slice(1)), isSignal);
      isSignal = true;
    }
  }
}

function exitOf(code: number, isSignal: boolean): Exit {
  const names = Object.entries(system.signals).find(([, number]) => number === code - 128);
  if (isSignal && names !== undefined) return { kind: 'signalled', signal: names[0] };
  return { kind: 'exited', code };
}
