/**
 * The semantic guard: of two pieces of work that merge, names that one takes away or changes and
 * the other has begun to use (semantic/compare.ts), in both directions.
 *
 *   N1. Only reads: blobs of bases and of finished work, and files of live workspaces.
 *   N2. A content is read and parsed once. A file that cannot be read says nothing.
 *   N3. What is known of two tasks is said when it changes, and an empty list when it is over.
 */

import { lstatSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { blobIds, blobText, blobTexts } from '../../git/blobs.ts';
import type { RadarEvent } from '../../model/event.ts';
import type { TaskId } from '../../model/plan.ts';
import type { ClashingName } from '../../model/radar.ts';
import { clashingNames, type FileChange, MOST_FILES } from '../../semantic/compare.ts';
import { isReadable, type Module } from '../../semantic/module.ts';
import type { Ground } from '../ground.ts';
import type { Lookout, Member } from './lookout.ts';

/** Of larger files nothing is read (semantic/read.ts counts characters). */
const LARGEST_BYTES = 2_000_000;
/** How many parsed files are remembered. */
const MOST_KNOWN = 2_000;

/** What is known of names between two looks. */
export class SemanticGuard {
  readonly #ground: Ground;
  readonly #lookout: Lookout;
  readonly #report: (fact: RadarEvent) => void;
  readonly #modules = new Map<string, Module | null>();
  /** A member is replaced when its work is different: what it changes is read once. */
  readonly #changes = new WeakMap<Member, readonly FileChange[]>();
  readonly #told = new Map<
    string,
    { readonly a: TaskId; readonly b: TaskId; readonly names: string }
  >();

  constructor(ground: Ground, lookout: Lookout, report: (fact: RadarEvent) => void) {
    this.#ground = ground;
    this.#lookout = lookout;
    this.#report = report;
  }

  /** Reads what the work of these tasks began with, all of it by one process. */
  async prepare(tasks: ReadonlySet<TaskId>, signal: AbortSignal): Promise<void> {
    if (this.#modules.size > MOST_KNOWN) this.#modules.clear();
    const wanted = new Map<string, { readonly file: string; readonly blob: string }>();
    for (const id of tasks) {
      const member = this.#lookout.members.get(id)!;
      const files = this.#changes.has(member) ? [] : readableIn(member);
      const base = files.length === 0 ? null : await this.#lookout.filesAt(member.base, signal);
      for (const file of files) {
        const blob = base?.get(file);
        if (blob !== undefined) wanted.set(keyOf(file, blob), { file, blob });
      }
    }
    for (const key of this.#modules.keys()) wanted.delete(key);
    if (wanted.size === 0) return;
    const { readModule } = await parsers();
    const ids = new Set([...wanted.values()].map(({ blob }) => blob));
    const { commonDir } = this.#ground.repository;
    const texts = await blobTexts(commonDir, [...ids], signal);
    for (const [key, { file, blob }] of wanted) {
      const text = texts.get(blob);
      if (text !== undefined) this.#modules.set(key, readModule(file, text));
    }
  }

  /** Compares the names of two tasks' work. */
  async look(a: TaskId, b: TaskId, signal: AbortSignal): Promise<void> {
    const mine = await this.changesOf(a, signal);
    const others = await this.changesOf(b, signal);
    this.#tell(a, b, clashingNames(mine, others));
    this.#tell(b, a, clashingNames(others, mine));
  }

  /** Takes back what was said of the two. */
  clear(a: TaskId, b: TaskId): void {
    this.#tell(a, b, []);
    this.#tell(b, a, []);
  }

  /** The fold forgets a task that is over as well: nothing has to be said. */
  forgetGone(): void {
    const { members } = this.#lookout;
    for (const [key, { a, b }] of this.#told) {
      if (!members.has(a) || !members.has(b)) this.#told.delete(key);
    }
  }

  #tell(a: TaskId, b: TaskId, names: readonly ClashingName[]): void {
    const key = `${a} ${b}`;
    const now = JSON.stringify(names);
    if ((this.#told.get(key)?.names ?? '[]') === now) return;
    if (names.length === 0) this.#told.delete(key);
    else this.#told.set(key, { a, b, names: now });
    this.#report({ type: 'radar.semantic', a, b, names });
  }

  /** What a task's work changes, read once. */
  async changesOf(task: TaskId, signal: AbortSignal): Promise<readonly FileChange[]> {
    const member = this.#lookout.members.get(task)!;
    const known = this.#changes.get(member);
    if (known !== undefined) return known;
    const changes = await this.#read(member, readableIn(member), signal);
    this.#changes.set(member, changes);
    return changes;
  }

  async #read(
    member: Member,
    files: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly FileChange[]> {
    if (files.length === 0) return [];
    const base = await this.#lookout.filesAt(member.base, signal);
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

  async #finishedIds({ work }: Member, files: readonly string[], signal: AbortSignal) {
    if (work === null) return null;
    return blobIds(this.#ground.repository.commonDir, { commit: work, files }, signal);
  }

  async #blob(file: string, id: string | null, signal: AbortSignal): Promise<Module | null> {
    if (id === null) return null;
    const { commonDir } = this.#ground.repository;
    return this.#module(file, id, () => blobText(commonDir, id, signal)).catch(() => {
      signal.throwIfAborted();
      return null;
    });
  }

  /** The file may be newer than its id: what is read of it is known for this workspace only. */
  async #live({ sighting }: Member, file: string): Promise<Module | null> {
    const seen = sighting?.seen.get(file);
    if (sighting === null || seen === undefined) return null;
    const path = join(sighting.dir, file);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat?.isFile() !== true || stat.size > LARGEST_BYTES) return null;
    const read = () => readFile(path, 'utf8');
    return this.#module(file, `${sighting.dir}\0${seen.id}`, read).catch(() => null);
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

/** Loaded when the first file is read: most runs on other languages need them never. */
function parsers() {
  return import('../../semantic/read.ts');
}

/** The source files that somebody changes; none of work that changes too many. */
function readableIn({ changes }: Member): readonly string[] {
  const files = [...changes.keys()].filter(isReadable);
  return files.length > MOST_FILES ? [] : files;
}

function keyOf(file: string, id: string): string {
  return `${id}\0${file}`;
}
