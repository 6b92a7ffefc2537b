/**
 * The starter: one small shell which starts the other shells on our behalf (co-shell.ts,
 * launcher.ts). To wake one of them takes us a tenth of a millisecond; to start a process ourselves
 * takes several, the more the larger we have become, and our event loop waits meanwhile.
 *
 * It makes a batch of named pipes, and then a pipeline of processes that wait, each for a line on
 * its own pipe. Who gets the line becomes a shell. The last of a batch makes the next. A pipeline,
 * not `&`: what a shell starts in the background ignores SIGINT, and it cannot undo that.
 *
 *   T1. A shell is as one of our own children: leader of its own session and group, ignoring no
 *       signal, with exactly the environment it was given, and with no other file open. It tells
 *       of itself before it is used, and is used only where it is a leader.
 *   T2. It ends when its input is closed, and so do those that wait. Only we hold that end, and
 *       they never wait for somebody to open a pipe: none stays, whenever we are killed.
 *   T3. The end of its answers is its end. Its maker waits for it, so that no zombie stays.
 *   T4. Nothing depends on the starter: where it cannot do it, we start the shell ourselves.
 *   T5. Words reach it quoted; nothing in them is ever read as shell text.
 */

import { closeSync, constants, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pause } from '../base/pause.ts';
import { quoted } from '../base/shell-word.ts';
import { discard, scratchFolder } from './scratch.ts';
import { endsOf, Shell } from './shell.ts';
import { codeOf, start } from './spawn.ts';

const SHELL = '/bin/sh';
const SETSID = '/usr/bin/setsid';
const { O_RDONLY, O_RDWR, O_NONBLOCK } = constants;

/** Processes of a batch, and how few are left when the next is made. */
const BATCH = 8;
const FEW = 3;

/** Shells that are there before somebody needs them. */
const SPARE = 3;

/** The makers of all batches stay; what comes after so many is started directly. */
const MOST_BATCHES = 32;

/** A starter that takes longer is not asked again. */
const PATIENCE_MS = 5_000;
const GONE_MS = 1_000;
const POLL_MS = 1;

/** Names that mean something to the shell itself, or that it does not let anybody change. */
const ITS_OWN = /^(?:IFS|OPTIND|OPTARG|PPID|UID|EUID|PS[0-9]|ENV|BASH.*|SHELLOPTS)$/;

/** The names of two pipes. */
type Pair = readonly [string, string];

let starter: Starter | null = null;

/** From now on shells are started by the starter. */
export function openStarter(run: string): void {
  if (process.platform === 'linux') starter ??= new Starter(scratchFolder(run));
}

/** Lets it go; shells are started directly again. Those that it has started stay. */
export async function closeStarter(): Promise<void> {
  const open = starter;
  starter = null;
  await open?.close();
}

/** Starts a shell that waits for commands, in the root folder. */
export async function startShell(env: NodeJS.ProcessEnv): Promise<Shell> {
  const shell = canHandOver(env) ? await starter?.start() : null;
  if (shell) {
    const set = assignments(env);
    if (set.length > 0) shell.say(`export ${set.join(' ')}\n`);
    return shell;
  }
  return new Shell(endsOf(await start({ file: SHELL, args: ['-s'], cwd: '/', env }, 'pipe')));
}

/** New named pipes for whoever starts programs; null where they have to be made otherwise. */
export function takePipes(): Pair | null {
  return starter?.takePipes() ?? null;
}

/** Whether a shell can give a program exactly this environment. */
export function canHandOver(env: NodeJS.ProcessEnv): boolean {
  return Object.keys(env).every((name) => /^[A-Za-z_]\w*$/.test(name) && !ITS_OWN.test(name));
}

