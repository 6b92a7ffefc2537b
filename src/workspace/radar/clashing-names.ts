/**
 * clashing-names: names that one piece of work removes or changes while another, which merges with it,
 * starts to use them (semantic/compare.ts), in both directions: between work in progress
 * (`SemanticGuard`), and between it and work that landed since it started (`LandedNames`), which its
 * agent cannot see. Only blobs and files of live workspaces are read, each content once; an unreadable
 * file is skipped. A pair is reported when its names change, with an empty list when the clash is over.
 */

import { rethrowBug } from '../../base/errors.ts';
import { type BlobChange, blobChanges, blobIds, blobText, blobTexts } from '../../git/trees.ts';
import type { RadarEvent } from '../../model/event.ts';
import type { Sha, TaskId } from '../../model/plan.ts';
import type { Clash, ClashingName } from '../../model/radar.ts';
import type { Landing, RunState } from '../../model/state.ts';
import {
  clashingNames,
  type FileChange,
  MOST_FILES,
  wordsAtStake,
} from '../../semantic/compare.ts';
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
    const { work: commit } = member;
    const { commonDir } = this.#context.repository;
    const finished = commit === null ? null : await blobIds(commonDir, { commit, files }, signal);
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

  async #blob(file: string, id: string | null, signal: AbortSignal): Promise<Module | null> {
    if (id === null) return null;
    const read = () => blobText(this.#context.repository.commonDir, id, signal);
    return this.moduleOf(file, id, read).catch((error: unknown) => {
      rethrowBug(error);
      signal.throwIfAborted();
      return null;
    });
  }

  /** The file may be newer than its id, so the result is cached for this workspace only. */
  async #live({ live }: TrackedWork, file: string): Promise<Module | null> {
    const seen = live?.seen.get(file);
    if (live === null || seen === undefined) return null;
    return this.moduleOf(file, `${live.dir}\0${seen.id}`, async () => {
      const content = await readPlain(live.dir, file, LARGEST_BYTES);
      return content?.toString('utf8') ?? null;
    });
  }

  async moduleOf(
    file: string,
    id: string,
    read: () => Promise<string | null>,
  ): Promise<Module | null> {
    const key = keyOf(file, id);
    const known = this.#modules.get(key);
    if (known !== undefined) return known;
    const text = await read();
    if (text === null) return null;
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

/** Landings that a look reads, and the newest ones that work is compared with. */
const MOST_READ = 16;
const MOST_LANDINGS = 64;

/** What a landing changed, and every word of the files before and after. */
interface Landed {
  readonly files: readonly BlobChange[];
  readonly words: ReadonlySet<string>;
}

const NOTHING: Landed = { files: [], words: new Set() };

/** Compares when work or landing is new, and parses only files that share a word at stake. */
export class LandedNames {
  readonly #context: RunContext;
  readonly #tracker: WorkTracker;
  readonly #guard: SemanticGuard;
  readonly #report: (fact: RadarEvent) => void;
  readonly #landings = new Map<Sha, Landed>();
  /** The work as it was compared last, and the landings that it was compared with. */
  readonly #compared = new Map<TaskId, { readonly as: TrackedWork; readonly to: Set<Sha> }>();

  constructor(
    context: RunContext,
    { tracker, guard }: { readonly tracker: WorkTracker; readonly guard: SemanticGuard },
    report: (fact: RadarEvent) => void,
  ) {
    this.#context = context;
    this.#tracker = tracker;
    this.#guard = guard;
    this.#report = report;
  }

  async look(state: RunState, signal: AbortSignal): Promise<void> {
    const queued = new Set(state.queue.map(({ task }) => task));
    const due = new Map<TaskId, readonly Landing[]>();
    const used = new Set<Sha>();
    for (const [id, member] of this.#tracker.tracked) {
      const since = landingsSince(state, id, member.base);
      for (const { commit } of since) used.add(commit);
      this.#withdraw(state, id, since);
      // Work in the queue is skipped: its gates run on the merged files.
      const news = queued.has(id) ? [] : this.#uncompared(id, member, since);
      if (news.length > 0) due.set(id, news);
    }
    this.#forget(used);
    await this.#guard.prepare(new Set(due.keys()), signal);
    let left = MOST_READ;
    for (const [id, landings] of due) {
      left -= await this.#compare(state, { id, landings, mayRead: left }, signal);
    }
  }

  #uncompared(id: TaskId, member: TrackedWork, since: readonly Landing[]): readonly Landing[] {
    const known = this.#compared.get(id);
    const to = known?.as === member ? known.to : new Set<Sha>();
    this.#compared.set(id, { as: member, to });
    return since.filter(({ commit }) => !to.has(commit));
  }

  /** Returns how many landings it has read. */
  async #compare(
    state: RunState,
    todo: { readonly id: TaskId; readonly landings: readonly Landing[]; readonly mayRead: number },
    signal: AbortSignal,
  ): Promise<number> {
    const { id, landings, mayRead } = todo;
    const mine = await this.#guard.changesOf(id, signal);
    const stake = wordsAtStake(mine);
    let read = 0;
    for (const landing of landings) {
      const { task, commit } = landing;
      const isNew = stake.size > 0 && !this.#landings.has(commit);
      if (isNew && read === mayRead) break; // The rest is for the next look.
      if (isNew) read += 1;
      const landed = stake.size > 0 ? await this.#landed(landing, signal) : NOTHING;
      const theirs = share(landed.words, stake) ? await this.#parse(landed, stake, signal) : [];
      this.#reportNames(state, { a: task, b: id }, clashingNames(theirs, mine));
      this.#reportNames(state, { a: id, b: task }, clashingNames(mine, theirs));
      this.#compared.get(id)?.to.add(commit);
    }
    return read;
  }

  #reportNames(
    { radar }: RunState,
    pair: { readonly a: TaskId; readonly b: TaskId },
    names: readonly ClashingName[],
  ): void {
    const { a, b } = pair;
    const known = radar.clashes.find((clash) => clash.a === a && clash.b === b)?.names ?? [];
    if (JSON.stringify(known) === JSON.stringify(names)) return;
    this.#report({ type: 'radar.semantic', a, b, names });
  }

  /** Withdraws reports about landings that the work is based on by now. */
  #withdraw(state: RunState, id: TaskId, since: readonly Landing[]): void {
    for (const { a, b } of state.radar.clashes) {
      if (a !== id && b !== id) continue;
      const other = a === id ? b : a;
      const hasLanded = state.tasks.get(other)?.status.kind === 'landed';
      if (hasLanded && !since.some(({ task }) => task === other))
        this.#reportNames(state, { a, b }, []);
    }
  }

  #forget(used: ReadonlySet<Sha>): void {
    for (const commit of this.#landings.keys())
      if (!used.has(commit)) this.#landings.delete(commit);
    for (const id of this.#compared.keys()) {
      if (!this.#tracker.tracked.has(id)) this.#compared.delete(id);
    }
  }

  async #landed({ onto, commit }: Landing, signal: AbortSignal): Promise<Landed> {
    const known = this.#landings.get(commit);
    if (known !== undefined) return known;
    const range = { from: onto, to: commit };
    const { files, texts } = await sourceChanges(this.#context, range, signal);
    const landed = { files, words: new Set([...texts.values()].flatMap(wordsOf)) };
    this.#landings.set(commit, landed);
    return landed;
  }

  async #parse(
    { files }: Landed,
    words: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<readonly FileChange[]> {
    const texts = await blobTexts(this.#context.repository.commonDir, idsOf(files), signal);
    const isNear = (id: Sha | null): boolean =>
      wordsOf(texts.get(id ?? '') ?? '').some((word) => words.has(word));
    const near = files.filter(({ before, after }) => isNear(before) || isNear(after));
    return parsed(near, texts, (file, id, text) =>
      this.#guard.moduleOf(file, id, async () => text),
    );
  }
}

/** The source files that a range changes, none where they are too many, and their texts. */
async function sourceChanges(
  { repository: { commonDir } }: RunContext,
  range: { readonly from: Sha; readonly to: Sha },
  signal: AbortSignal,
) {
  const changes = await blobChanges(commonDir, range, signal);
  const sources = changes.filter(({ path }) => isReadable(path));
  const files = sources.length > MOST_FILES ? [] : sources;
  return { files, texts: await blobTexts(commonDir, idsOf(files), signal) };
}

/** The files with both sides as modules; one with an unreadable side is left out. */
async function parsed(
  files: readonly BlobChange[],
  texts: ReadonlyMap<Sha, string>,
  moduleOf: (file: string, id: Sha, text: string) => Promise<Module | null>,
): Promise<readonly FileChange[]> {
  const changes: FileChange[] = [];
  for (const { path: file, before: was, after: is } of files) {
    const sides = [was, is].map(async (id) => {
      const text = id === null ? undefined : texts.get(id);
      return id === null || text === undefined ? null : moduleOf(file, id, text);
    });
    const [before = null, after = null] = await Promise.all(sides);
    const isUnread = (was !== null && before === null) || (is !== null && after === null);
    if (!isUnread) changes.push({ file, before, after });
  }
  return changes;
}

function idsOf(files: readonly BlobChange[]): readonly Sha[] {
  const ids = files.flatMap(({ before, after }) => [before, after]);
  return [...new Set(ids.filter((id) => id !== null))];
}

function wordsOf(text: string): readonly string[] {
  return text.match(/[\w$]+/g) ?? [];
}

function share(all: ReadonlySet<string>, some: ReadonlySet<string>): boolean {
  return [...some].some((word) => all.has(word));
}

/** Other tasks' landings since the head was at a commit; none if that is unknown. */
function landingsSince({ landed, base }: RunState, id: TaskId, from: Sha): readonly Landing[] {
  const at = landed.findLastIndex(({ commit }) => commit === from);
  if (at < 0 && from !== base) return [];
  return landed
    .slice(at + 1)
    .filter(({ task, onto, commit }) => task !== id && onto !== commit)
    .slice(-MOST_LANDINGS);
}

/** Names of finished work that clash with a landing, in both directions, taken from their commits. */
export async function clashesWithLanded(
  context: RunContext,
  mine: { readonly task: TaskId; readonly base: Sha; readonly work: Sha },
  landing: Landing,
  signal: AbortSignal,
): Promise<readonly Clash[]> {
  const { task, base, work } = mine;
  const own = await changesIn(context, { from: base, to: work }, signal);
  const { onto: from, commit: to } = landing;
  const theirs = await changesIn(context, { from, to }, signal);
  const clashes = [
    { a: landing.task, b: task, names: clashingNames(theirs, own) },
    { a: task, b: landing.task, names: clashingNames(own, theirs) },
  ];
  return clashes.filter(({ names }) => names.length > 0);
}

async function changesIn(
  context: RunContext,
  range: { readonly from: Sha; readonly to: Sha },
  signal: AbortSignal,
): Promise<readonly FileChange[]> {
  const { files, texts } = await sourceChanges(context, range, signal);
  const { readModule } = await parsers();
  return parsed(files, texts, async (file, _, text) => readModule(file, text));
}
