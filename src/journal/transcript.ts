/**
 * Transcripts: what agents said, in files beside the journal, for people to read.
 *
 *   <dir>/<task>.<attempt>/transcript.jsonl   {"at", "event"} a line: the meaning of the output
 *                          stdout.log         the lines of the process as they came
 *                          stderr.log
 *                          prompt.log         the prompt
 *                          setup.log          output of the workspace's set-up; checks.log likewise
 *   <logDir>/<task>-stdout.log, -stderr.log   the same lines again, all attempts in one file
 *   <formatted.dir>/<task>.log                what the attempts did, formatted for people
 *
 * - Chatter may be lost without losing the run: a write that fails is a single warning, never an
 *   error.
 * - Secrets are masked before anything reaches the disk. Files are 0600, folders made 0700.
 * - A task's id becomes part of a file's name only through `fileName`.
 */

import { join } from 'node:path';
import type { AgentEvent } from '../model/agent-event.ts';
import type { Around, AroundName, AttemptEffect, Chatter, Said } from '../model/effect.ts';
import type { AttemptStart } from '../model/event.ts';
import type { TaskId } from '../model/plan.ts';
import { type Mask, maskedChatter, masker } from './mask.ts';
import { Sink } from './sink.ts';

export interface TranscriptOptions {
  /** `attemptsDir(stateDir, run)`. */
  readonly dir: string;
  readonly secrets: readonly string[];
  /** Whether the raw lines are kept at all; transcripts always are. */
  readonly rawLogs: 'kept' | 'none';
  /** A folder of the user's for the raw lines as well. */
  readonly logDir: string | null;
  /** A folder of the user's for formatted logs. */
  readonly formatted?: FormattedLogs | null;
  /** Called at most once. */
  readonly onWarning: (text: string) => void;
}

export interface FormattedLogs {
  readonly dir: string;
  /** A new one for every attempt. */
  formatterFor(task: TaskId): LogFormatter;
}

/** Turns what an attempt says into text (agents/log-formatter.ts). */
export interface LogFormatter {
  format(chatter: Said, at: number): string;
}

/** The transcripts of a run, for its engine to write. */
export class Transcripts {
  readonly #options: TranscriptOptions;
  readonly #mask: Mask;
  readonly #open = new Map<string, AttemptSinks>();
  readonly #formatted = new Map<string, FormattedLog>();
  readonly #begunLogs = new Set<TaskId>();
  #warned = false;

  constructor(options: TranscriptOptions) {
    this.#options = options;
    this.#mask = masker(options.secrets);
  }