/** An environment as the words that set it. */
export function assignments(env: NodeJS.ProcessEnv): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${quoted(value)}`],
  );
}

/** A process that waits to become a shell. */
interface Waiting {
  readonly pipes: Pair;
  /** Our end of its input. */
  readonly input: number;
  readonly maker: Shell;
}

class Starter {
  readonly #dir: string;
  readonly #makers: Shell[] = [];
  readonly #waiting: Waiting[] = [];
  readonly #spare: Promise<Shell | null>[] = [];
  readonly #pipes: Pair[] = [];
  #coming: Promise<void> | null = null;
  #made = 0;
  #living = 0;
  #isUnfit = false;

  /** `dir` goes when it does. */
  constructor(dir: string) {
    this.#dir = dir;
    const first = start({ file: SHELL, args: ['-s'], cwd: '/', env: {} }, 'pipe');
    this.#more(first.then((child) => new Shell(endsOf(child))));
    this.#spare.push(this.#begin().catch(() => null));
  }

  /** Null where it cannot, and then it is not asked again. That no handles are left is thrown. */
  async start(): Promise<Shell | null> {
    let shell = await this.#spare.shift();
    while (shell?.isOver) shell = await this.#spare.shift(); // Somebody has ended it.
    try {
      shell ??= await this.#begin();
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
      this.#giveUp(); // An engine that went on with the run has swept the pipes.
    }
    if (!shell) return null;
    while (this.#spare.length < SPARE) this.#spare.push(this.#begin().catch(() => null));
    this.#living += 1;
    void shell.gone.then(() => {
      this.#living -= 1;
    });
    return shell;
  }

  takePipes(): Pair | null {
    return this.#pipes.pop() ?? null;
  }

  /** Shells that are still at work are not waited for. */
  async close(): Promise<void> {
    this.#giveUp();
    await this.#coming;
    const spare = await Promise.all(this.#spare.splice(0));
    const closed = [...spare, ...this.#makers].map((shell) => shell?.close());
    const gone = Promise.all(closed).then(() => discard(this.#dir));
    if (this.#living === 0) await inTime(gone);
  }

  /** Those that wait are let go. */
  #giveUp(): void {
    this.#isUnfit = true;
    for (const { input } of this.#waiting.splice(0)) closeSync(input);
  }

  async #begin(): Promise<Shell | null> {
    while (this.#waiting.length === 0 && this.#coming !== null) await this.#coming;
    const next = this.#waiting.shift();
    if (next === undefined) return null;
    const shell = this.#wake(next, `${SETSID} ${SHELL} -s`);
    if (this.#waiting.length <= FEW && this.#coming === null) {
      const last = this.#waiting.pop(); // It makes the next batch, ahead of need.
      if (last !== undefined) this.#more(this.#maker(last));
    }
    const isMet = await inTime(shell.meet(), next.maker);
    for (const pipe of next.pipes) rmSync(pipe, { force: true });
    if (isMet) return shell;
    this.#giveUp();
    shell.drop();
    return null;
  }

  async #maker(waiting: Waiting): Promise<Shell> {
    return this.#wake(waiting, `${SHELL} -s`);
  }

  #more(maker: Promise<Shell>): void {
    this.#coming = maker
      .then((shell) => this.#fill(shell))
      .catch(() => this.#giveUp())
      .finally(() => {
        this.#coming = null;
      });
  }

  /** Lets a shell make pipes, and those that wait at them; half of the pipes are for others. */
  async #fill(maker: Shell): Promise<void> {
    this.#makers.push(maker);
    const pairs = Array.from({ length: 2 * BATCH }, () => this.#newPair());
    maker.say(`mkfifo -m 600 ${pairs.flat().map(quoted).join(' ')}; echo "=$?"\n`);
    const made = await inTime(maker.line(), maker);
    if (made !== '=0' || this.#isUnfit || this.#makers.length > MOST_BATCHES) {
      maker.drop();
      return this.#giveUp();
    }
    const theirs = pairs.splice(0, BATCH);
    for (const pipes of theirs) {
      const input = openSync(pipes[0], O_RDWR | O_NONBLOCK); // For both: nobody reads there yet.
      this.#waiting.push({ pipes, input, maker });
    }
    maker.say(`${theirs.map(waitFor).join(' | ')}\n`);
    this.#pipes.push(...pairs);
  }

  /** One that waits becomes something else. */
  #wake(waiting: Waiting, what: string): Shell {
    let fd: number;
    try {
      fd = openSync(waiting.pipes[1], O_RDONLY | O_NONBLOCK); // Before somebody writes to it.
    } catch (error) {
      this.#waiting.push(waiting); // It may be needed when there are handles again.
      throw error;
    }
    const output = new Socket({ fd, readable: true, writable: false });
    const input = new Socket({ fd: waiting.input, readable: false, writable: true });
    const over = async (tell: () => void): Promise<void> => {
      await new Promise((resolve) => output.once('close', resolve));
      tell();
      const deadline = performance.now() + GONE_MS;
      while (shell.isThere() && performance.now() < deadline) await sleep(POLL_MS);
    };
    const shell: Shell = new Shell({ pid: null, input, output, over });
    shell.say(`${what}\n`);
    return shell;
  }

  #newPair(): Pair {
    this.#made += 1;
    const path = join(this.#dir, String(this.#made));
    return [`${path}.in`, `${path}.out`];
  }
}

/**
 * A process that waits for a line, and becomes what that says. To open a pipe for one direction
 * alone would wait for the other side, which may just have died; with 7 and 8 open it never waits.
 */
function waitFor([commands, answers]: Pair): string {
  const [from, to] = [quoted(commands), quoted(answers)];
  const listen = `exec 7<>${from} <${from} 7>&-`;
  const speak = `exec 8<>${to} >${to} 2>/dev/null 8>&-`;
  return `{ ${listen} && read -r what && ${speak} && exec $what; }`;
}

/** What comes in time, and while the maker is there; else null. */
async function inTime<T>(work: Promise<T>, maker?: Shell): Promise<T | null> {
  const timer = new AbortController();
  const never = pause(PATIENCE_MS, timer.signal);
  const tooLate = Promise.race(maker === undefined ? [never] : [never, maker.gone]);
  try {
    return await Promise.race([work, tooLate.then(() => null)]);
  } finally {
    timer.abort('over');
  }
}
