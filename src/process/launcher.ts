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
import { join } from 'node:path';
import type { Exit } from '../base/exit.ts';
import { quoted } from '../base/shell-word.ts';
import type { Running } from './running.ts';
import { scratchFolder } from './scratch.ts';
import { type Program, type StartedChild, start } from './spawn.ts';
import { startIn } from './table.ts';
import { Family } from './tree.ts';

/** What launchers start: all other programs may be missing, and then a shell cannot say so. */
const SHELL = '/bin/sh';

/** Far from what the system refuses to take as arguments. */
const MOST_CHARACTERS = 60_000;

/** Names that mean something to the shell itself, or that it does not let anybody change. */
const ITS_OWN = /^(?:IFS|OPTIND|OPTARG|PPID|UID|EUID|PS[0-9]|ENV|BASH.*|SHELLOPTS)$/;

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

/** Starts a script that needs no input; null where the caller has to do it. */
export async function launch(program: Program, mark: string | null): Promise<Running | null> {
  if (launchers === null || program.file !== SHELL) return null;
  const names = Object.keys(program.env);
  if (!names.every((name) => /^[A-Za-z_]\w*$/.test(name) && !ITS_OWN.test(name))) return null;
  const words = [...program.args, ...Object.values(program.env), program.cwd].join(' ');
  if (words.includes('\0') || words.length > MOST_CHARACTERS) return null;
  if (statSync(program.cwd, { throwIfNoEntry: false })?.isDirectory() !== true) return null;
  return launchers.launch(program, mark);
}

class Launchers {
  readonly #dir: string;
  readonly #idle: Launcher[] = [];
  #made = 0;
  #busy = 0;
  #isClosed = false;

  /** `dir` goes when they do. */
  constructor(dir: string) {
    this.#dir = dir;
  }

  async launch(program: Program, mark: string | null): Promise<Running | null> {
    this.#busy += 1;
    const launcher = this.#takeIdle() ?? (await this.#start());
    const running = (await launcher?.begin(program, mark)) ?? null;
    if (launcher === null || running === null) {
      await this.#over(launcher, false);
      return null;
    }
    return { ...running, over: (isClean) => this.#over(launcher, isClean) };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#idle.splice(0).map((launcher) => launcher.close()));
    if (this.#busy === 0) rmSync(this.#dir, { recursive: true, force: true });
  }

  async #over(launcher: Launcher | null, isClean: boolean): Promise<void> {
    this.#busy -= 1;
    if (isClean && launcher?.isOver === false) this.#idle.push(launcher);
    else await launcher?.close();
    if (this.#isClosed) await this.close();
  }

  /** One that is still there: somebody may have ended it. */
  #takeIdle(): Launcher | null {
    let launcher = this.#idle.pop();
    while (launcher?.isOver) launcher = this.#idle.pop();
    return launcher ?? null;
  }

  async #start(): Promise<Launcher | null> {
    this.#made += 1;
    const path = join(this.#dir, String(this.#made)); // Before the wait: others start meanwhile.
    try {
      const shell = { file: SHELL, args: ['-s'], cwd: '/', env: {} };
      const launcher = new Launcher(await start(shell, 'pipe'), path);
      if (await launcher.prepare()) return launcher;
      await launcher.close();
    } catch {
      // Whatever is wrong, the caller meets it too, and can say what it is.
    }
    return null;
  }
}

type Begun = Omit<Running, 'over'>;

class Launcher {
  readonly #child: StartedChild;
  readonly #pipes: readonly [string, string];
  readonly #ended: Promise<void>;
  readonly #lines: string[] = [];
  #text = '';
  #wake: (() => void) | null = null;
  isOver = false;

  constructor(child: StartedChild, path: string) {
    this.#child = child;
    this.#pipes = [`${path}.out`, `${path}.err`];
    child.stdin?.on('error', () => {});
    child.stderr?.resume();
    child.stdout?.setEncoding('utf8').on('data', (text: string) => this.#hear(text));
    this.#ended = new Promise((resolve) => {
      child.once('exit', () => {
        this.isOver = true;
        this.#wake?.();
        resolve();
      });
    });
  }

  /** Makes its pipes. What the shell has to say comes on one stream, in its order. */
  async prepare(): Promise<boolean> {
    const [out, err] = this.#pipes.map(quoted);
    const stay = 'trap : HUP INT QUIT USR1 USR2 ALRM TERM'; // A script may signal its whole group.
    this.#child.stdin?.write(`exec 2>&1; ${stay}; mkfifo -m 600 ${out} ${err}; echo "=$?"\n`);
    return (await this.#line()) === '=0';
  }

  async begin(program: Program, mark: string | null): Promise<Begun | null> {
    const streams = this.#open();
    if (streams === null) return null;
    const [stdout, stderr] = streams;
    this.#child.stdin?.write(this.#commandFor(program));
    const born = (await this.#line()) ?? '';
    const pid = Number.parseInt(born, 10);
    if (!(pid > 0)) {
      for (const stream of streams) stream.destroy();
      return null;
    }
    const root = { pid, start: startIn(born), group: this.#child.pid };
    return { family: new Family(root, mark), stdin: null, stdout, stderr, exit: this.#exit() };
  }

  async close(): Promise<void> {
    this.#child.stdin?.end();
    await this.#ended;
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
    const set = Object.entries(env).map(([name, value]) => `${name}=${quoted(value ?? '')}`);
    const tell = 'read -r stat </proc/self/stat && echo "$stat"';
    const redirect = `exec 7<>${out} 8<>${err} </dev/null >${out} 2>${err} 7>&- 8>&-`;
    const become = [...set, 'exec', SHELL, ...args.map(quoted)].join(' ');
    const enter = `cd -P ${quoted(cwd)} && unset OLDPWD PWD`;
    return `(${tell} && ${redirect} && ${enter} && ${become}); echo "=$?"\n`;
  }

  async #exit(): Promise<Exit> {
    let isSignal = false;
    for (;;) {
      const line = await this.#line();
      if (line === null) return { kind: 'signalled', signal: 'unknown' };
      if (line.startsWith('=')) return exitOf(Number(line.slice(1)), isSignal);
      isSignal = true;
    }
  }

  /** What the shell says next; null where it is gone. */
  async #line(): Promise<string | null> {
    while (this.#lines.length === 0 && !this.isOver) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#lines.shift() ?? null;
  }

  #hear(text: string): void {
    const lines = (this.#text + text).split('\n');
    this.#text = lines.pop() ?? '';
    this.#lines.push(...lines);
    if (lines.length > 0) this.#wake?.();
  }
}

function exitOf(code: number, isSignal: boolean): Exit {
  const names = Object.entries(system.signals).find(([, number]) => number === code - 128);
  if (isSignal && names !== undefined) return { kind: 'signalled', signal: names[0] };
  return { kind: 'exited', code };
}
