/**
 * Transcripts: what agents said, in files beside the journal, for people to read.
 *
 *   <dir>/<task>.<attempt>/transcript.jsonl   {"at", "event"} a line: what the output meant
 *                          stdout.log         the lines of the process as they came
 *                          stderr.log
 *   <logDir>/<task>-stdout.log, -stderr.log   the same lines again, all attempts in one file
 *   <stories.dir>/<task>.log                  what the attempts did, told (story-log.ts)
 *
 *   T1. Chatter may be lost without losing the run: a write that fails is told once, never thrown.
 *   T2. Secrets are masked before anything reaches the disk. Files are 0600, folders made 0700.
 *   T3. A task's id becomes part of a file's name only through `fileName`.
 */

import { join } from 'node:path';
import type { AgentEvent } from '../model/agent-event.ts';
import type { AttemptEffect, Chatter } from '../model/effect.ts';
import type { TaskId } from '../model/plan.ts';
import { masker } from './mask.ts';
import { Sink } from './sink.ts';
import { StoryLog, type Storyteller } from './story-log.ts';

export interface TranscriptOptions {
  /** `attemptsDir(stateDir, run)`. */
  readonly dir: string;
  readonly secrets: readonly string[];
  /** Whether the raw lines are kept at all; transcripts always are. */
  readonly rawLogs: 'kept' | 'none';
  /** A folder of the user's for the raw lines as well. */
  readonly logDir: string | null;
  /** A folder of the user's for what each task did, told for people. */
  readonly stories?: StoryOptions | null;
  /** Told at most once. */
  readonly onWarning: (text: string) => void;
}

export interface StoryOptions {
  readonly dir: string;
  /** A new one for every attempt. */
  tellerOf(task: TaskId): Storyteller;
}

/** The transcripts of a run, for its engine to write. */
export class Transcripts {
  readonly #options: TranscriptOptions;
  readonly #mask: (text: string) => string;
  readonly #open = new Map<string, AttemptSinks>();
  readonly #stories = new Map<string, StoryLog>();
  readonly #begunLogs = new Set<TaskId>();
  #warned = false;

  constructor(options: TranscriptOptions) {
    this.#options = options;
    this.#mask = masker(options.secrets);
  }

