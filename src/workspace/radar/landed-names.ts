/**
 * Names between work that goes on and work that has landed since it began. What landed is not in
 * its workspace: nobody there sees that a name is gone, or that somebody uses one that is to go.
 *
 *   L1. What landed with a task is the difference that its landing made to the head.
 *   L2. Its cost is bounded. A piece of work and a landing are compared when either is new, and
 *       files are parsed only where a word of the one that matters occurs in the other. At most
 *       `MOST_READ` landings are read a look; only the newest `MOST_LANDINGS` are compared.
 *   L3. Work in the queue is left alone: its gates run on the merged files already.
 *   L4. What is said is compared with what the run knows, so that it is said when it changes, and
 *       an empty list when it is over: the work began anew on a head that has both.
 */

import { type BlobChange, blobChanges, blobTexts } from '../../git/blobs.ts';
import type { RadarEvent } from '../../model/event.ts';
import type { Sha, TaskId } from '../../model/plan.ts';
import type { ClashingName } from '../../model/radar.ts';
import type { Landing, RunState } from '../../model/state.ts';
import {
  clashingNames,
  type FileChange,
  MOST_FILES,
  wordsAtStake,
} from '../../semantic/compare.ts';
import { isReadable, type Module } from '../../semantic/module.ts';
import type { Ground } from '../ground.ts';
import type { Lookout, Member } from './lookout.ts';
import type { SemanticGuard } from './semantic-guard.ts';

const MOST_READ = 16;
const MOST_LANDINGS = 64;

/** What a landing changed, and every word of the files before and after. */
interface Landed {
  readonly files: readonly BlobChange[];
  readonly words: ReadonlySet<string>;
}

const NOTHING: Landed = { files: [], words: new Set() };

/** What is known of landed names between two looks. */
export class LandedNames {
  readonly #ground: Ground;
  readonly #lookout: Lookout;
  readonly #guard: SemanticGuard;
  readonly #report: (fact: RadarEvent) => void;
  /** By the commit that landed. */
  readonly #landings = new Map<Sha, Landed>();
  /** The work as it was compared last, and the landings that it was compared with. */
  readonly #compared = new Map<TaskId, { readonly as: Member; readonly to: Set<Sha> }>();

  constructor(
    ground: Ground,
    { lookout, guard }: { readonly lookout: Lookout; readonly guard: SemanticGuard },
    report: (fact: RadarEvent) => void,
  ) {
    this.#ground = ground;
    this.#lookout = lookout;
    this.#guard = guard;
    this.#report = report;
  }

  /** Compares what is new with what is known. */
  async look(state: RunState, signal: AbortSignal): Promise<void> {
    const queued = new Set(state.queue.map(({ task }) => task));
    const due = new Map<TaskId, readonly Landing[]>();
    const used = new Set<Sha>();
    for (const [id, member] of this.#lookout.members) {
      const since = landingsSince(state, id, member.base);
      for (const { commit } of since) used.add(commit);
      this.#takeBack(state, id, since);
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

  #uncompared(id: TaskId, member: Member, since: readonly Landing[]): readonly Landing[] {
    const known = this.#compared.get(id);
    const to = known?.as === member ? known.to : new Set<Sha>();
    this.#compared.set(id, { as: member, to });
    return since.filter(({ commit }) => !to.has(commit));
  }

  /** Answers how many landings it has read. */
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
      this.#tell(state, { a: task, b: id }, clashingNames(theirs, mine));
      this.#tell(state, { a: id, b: task }, clashingNames(mine, theirs));
      this.#compared.get(id)?.to.add(commit);
    }
    return read;
  }

  #tell(
    { radar }: RunState,
    pair: { readonly a: TaskId; readonly b: TaskId },
    names: readonly ClashingName[],
  ): void {
    const { a, b } = pair;
    const known = radar.clashes.find((clash) => clash.a === a && clash.b === b)?.names ?? [];
    if (JSON.stringify(known) === JSON.stringify(names)) return;
    this.#report({ type: 'radar.semantic', a, b, names });
  }

  /** What was said of landings that the work has seen meanwhile. */
  #takeBack(state: RunState, id: TaskId, since: readonly Landing[]): void {
    for (const { a, b } of state.radar.clashes) {
      if (a !== id && b !== id) continue;
      const other = a === id ? b : a;
      const hasLanded = state.tasks.get(other)?.status.kind === 'landed';
      if (hasLanded && !since.some(({ task }) => task === other)) this.#tell(state, { a, b }, []);
    }
  }

  #forget(used: ReadonlySet<Sha>): void {
    for (const commit of this.#landings.keys())
      if (!used.has(commit)) this.#landings.delete(commit);
    for (const id of this.#compared.keys()) {
      if (!this.#lookout.members.has(id)) this.#compared.delete(id);
    }
  }

  async #landed(landing: Landing, signal: AbortSignal): Promise<Landed> {
    const known = this.#landings.get(landing.commit) ?? (await this.#wordsIn(landing, signal));
    this.#landings.set(landing.commit, known);
    return known;
  }

  async #wordsIn({ onto, commit }: Landing, signal: AbortSignal): Promise<Landed> {
    const { commonDir } = this.#ground.repository;
    const changes = await blobChanges(commonDir, { from: onto, to: commit }, signal);
    const files = changes.filter(({ path }) => isReadable(path));
    if (files.length > MOST_FILES) return NOTHING;
    const texts = await blobTexts(commonDir, idsOf(files), signal);
    return { files, words: new Set([...texts.values()].flatMap(wordsOf)) };
  }

  /** Those of its files in which one of the words occurs. */
  async #parse(
    { files }: Landed,
    words: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<readonly FileChange[]> {
    const texts = await blobTexts(this.#ground.repository.commonDir, idsOf(files), signal);
    const textOf = (id: Sha | null): string => texts.get(id ?? '') ?? '';
    const near = files.filter(({ before, after }) =>
      wordsOf(`${textOf(before)} ${textOf(after)}`).some((word) => words.has(word)),
    );
    const moduleOf = async (file: string, id: Sha | null): Promise<Module | null> =>
      id === null ? null : this.#guard.moduleOf(file, { id, text: textOf(id) });
    const changes: FileChange[] = [];
    for (const { path: file, before: was, after: is } of near) {
      if ([was, is].some((id) => id !== null && !texts.has(id))) continue;
      const [before, after] = [await moduleOf(file, was), await moduleOf(file, is)];
      const isUnread = (was !== null && before === null) || (is !== null && after === null);
      if (!isUnread) changes.push({ file, before, after });
    }
    return changes;
  }
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

/** The landings of others since the head was at a commit; none where nobody knows when that was. */
function landingsSince({ landed, base }: RunState, id: TaskId, from: Sha): readonly Landing[] {
  const at = landed.findLastIndex(({ commit }) => commit === from);
  if (at < 0 && from !== base) return [];
  return landed
    .slice(at + 1)
    .filter(({ task, onto, commit }) => task !== id && onto !== commit)
    .slice(-MOST_LANDINGS);
}
