/**
 * `landfast logs --gate`: all that gates printed on a candidate, while they print it if asked to.
 *
 *   G1. A candidate is meant by its task, or by the beginning of its commit or tree; of several
 *       the newest.
 *   G2. What is not kept in a file is shown as the journal has it: what matters of a red gate.
 */

import { existsSync } from 'node:fs';
import type { Place } from '../../app/place.ts';
import { UserError } from '../../base/errors.ts';
import type { Database } from '../../journal/database.ts';
import { follow } from '../../journal/follow.ts';
import { gateLogFile } from '../../journal/gate-log.ts';
import { readEntries } from '../../journal/journal.ts';
import type { Entry, Event } from '../../model/event.ts';
import type { Plan, TaskId } from '../../model/plan.ts';
import { durationText, shortSha } from '../../report/format.ts';
import { clean } from '../../report/sanitize.ts';
import { EXIT } from '../exit.ts';
import { Following } from '../terminal/following.ts';
import { printFile } from '../terminal/print-file.ts';
import { clock } from '../terminal/screen.ts';

export interface GateWish {
  readonly task: TaskId | null;
  /** Null for all gates. */
  readonly gate: string | null;
  /** The beginning of a candidate's commit or tree. */
  readonly candidate: string | null;
  readonly raw: boolean;
}

export interface GatesOf {
  readonly place: Place;
  readonly run: string;
  readonly plan: Plan;
}

/** Prints what gates have said. */
export async function printGates(db: Database, of: GatesOf, wish: GateWish): Promise<number> {
  const looks = new Looks(wish);
  for (const entry of readEntries(db, of.run, 0)) looks.add(entry);
  const found = looks.newest();
  if (found.length === 0) throw nothing(of, wish);
  for (const look of found) await print(of, wish, look, AbortSignal.abort());
  return EXIT.ok;
}

/** The same, and what they say from now on, until there is a verdict on the candidate. */
export async function followGates(of: GatesOf, wish: GateWish): Promise<number> {
  const { place, run } = of;
  using following = new Following(place.stateDir, run);
  const looks = new Looks(wish);
  let printing: { readonly over: AbortController; readonly done: Promise<void> } | null = null;
  const end = async (): Promise<void> => {
    printing?.over.abort();
    await printing?.done;
    printing = null;
  };
  const begin = (look: Look): void => {
    const over = new AbortController();
    printing = { over, done: print(of, wish, look, over.signal) };
  };
  let isFirst = true;
  for await (const entries of follow(place.stateDir, run, 0, following.signal)) {
    for (const entry of entries) {
      const look = looks.add(entry);
      if (isFirst) continue;
      if (entry.event.type === 'gate.started' && look !== null) begin(look);
      else if (look !== null || looks.isOver) await end();
      if (looks.isOver) return EXIT.ok;
    }
    if (isFirst) {
      for (const look of looks.newest()) {
        if (look.isRunning) begin(look);
        else await print(of, wish, look, AbortSignal.abort());
      }
    }
    isFirst = false;
    if (looks.isOver) return EXIT.ok;
  }
  await end();
  return EXIT.ok;
}

/** A gate on a candidate's tree, and how it ended when it was last run there. */
interface Look {
  readonly task: TaskId | null;
  readonly gate: string;
  readonly tree: string;
  at: number;
  isRunning: boolean;
  ended: (Event & { type: 'gate.finished' }) | null;
}

/** The looks that are meant, as far as the journal has been read. */
class Looks {
  readonly #wish: GateWish;
  readonly #found: Look[] = [];
  readonly #commits = new Map<string, string[]>();
  /** Whether there is a verdict on the candidate that was looked at last. */
  isOver = false;

  constructor(wish: GateWish) {
    this.#wish = wish;
  }

  /** The look that an entry is about, where one is meant. */
  add({ at, event }: Entry): Look | null {
    if (event.type === 'candidate.built') {
      this.#commits.set(event.tree, [...(this.#commits.get(event.tree) ?? []), event.commit]);
    }
    const last = this.#found.at(-1);
    if (last !== undefined && isVerdict(event, last.task)) this.isOver = true;
    if (event.type !== 'gate.started' && event.type !== 'gate.finished') return null;
    const { task, gate, tree } = event;
    if ('spared' in event || !this.#isMeant(event)) return null;
    let look = this.#found.find((each) => each.gate === gate && each.tree === tree);
    if (look === undefined) {
      look = { task, gate, tree, at, isRunning: false, ended: null };
      this.#found.push(look);
    }
    this.isOver = false;
    look.isRunning = event.type === 'gate.started';
    if (event.type === 'gate.finished') look.ended = event;
    else look.at = at;
    return look;
  }

  /** Those on the newest candidate. */
  newest(): readonly Look[] {
    const tree = this.#found.at(-1)?.tree;
    return this.#found.filter((look) => look.tree === tree);
  }

  #isMeant({ task, gate, tree, on }: Event & { type: 'gate.started' | 'gate.finished' }): boolean {
    const { candidate } = this.#wish;
    if (this.#wish.gate !== null && this.#wish.gate !== gate) return false;
    if (this.#wish.task !== null && this.#wish.task !== task) return false;
    if (candidate === null) return on === undefined; // Else it was no candidate that was tried.
    return [tree, ...(this.#commits.get(tree) ?? [])].some((sha) => sha.startsWith(candidate));
  }
}

const VERDICTS: ReadonlySet<Event['type']> = new Set([
  'candidate.verified',
  'candidate.dropped',
  'merge.landed',
  'merge.rejected',
  'merge.withdrawn',
  'work.delivered',
]);

function isVerdict(event: Event, task: TaskId | null): boolean {
  if (task === null) return event.type === 'publish.finished' || event.type === 'publish.blocked';
  return 'task' in event && event.task === task && VERDICTS.has(event.type);
}

async function print(of: GatesOf, wish: GateWish, look: Look, until: AbortSignal): Promise<void> {
  const { task, gate, tree, ended, at } = look;
  const whose = task === null ? 'the publication' : task;
  const verdict =
    ended === null ? '' : `, ${ended.ok ? 'green' : 'red'} after ${durationText(ended.ms)}`;
  const title = `gate ${gate} on ${whose}, tree ${shortSha(tree)}, ${clock(at)}${verdict}`;
  process.stdout.write(`── ${clean(title)} ──\n`);
  const file = gateLogFile(of.place.stateDir, of.run, look);
  const show = wish.raw ? (line: string) => line : clean;
  if (until.aborted && !existsSync(file)) {
    const kept = (ended?.output ?? '').split('\n').map((line) => `${show(line)}\n`);
    process.stdout.write(kept.join(''));
    console.error('All of it is not kept (--no-log, or it was cleaned up).');
    return;
  }
  await printFile(file, show, until);
}

function nothing({ plan, run }: GatesOf, { task, gate, candidate }: GateWish): UserError {
  const names = ['setup', ...plan.gates.map(({ name }) => name)];
  if (gate !== null && !names.includes(gate)) {
    return new UserError(`Run ${run} has no gate ${gate}.`, `It has: ${names.join(', ')}.`);
  }
  const what = gate === null ? 'No gate' : `Gate ${gate}`;
  const on = candidate === null ? (task ?? 'anything') : `a candidate ${candidate}`;
  const has = gate === null ? 'has run' : 'has not run';
  return new UserError(
    `${what} ${has} on ${on} in run ${run}.`,
    'landfast queue --explain says which gates had to run, and on what.',
  );
}