  /** An attempt is about to speak. */
  begin({ task, attempt, start }: Pick<AttemptEffect, 'task' | 'attempt' | 'start'>): void {
    const { stories } = this.#options;
    if (stories == null) return;
    const before = attempt === 1 ? 'discarded' : 'kept';
    const sink = new Sink(join(stories.dir, `${fileName(task)}.log`), before, this.#warn);
    const story = new StoryLog(sink, stories.tellerOf(task), this.#mask);
    story.begin(attempt, start);
    this.#stories.set(attemptName(task, attempt), story);
  }

  /** Files one thing an attempt said. Returns at once and never throws. */
  write(task: TaskId, attempt: number, chatter: Chatter, at: number): void {
    this.#stories.get(attemptName(task, attempt))?.heard(chatter, at);
    const sinks = this.#sinksOf(task, attempt);
    if (chatter.from === 'agent') {
      if (isStored(chatter.event)) sinks.transcript.write(this.#line({ at, event: chatter.event }));
      return;
    }
    const text = `${this.#mask(chatter.text)}\n`;
    for (const sink of sinks[chatter.from]) sink.write(text);
  }

  /** Flushes and closes the files of an attempt that is over. */
  async close(task: TaskId, attempt: number, signal: AbortSignal): Promise<void> {
    const key = attemptName(task, attempt);
    const sinks = this.#open.get(key);
    this.#open.delete(key);
    const story = this.#stories.get(key);
    this.#stories.delete(key);
    await story?.close(signal);
    if (sinks !== undefined) await closeSinks(sinks, signal);
  }

  async closeAll(signal: AbortSignal): Promise<void> {
    const all = [...this.#open.values()];
    const stories = [...this.#stories.values()];
    this.#open.clear();
    this.#stories.clear();
    await Promise.all(stories.map((story) => story.close(signal)));
    await Promise.all(all.map((sinks) => closeSinks(sinks, signal)));
  }

  /** Strings are masked one by one: the escapes of JSON would hide a secret that holds a quote. */
  #line(line: TranscriptLine): string {
    const masked = (_key: string, value: unknown) =>
      typeof value === 'string' ? this.#mask(value) : value;
    return `${JSON.stringify(line, masked)}\n`;
  }

  #sinksOf(task: TaskId, attempt: number): AttemptSinks {
    const key = attemptName(task, attempt);
    const known = this.#open.get(key);
    if (known !== undefined) return known;
    const folder = join(this.#options.dir, key);
    const sinks = {
      transcript: new Sink(join(folder, TRANSCRIPT), 'kept', this.#warn),
      stdout: this.#rawSinks(folder, task, attempt, 'stdout'),
      stderr: this.#rawSinks(folder, task, attempt, 'stderr'),
    };
    this.#begunLogs.add(task);
    this.#open.set(key, sinks);
    return sinks;
  }

  #rawSinks(folder: string, task: TaskId, attempt: number, from: RawStream): readonly Sink[] {
    const { rawLogs, logDir } = this.#options;
    if (rawLogs === 'none') return [];
    const own = new Sink(join(folder, `${from}.log`), 'kept', this.#warn);
    if (logDir === null) return [own];
    const isFirst = attempt === 1 && !this.#begunLogs.has(task);
    const file = join(logDir, `${fileName(task)}-${from}.log`);
    const extra = new Sink(file, isFirst ? 'discarded' : 'kept', this.#warn);
    // The first attempt too opens its file at once, even if it says nothing: what an earlier run
    // left there is not this run's output.
    extra.write(isFirst ? '' : `--- attempt ${attempt} ---\n`);
    return [own, extra];
  }

  readonly #warn = (message: string): void => {
    if (this.#warned) return;
    this.#warned = true;
    this.#options.onWarning(`${message}. Some agent output is not kept; the run goes on.`);
  };
}

type RawStream = 'stdout' | 'stderr';

interface AttemptSinks {
  readonly transcript: Sink;
  readonly stdout: readonly Sink[];
  readonly stderr: readonly Sink[];
}

async function closeSinks(sinks: AttemptSinks, signal: AbortSignal): Promise<void> {
  const all = [sinks.transcript, ...sinks.stdout, ...sinks.stderr];
  await Promise.all(all.map((sink) => sink.close(signal)));
}

/** A delta comes again as a whole text, and a bare sign of life says nothing later. */
function isStored(event: AgentEvent): boolean {
  if (event.type === 'text') return event.delta !== true;
  return event.type !== 'activity' || event.background !== undefined;
}

const TRANSCRIPT = 'transcript.jsonl';

/** One line of a transcript. */
export interface TranscriptLine {
  readonly at: number;
  readonly event: AgentEvent;
}

/** Where a run's attempts keep their files. */
export function attemptsDir(stateDir: string, run: string): string {
  return join(runDir(stateDir, run), 'attempts');
}

/** Where what an engine prints goes when nobody looks at it: a detached run's. */
export function engineLog(stateDir: string, run: string): string {
  return join(runDir(stateDir, run), 'engine.log');
}

function runDir(stateDir: string, run: string): string {
  return join(stateDir, 'runs', fileName(run));
}

/** The files of one attempt; any of them may be missing. */
export function attemptFiles(
  dir: string,
  task: TaskId,
  attempt: number,
): { readonly transcript: string; readonly stdout: string; readonly stderr: string } {
  const folder = join(dir, attemptName(task, attempt));
  return {
    transcript: join(folder, TRANSCRIPT),
    stdout: join(folder, 'stdout.log'),
    stderr: join(folder, 'stderr.log'),
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
    } catch {
      return [];
    }
  });
}
