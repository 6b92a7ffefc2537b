/**
 * landed-names: names that clash between work in progress and work that landed since it started. The
 * landed changes are not in its workspace, so its agent cannot see them.
 *
 *   L1. A landing's changes are the difference that it made to the head.
 *   L2. The cost is bounded. Work and landing are compared when either is new, and files are parsed
 *       only where they share a word at stake. A look reads at most `MOST_READ` landings; only the
 *       newest `MOST_LANDINGS` are compared.
 *   L3. Work in the queue is skipped: its gates run on the merged files.
 *   L4. Reports are compared with the run's state: one is made when the names change, and an empty one
 *       when the work starts over on a head that holds both.
 */

import { type BlobChange, blobChanges, blobTexts } from '../../git/trees.ts';
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
import type { RunContext } from '../run-context.ts';
import type { SemanticGuard } from './semantic-guard.ts';
import type { TrackedWork, WorkTracker } from './work-tracker.ts';

const MOST_READ = 16;
const MOST_LANDINGS = 64;

/** What a landing changed, and every word of the files before and after. */
interface Landed {
  readonly files: readonly BlobChange[];
  readonly words: ReadonlySet<string>;
}

const NOTHING: Landed = { files: [], words: new Set() };

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
      this.#restoreInjected(state, id, since);
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
  #restoreInjected(state: RunState, id: TaskId, since: readonly Landing[]): void {
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

  async #landed(landing: Landing, signal: AbortSignal): Promise<Landed> {
    const known = this.#landings.get(landing.commit) ?? (await this.#wordsIn(landing, signal));
    this.#landings.set(landing.commit, known);
    return known;
  }

  async #wordsIn({ onto, commit }: Landing, signal: AbortSignal): Promise<Landed> {
    const { commonDir } = this.#context.repository;
    const files = await sourceChanges(commonDir, { from: onto, to: commit }, signal);
    const texts = await blobTexts(commonDir, idsOf(files), signal);
    return { files, words: new Set([...texts.values()].flatMap(wordsOf)) };
  }

  /** Parses the files that contain one of the words. */
  async #parse(
    { files }: Landed,
    words: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<readonly FileChange[]> {
    const texts = await blobTexts(this.#context.repository.commonDir, idsOf(files), signal);
    const isNear = (id: Sha | null): boolean =>
      wordsOf(texts.get(id ?? '') ?? '').some((word) => words.has(word));
    const near = files.filter(({ before, after }) => isNear(before) || isNear(after));
    return parsed(near, texts, (file, blob) => this.#guard.moduleOf(file, blob));
  }
}

/** The source files that a range changes; none where they are too many. */
async function sourceChanges(
  commonDir: string,
  range: { readonly from: Sha; readonly to: Sha },
  signal: AbortSignal,
): Promise<readonly BlobChange[]> {
  const changes = await blobChanges(commonDir, range, signal);
  const files = changes.filter(({ path }) => isReadable(path));
  return files.length > MOST_FILES ? [] : files;
}

type Blob = { readonly id: Sha; readonly text: string };

/** The files with both sides as modules; one with an unreadable side is left out. */
async function parsed(
  files: readonly BlobChange[],
  texts: ReadonlyMap<Sha, string>,
  moduleOf: (file: string, blob: Blob) => Promise<Module | null>,
): Promise<readonly FileChange[]> {
  const changes: FileChange[] = [];
  for (const { path: file, before: was, after: is } of files) {
    const sides = [was, is].map(async (id) => {
      const text = id === null ? undefined : texts.get(id);
      return id === null || text === undefined ? null : moduleOf(file, { id, text });
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
  { repository: { commonDir } }: RunContext,
  range: { readonly from: Sha; readonly to: Sha },
  signal: AbortSignal,
): Promise<readonly FileChange[]> {
  const files = await sourceChanges(commonDir, range, signal);
  const texts = await blobTexts(commonDir, idsOf(files), signal);
  const { readModule } = await import('../../semantic/parse.ts');
  return parsed(files, texts, async (file, { text }) => readModule(file, text));
}
