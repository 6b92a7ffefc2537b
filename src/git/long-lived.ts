/**
 * The git processes that stay open while a run works in a repository: names of objects
 * (`cat-file`), moves of refs (`update-ref`), changed files (`diff-tree`) and merges
 * (`merge-tree`).
 *
 * Nothing depends on them: outside of a run's runtime, for another repository, or where one has
 * ended, the answer is null and the caller runs an ordinary command. Refs are moved from the user's
 * checkout, where a relative core.hooksPath starts. A process gets one question at a time, and ends
 * when its input is closed.
 */

import type { Exit } from '../base/exit.ts';
import { Mutex } from '../base/mutex.ts';
import { environment, PerRuntime } from '../base/runtime.ts';
import type { LineEnd } from '../process/lines.ts';
import { type Input, run } from '../process/run.ts';
import { unquoted } from './byte-path.ts';
import { DURABLE, gitEnvironment } from './environment.ts';
import type { Settings } from './settings.ts';

class LongLived {
  readonly commonDir: string;
  readonly checkout: string;
  #names: Conversation | null = null;
  #refs: Conversation | null = null;
  #changes: Conversation | null = null;
  #merges: { readonly settings: Settings; readonly talk: Conversation } | null = null;

  constructor({ commonDir, dir }: { readonly commonDir: string; readonly dir: string }) {
    this.commonDir = commonDir;
    this.checkout = dir;
  }

  get names(): Conversation {
    this.#names = this.#open(this.#names, ['cat-file', '--batch-check=%(objectname)']);
    return this.#names;
  }

  get refs(): Conversation {
    this.#refs = this.#open(this.#refs, ['update-ref', '--stdin'], this.checkout);
    return this.#refs;
  }

  get changes(): Conversation {
    const how = ['diff-tree', '--stdin', '-r', '--name-only', '--no-renames'];
    this.#changes = this.#open(this.#changes, ['-c', 'core.quotePath=true', ...how]);
    return this.#changes;
  }

  /** A merge depends on settings. A process that has ended, or never answers, is not started again. */
  async merges(settings: Settings): Promise<Conversation> {
    if (this.#merges?.settings === settings) return this.#merges.talk;
    const before = this.#merges;
    this.#merges = { settings, talk: new Conversation(this.commonDir, MERGE, UNBUFFERED) };
    await before?.talk[Symbol.asyncDispose]();
    return this.#merges.talk;
  }

  async close(): Promise<void> {
    const all = [this.#names, this.#refs, this.#changes, this.#merges?.talk];
    await Promise.all(all.map((one) => one?.[Symbol.asyncDispose]()));
  }

  #open(before: Conversation | null, args: readonly string[], dir = this.commonDir): Conversation {
    return before === null || before.isOver ? new Conversation(dir, args) : before;
  }
}

const MERGE = ['merge-tree', '--write-tree', '--stdin', '--name-only', '--no-messages'];
/** Git 2.39 does not flush its output. Without `stdbuf`, an ordinary command is run. */
const UNBUFFERED = { startedBy: ['stdbuf', '-o0'], lineEnd: 'nul' } as const;

const longLived = new PerRuntime<LongLived | null>(
  ({ repository }) => repository && new LongLived(repository),
  async (open) => open?.close(),
);

function openFor(commonDir: string): LongLived | null {
  const open = longLived.current;
  return open?.commonDir === commonDir ? open : null;
}

/** Where commands run that move refs: in the run's checkout, if it is known. */
export function checkoutFor(commonDir: string): string {
  return openFor(commonDir)?.checkout ?? commonDir;
}

/** The id that a full ref, an id or `<id>^{tree}` names; `none` where there is no such object. */
export async function nameOf(commonDir: string, name: string): Promise<string | 'none' | null> {
  const talk = openFor(commonDir)?.names;
  const [line] = (await talk?.ask(`${name}\n`, () => true)) ?? [];
  if (line === undefined) return null;
  if (/^[0-9a-f]{40,}$/.test(line)) return line;
  return line.endsWith(' missing') ? 'none' : null;
}

/** Runs lines of `update-ref --stdin` as one transaction; true once git has confirmed it. */
export async function transact(commonDir: string, lines: readonly string[]): Promise<true | null> {
  const talk = openFor(commonDir)?.refs;
  const text = ['start', ...lines, 'prepare', 'commit'].map((line) => `${line}\n`).join('');
  const answer = await talk?.ask(text, (line) => line === 'commit: ok');
  return answer == null ? null : true;
}

/** The files in which two trees differ: bytes, as latin1 (byte-path.ts). */
export async function changesBetween(
  commonDir: string,
  from: string,
  to: string,
): Promise<readonly string[] | null> {
  const talk = openFor(commonDir)?.changes;
  // A line that names no object is echoed, after all earlier output.
  const answer = await talk?.ask(`${from} ${to}\n${END}\n`, (line) => line === END);
  return answer == null ? null : unquoted(answer.slice(1, -1));
}

/** The tree of a merge without conflicts; null where no process answers. */
export async function cleanMerge(
  commonDir: string,
  settings: Settings,
  [ours, theirs]: readonly [string, string],
): Promise<string | 'conflict' | null> {
  const talk = await openFor(commonDir)?.merges(settings);
  // 1 for clean or 0, the tree, the files that conflict, and an empty field.
  const answer = await talk?.ask(`${ours} ${theirs}\n`, (field) => field === '');
  if (answer == null) return null;
  const [isClean, tree = ''] = answer;
  return isClean === '1' ? tree : 'conflict';
}

/** No file has this name: it would be an absolute path. */
const END = '/end';

const ANSWER_MS = 10_000;

export interface ConversationOptions {
  readonly signal?: AbortSignal;
  /** A program, with its arguments, that starts git. */
  readonly startedBy?: readonly string[];
  readonly lineEnd?: LineEnd;
}

export class Conversation implements AsyncDisposable {
  readonly #stop = new AbortController();
  readonly #mutex = new Mutex();
  readonly #input = Promise.withResolvers<Input | null>();
  readonly #lines: string[] = [];
  readonly #errors: string[] = [];
  readonly ended: Promise<Exit | null>;
  isOver = false;
  #wake: () => void = () => {};