  /** Call it before the attempt says anything. */
  begin({ task, attempt, start }: Pick<AttemptEffect, 'task' | 'attempt' | 'start'>): void {
    const { formatted } = this.#options;
    if (formatted == null) return;
    const before = attempt === 1 ? 'discarded' : 'kept';
    const sink = new Sink(join(formatted.dir, `${fileName(task)}.log`), before, this.#warn);
    const log = new FormattedLog(sink, formatted.formatterFor(task), this.#mask);
    log.begin(attempt, start);
    this.#formatted.set(attemptName(task, attempt), log);
  }

  /** Files one thing an attempt said, and returns it without secrets. Never waits or throws. */
  write(task: TaskId, attempt: number, said: Chatter, at: number): Chatter {
    const chatter = maskedChatter(said, this.#mask);
    if (isAround(chatter)) {
      this.#writeAround(task, attempt, chatter);
      return chatter;
    }
    // Unmasked: a secret that comes in pieces is masked once it is whole.
    if (!isAround(said)) this.#formatted.get(attemptName(task, attempt))?.write(said, at);
    const sinks = this.#sinksOf(task, attempt);
    if (chatter.from === 'agent') {
      const { event } = chatter;
      if (isStored(event)) sinks.transcript.write(`${JSON.stringify({ at, event })}\n`);
    } else {
      for (const sink of sinks[chatter.from]) sink.write(`${chatter.text}\n`);
    }
    return chatter;
  }

  #writeAround(task: TaskId, attempt: number, { from, text }: Around): void {
    if (this.#options.rawLogs === 'none') return;
    const { around } = this.#sinksOf(task, attempt);
    const file = attemptFiles(this.#options.dir, task, attempt)[from];
    const sink = around.get(from) ?? new Sink(file, 'kept', this.#warn);
    around.set(from, sink);
    sink.write(`${text}\n`);
  }

  /** Flushes and closes the files of an attempt that is over. */
  async close(task: TaskId, attempt: number, signal: AbortSignal): Promise<void> {
    const key = attemptName(task, attempt);
    const sinks = this.#open.get(key);
    this.#open.delete(key);
    const log = this.#formatted.get(key);
    this.#formatted.delete(key);
    await log?.close(signal);
    if (sinks !== undefined) await closeSinks(sinks, signal);
  }

  async closeAll(signal: AbortSignal): Promise<void> {
    const all = [...this.#open.values()];
    const logs = [...this.#formatted.values()];
    this.#open.clear();
    this.#formatted.clear();
    await Promise.all(logs.map((log) => log.close(signal)));
    await Promise.all(all.map((sinks) => closeSinks(sinks, signal)));
  }

  #sinksOf(task: TaskId, attempt: number): AttemptSinks {
    const key = attemptName(task, attempt);
    const known = this.#open.get(key);
    if (known !== undefined) return known;
    const { transcript, stdout, stderr } = attemptFiles(this.#options.dir, task, attempt);
    const sinks = {
      transcript: new Sink(transcript, 'kept', this.#warn),
      stdout: this.#rawSinks(stdout, task, attempt, 'stdout'),
      stderr: this.#rawSinks(stderr, task, attempt, 'stderr'),
      around: new Map(),
    };
    this.#begunLogs.add(task);
    this.#open.set(key, sinks);
    return sinks;
  }

  #rawSinks(path: string, task: TaskId, attempt: number, from: RawStream): readonly Sink[] {
    const { rawLogs, logDir } = this.#options;
    if (rawLogs === 'none') return [];
    const own = new Sink(path, 'kept', this.#warn);
    if (logDir === null) return [own];
    const isFirst = attempt === 1 && !this.#begunLogs.has(task);
    const file = join(logDir, `${fileName(task)}-${from}.log`);
    const extra = new Sink(file, isFirst ? 'discarded' : 'kept', this.#warn);
    // Opens the file even if the attempt says nothing: it may hold an earlier run's output.
    extra.write(isFirst ? '' : `--- attempt ${attempt} ---\n`);
    return [own, extra];
  }

  readonly #warn = (message: string): void => {
    if (this.#warned) return;
    this.#warned = true;
    this.#options.onWarning(`${message}. Some agent output is not kept; the run continues.`);
  };
}

/** More than this is written even if the line has no end. */
const LONGEST_LINE = 64 * 1024;

/** The formatted log of one attempt: only whole lines are written. */
class FormattedLog {
  readonly #sink: Sink;
  readonly #formatter: LogFormatter;
  readonly #mask: Mask;
  #waiting = '';

  constructor(sink: Sink, formatter: LogFormatter, mask: Mask) {
    this.#sink = sink;
    this.#formatter = formatter;
    this.#mask = mask;
  }

  /** The first attempt starts the file over; each further one is below a marker. */
  begin(attempt: number, start: AttemptStart): void {
    this.#sink.write(attempt === 1 ? '' : this.#mask(markerOf(start)));
  }

  write(chatter: Said, at: number): void {
    this.#waiting += this.#formatter.format(chatter, at);
    const end = this.#waiting.lastIndexOf('\n') + 1;
    const ready = this.#waiting.length - end > LONGEST_LINE ? this.#waiting.length : end;
    if (ready === 0) return;
    this.#sink.write(this.#mask(this.#waiting.slice(0, ready)));
    this.#waiting = this.#waiting.slice(ready);
  }

  async close(signal: AbortSignal): Promise<void> {
    if (this.#waiting !== '') this.#sink.write(`${this.#mask(this.#waiting)}\n`);
    this.#waiting = '';
    await this.#sink.close(signal);
  }
}

function markerOf(start: AttemptStart): string {
  const session = start.kind === 'fresh' ? null : start.session;
  return `\n--- RETRY${session === null ? '' : ` (resuming session ${session})`} ---\n`;
}

type RawStream = 'stdout' | 'stderr';

interface AttemptSinks {
  readonly transcript: Sink;
  readonly stdout: readonly Sink[];
  readonly stderr: readonly Sink[];
  readonly around: Map<AroundName, Sink>;
}

async function closeSinks(sinks: AttemptSinks, signal: AbortSignal): Promise<void> {
  const all = [sinks.transcript, ...sinks.stdout, ...sinks.stderr, ...sinks.around.values()];
  await Promise.all(all.map((sink) => sink.close(signal)));
}

function isAround(chatter: Chatter): chatter is Around {
  return chatter.from === 'prompt' || chatter.from === 'setup' || chatter.from === 'checks';
}

/** A delta is repeated by the whole text, and a bare sign of life means nothing afterwards. */
function isStored(event: AgentEvent): boolean {
  if (event.type === 'text') return event.delta !== true;
  return event.type !== 'activity' || event.background !== undefined;
}

/** One line of a transcript. */
export interface TranscriptLine {
  readonly at: number;
  readonly event: AgentEvent;
}

/** Where a run's attempts keep their files. */
export function attemptsDir(stateDir: string, run: string): string {
  return join(runDir(stateDir, run), 'attempts');
}

/** The output of the engine of a detached run. */
export function engineLog(stateDir: string, run: string): string {
  return join(runDir(stateDir, run), 'engine.log');
}

/** The folder of a run's files. */
export function runDir(stateDir: string, run: string): string {
  return join(stateDir, 'runs', fileName(run));
}

/** The files of one attempt; any of them may be missing. */
export function attemptFiles(
  dir: string,
  task: TaskId,
  attempt: number,
): Readonly<Record<'transcript' | RawStream | AroundName, string>> {
  const folder = join(dir, attemptName(task, attempt));
  return {
    transcript: join(folder, 'transcript.jsonl'),
    stdout: join(folder, 'stdout.log'),
    stderr: join(folder, 'stderr.log'),
    prompt: join(folder, 'prompt.log'),
    setup: join(folder, 'setup.log'),
    checks: join(folder, 'checks.log'),
  };
}

function attemptName(task: TaskId, attempt: number): string {
  return `${fileName(task)}.${attempt}`;
}

/** Letters, digits, `.`, `_` and `-` stay, every other byte is written as %XX: never a path. */
export function fileName(id: string): string {
  return id.replace(/[^\p{L}\p{N}._-]/gu, (character) =>
    [...Buffer.from(character)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  );
}

/** Lines of a transcript as values. One that was cut by a crash is left out. */
export function parseTranscript(lines: readonly string[]): readonly TranscriptLine[] {
  return lines.flatMap((line) => {
    try {
      return [JSON.parse(line) as TranscriptLine];
    } catch (error) {
      if (error instanceof SyntaxError) return [];
      throw error;
    }
  });
}
