/**
 * The semantic guard: names that one piece of work removes or changes while another, which merges with
 * it, starts to use them (semantic/compare.ts), in both directions.
 *
 *   N1. It only reads: blobs of bases and finished work, and files of live workspaces.
 *   N2. Each content is read and parsed once. An unreadable file is skipped.
 *   N3. A pair is reported when its names change, with an empty list when the clash is over.
 */

import { rethrowBug } from '../../base/errors.ts';
import { blobIds, blobText, blobTexts } from '../../git/trees.ts';
import type { RadarEvent } from '../../model/event.ts';
import type { TaskId } from '../../model/plan.ts';
import type { ClashingName } from '../../model/radar.ts';
import { clashingNames, type FileChange, MOST_FILES } from '../../semantic/compare.ts';
import { isReadable, type Module } from '../../semantic/module.ts';
import { readPlain } from '../plain-file.ts';
import type { RunContext } from '../run-context.ts';
import type { TrackedWork, WorkTracker } from './work-tracker.ts';

/** Larger files are not read (semantic/parse.ts counts characters). */
const LARGEST_BYTES = 2_000_000;
const MOST_KNOWN = 2_000;

export class SemanticGuard {
  readonly #context: RunContext;
  readonly #tracker: WorkTracker;
  readonly #report: (fact: RadarEvent) => void;
  readonly #modules = new Map<string, Module | null>();
  /** A member is replaced when its work is different: what it changes is read once. */
  readonly #changes = new WeakMap<TrackedWork, readonly FileChange[]>();
  readonly #reported = new Map<
    string,
    { readonly a: TaskId; readonly b: TaskId; readonly names: string }
  >();

  constructor(context: RunContext, tracker: WorkTracker, report: (fact: RadarEvent) => void) {
    this.#context = context;
    this.#tracker = tracker;
    this.#report = report;
  }

  /** Reads the base files of these tasks in one process. */
  async prepare(tasks: ReadonlySet<TaskId>, signal: AbortSignal): Promise<void> {
    if (this.#modules.size > MOST_KNOWN) this.#modules.clear();
    const wanted = new Map<string, { readonly file: string; readonly blob: string }>();
    for (const id of tasks) {
      const member = this.#tracker.tracked.get(id)!;
      const files = this.#changes.has(member) ? [] : readableIn(member);
      const base = files.length === 0 ? null : await this.#tracker.filesAt(member.base, signal);
      for (const file of files) {
        const blob = base?.get(file);
        if (blob !== undefined) wanted.set(keyOf(file, blob), { file, blob });
      }
    }
    for (const key of this.#modules.keys()) wanted.delete(key);
    if (wanted.size === 0) return;
    const { readModule } = await parsers();
    const ids = new Set([...wanted.values()].map(({ blob }) => blob));
    const { commonDir } = this.#context.repository;
    const texts = await blobTexts(commonDir, [...ids], signal);
    for (const [key, { file, blob }] of wanted) {
      const text = texts.get(blob);
      if (text !== undefined) this.#modules.set(key, readModule(file, text));
    }
  }

  async look(a: TaskId, b: TaskId, signal: AbortSignal): Promise<void> {
    const mine = await this.changesOf(a, signal);
    const others = await this.changesOf(b, signal);
    this.#reportNames(a, b, clashingNames(mine, others));
    this.#reportNames(b, a, clashingNames(others, mine));
  }

  clear(a: TaskId, b: TaskId): void {
    this.#reportNames(a, b, []);
    this.#reportNames(b, a, []);
  }

  /** The fold forgets finished tasks as well: no report is needed. */
  forgetGone(): void {
    const { tracked } = this.#tracker;
    for (const [key, { a, b }] of this.#reported) {
      if (!tracked.has(a) || !tracked.has(b)) this.#reported.delete(key);
    }
  }

  #reportNames(a: TaskId, b: TaskId, names: readonly ClashingName[]): void {
    const key = `${a} ${b}`;
    const now = JSON.stringify(names);
    if ((this.#reported.get(key)?.names ?? '[]') === now) return;
    if (names.length === 0) this.#reported.delete(key);
    else this.#reported.set(key, { a, b, names: now });
    this.#report({ type: 'radar.semantic', a, b, names });
  }

  async changesOf(task: TaskId, signal: AbortSignal): Promise<readonly FileChange[]> {
    const member = this.#tracker.tracked.get(task)!;
    const known = this.#changes.get(member);
    if (known !== undefined) return known;
    const changes = await this.#read(member, readableIn(member), signal);
    this.#changes.set(member, changes);
    return changes;
  }

  async #read(
    member: TrackedWork,
    files: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly FileChange[]> {
    if (files.length === 0) return [];
    const base = await this.#tracker.filesAt(member.base, signal);
    const finished = await this.#finishedIds(member, files, signal);
    const now = (file: string, at: number): Promise<Module | null> =>
      finished === null ? this.#live(member, file) : this.#blob(file, finished[at] ?? null, signal);
    const changes: FileChange[] = [];
    for (const [at, file] of files.entries()) {
      const id = base.get(file) ?? null;
      const before = await this.#blob(file, id, signal);
      if (before === null && id !== null) continue;
      const isGone = member.changes.get(file) === 'deleted';
      const after = isGone ? null : await now(file, at);
      if (isGone || after !== null) changes.push({ file, before, after });
    }
    return changes;
  }

  async #finishedIds({ work }: TrackedWork, files: readonly string[], signal: AbortSignal) {
    if (work === null) return null;
    return blobIds(this.#context.repository.commonDir, { commit: work, files }, signal);
  }

  async #blob(file: string, id: string | null, signal: AbortSignal): Promise<Module | null> {
    if (id === null) return null;
    const { commonDir } = this.#context.repository;
    return this.#module(file, id, () => blobText(commonDir, id, signal)).catch((error: unknown) => {
      rethrowBug(error);
      signal.throwIfAborted();
      return null;
    });
  }

  /** The file may be newer than its id, so the result is cached for this workspace only. */
  async #live({ live }: TrackedWork, file: string): Promise<Module | null> {
    const seen = live?.seen.get(file);
    if (live === null || seen === undefined) return null;
    const id = `${live.dir}\0${seen.id}`;
    const known = this.#modules.get(keyOf(file, id));
    if (known !== undefined) return known;
    const text = (await readPlain(live.dir, file, LARGEST_BYTES))?.toString('utf8') ?? null;
    return text === null ? null : this.moduleOf(file, { id, text });
  }

  async #module(file: string, id: string, read: () => Promise<string>): Promise<Module | null> {
    const known = this.#modules.get(keyOf(file, id));
    return known !== undefined ? known : this.moduleOf(file, { id, text: await read() });
  }

  /** A text as a module, parsed once. */
  async moduleOf(
    file: string,
    { id, text }: { readonly id: string; readonly text: string },
  ): Promise<Module | null> {
    const key = keyOf(file, id);
    const known = this.#modules.get(key);
    if (known !== undefined) return known;
    const { readModule } = await parsers();
    const made = readModule(file, text);
    this.#modules.set(key, made);
    return made;
  }
}

/** Loaded with the first file: runs on other languages never need them. */
function parsers() {
  return import('../../semantic/parse.ts');
}

/** The source files that work changes; none where it changes too many. */
function readableIn({ changes }: TrackedWork): readonly string[] {
  const files = [...changes.keys()].filter(isReadable);
  return files.length > MOST_FILES ? [] : files;
}

function keyOf(file: string, id: string): string {
  return `${id}\0${file}`;
}