  constructor(dir: string, args: readonly string[], options: ConversationOptions = {}) {
    const { signal, startedBy = [], lineEnd = 'newline' } = options;
    const stop =
      signal === undefined ? this.#stop.signal : AbortSignal.any([signal, this.#stop.signal]);
    const [file = 'git', ...words] = [...startedBy, 'git', '-c', DURABLE, ...args];
    const command = {
      file,
      args: words,
      lineEnd,
      cwd: dir,
      env: gitEnvironment(environment()),
      stdin: '',
      keepsInput: true,
      graceMs: 1_000,
      mark: null,
      onStart: (input: Input) => this.#input.resolve(input),
      onLine: (line: string, from: 'stdout' | 'stderr') => this.#receive(line, from),
    };
    this.ended = run(command, stop)
      .catch((error: unknown) => {
        this.#errors.push(String(error));
        return null;
      })
      .finally(() => {
        this.isOver = true;
        this.#input.resolve(null);
        this.#wake();
      });
  }

  /** Its standard error so far. */
  get errors(): string {
    return this.#errors.join('\n').trim();
  }

  /** Sends a text and reads the lines up to and including the first one that `isLast`. */
  ask(text: string, isLast: (line: string) => boolean): Promise<readonly string[] | null> {
    return this.#mutex.run(async () => {
      await this.send(text);
      const timer = setTimeout(() => this.#stop.abort('no answer'), ANSWER_MS);
      try {
        return await this.read(isLast);
      } finally {
        clearTimeout(timer);
      }
    });
  }

  async send(text: string): Promise<void> {
    (await this.#input.promise)?.write(text);
  }

  /** Reads the lines up to and including the first that `isLast`; null if git ends before. */
  async read(isLast: (line: string) => boolean): Promise<readonly string[] | null> {
    const lines: string[] = [];
    for (;;) {
      for (let line = this.#lines.shift(); line !== undefined; line = this.#lines.shift()) {
        lines.push(line);
        if (isLast(line)) return lines;
      }
      if (this.isOver) return null;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    (await this.#input.promise)?.end();
    await this.ended;
  }

  #receive(line: string, from: 'stdout' | 'stderr'): void {
    (from === 'stdout' ? this.#lines : this.#errors).push(line);
    this.#wake();
  }
}
