/**
 * What a run may take of the machine: measured from time to time, and made room for by evicting
 * what holds no work (schedule/machine-limits.ts), one thing at a time. `machine` answers with the
 * last measurement and begins the next one once that is due; each is bounded (workspace/disk.ts).
 */

import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf, otherwise } from '../base/errors.ts';
import { removeWorktree } from '../git/worktree.ts';
import type { Database } from '../journal/database.ts';
import { listRuns } from '../journal/journal.ts';
import { attemptsDir } from '../journal/transcript.ts';
import { type Machine, UNMEASURED } from '../model/machine.ts';
import { availableMemory, loadPerCore } from '../process/machine-load.ts';
import { type Evictable, evictionOrder } from '../schedule/machine-limits.ts';
import { freeBytes, Usage, worktreesBelow } from '../workspace/disk.ts';
import { gatesFolder, plainFolder, workspacesFolder } from '../workspace/folders.ts';
import type { RunContext } from '../workspace/run-context.ts';
import { seedStore } from './pooling.ts';
import { isLive } from './runs.ts';

/** How old a measurement may be. */
const LOOK_MS = 1_000;
/** Folder entries that one look reads; as many as that take far less than a second. */
const ENTRIES = 5_000;
/** How many looks the beginning of a run may take. */
const FIRST_LOOKS = 10;

export interface RoomOf {
  readonly run: string;
  readonly context: RunContext | null;
  readonly db: Database;
  readonly stateDir: string;
  /** Where a run without a repository works. */
  readonly dir: string;
  readonly most: number | null;
  readonly say: (text: string) => void;
}

export class Room {
  #machine: Machine = UNMEASURED;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | null = null;
  #complaint = '';
  readonly #of: RoomOf;
  readonly #usage: Usage;
  readonly #closing = new AbortController();

  constructor(of: RoomOf) {
    this.#of = of;
    this.#usage = new Usage(() => measured(of));
  }

  /** Measures for the first time, thoroughly enough to know whether the run may begin. */
  async open(): Promise<this> {
    await this.#look(FIRST_LOOKS);
    return this;
  }

  machine = (): Machine => {
    if (this.#looking === null && performance.now() - this.#lookedAt >= LOOK_MS) {
      this.#looking = this.#look(1).finally(() => {
        this.#looking = null;
      });
    }
    return this.#machine;
  };

  /** Ends when no measurement is under way any more. */
  async close(): Promise<void> {
    this.#closing.abort('over');
    await this.#looking;
  }

  async #look(times: number): Promise<void> {
    const { context, dir, stateDir, most } = this.#of;
    const places = [context === null ? dir : workspacesFolder(context), stateDir];
    try {
      if (most !== null) await this.#measure(most, times);
      const diskUsedBytes = most === null ? null : this.#usage.bytes;
      const diskFreeBytes = await freeBytes(places);
      const memoryFreeBytes = await availableMemory(this.#closing.signal);
      this.#machine = { diskFreeBytes, diskUsedBytes, memoryFreeBytes, loadPerCore: loadPerCore() };
    } catch (error) {
      this.#machine = UNMEASURED;
      this.#complain(`The disk could not be measured: ${messageOf(error)}`);
    }
    this.#lookedAt = performance.now();
  }

  /** Once: the next look is in a second. */
  #complain(text: string): void {
    if (this.#complaint !== text) this.#of.say(text);
    this.#complaint = text;
  }

  async #measure(most: number, times: number): Promise<void> {
    const { signal } = this.#closing;
    for (let nth = 0; nth < times; nth += 1) {
      if (await this.#usage.look(ENTRIES, signal)) break;
    }
    while (this.#usage.bytes > most && !signal.aborted) if (!(await this.#evict())) return;
  }

  /** Removes one thing that holds no work; false where there is none. */
  async #evict(): Promise<boolean> {
    const { context, say } = this.#of;
    const limit = AbortSignal.timeout(60_000);
    // Seeds of earlier runs as well, whatever this one's plan says.
    const idle =
      (await context?.pool.shed(limit)) ?? (context && (await seedStore(context).shed(limit)));
    if (idle != null) {
      this.#usage.forget(idle);
      return true;
    }
    const [first] = evictionOrder(await evictables(this.#of));
    if (first === undefined) return false;
    if (first.kind === 'transcripts') await rm(first.path, { recursive: true, force: true });
    else if (context !== null) {
      await removeWorktree(context.repository.commonDir, first.path, limit);
    }
    this.#usage.forget(first.kind === 'transcripts' ? join(first.path, '..') : first.path);
    const what = first.kind === 'transcripts' ? 'the transcripts' : 'an unused workspace';
    say(`The disk budget is used up: removed ${what} of run ${first.run}.`);
    return true;
  }
}

/** Every workspace and every seed, and the folder of every run. */
async function measured({ context, stateDir }: RoomOf): Promise<readonly string[]> {
  const parts = ['runs', 'seeds'].map((name) => join(stateDir, name));
  const names = await Promise.all(
    parts.map((folder) => readdir(folder).catch(otherwise<string[]>([]))),
  );
  const folders = parts.flatMap((folder, nth) => names[nth]!.map((name) => join(folder, name)));
  if (context === null) return folders;
  return [...folders, ...(await worktreesOf(context))];
}

/** Every worktree where runs have theirs: those of gates may be elsewhere. */
async function worktreesOf(context: RunContext): Promise<readonly string[]> {
  const { commonDir } = context.repository;
  const folders = new Set([workspacesFolder(context), plainFolder(context)]);
  const found = await Promise.all([...folders].map((folder) => worktreesBelow(commonDir, folder)));
  return [...new Set(found.flat())];
}

/** Workspaces for gates, and transcripts, of every run but this one. */
async function evictables(of: RoomOf): Promise<readonly Evictable[]> {
  const { context, db, stateDir } = of;
  const runs = listRuns(db).filter(({ run }) => run !== of.run);
  const all = context === null ? [] : await worktreesOf(context);
  return runs.flatMap(({ run, lastAt: at, outcome }) => {
    const owner = { run, at, outcome, live: isLive(db, run) };
    const folder = context === null ? '' : gatesFolder({ ...context, run });
    const mine = all.filter((path) => dirname(path) === folder);
    const said = attemptsDir(stateDir, run);
    return [
      ...mine.map((path): Evictable => ({ kind: 'workspace', path, ...owner })),
      ...(existsSync(said) ? [{ kind: 'transcripts', path: said, ...owner } as const] : []),
    ];
  });
}
