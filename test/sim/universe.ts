/**
 * What outlives an engine: the journal, the repository, the clock, the user, the Book that judges.
 *
 * A calm world has neither money nor commands nor second chances, so that its end depends on
 * nothing but its whims, and crashes must not change it. A wild one has all of them.
 */

import type { EditedPlan } from '../../src/engine/recover.ts';
import { sendCommand } from '../../src/journal/commands.ts';
import type { Database } from '../../src/journal/database.ts';
import { readEntries } from '../../src/journal/journal.ts';
import type { Command } from '../../src/model/command.ts';
import type { Entry, Event, MendedWork } from '../../src/model/event.ts';
import type { Plan, Sha, TaskId } from '../../src/model/plan.ts';
import { Book } from './book.ts';
import { Clock } from './clock.ts';
import { Disk } from './disk.ts';
import { filesOf, planFor } from './plans.ts';
import { Random } from './random.ts';
import { Repo } from './repo.ts';
import { openStore, RUN } from './store.ts';
import { type MergeEnding, mergeEnding } from './whims.ts';

const HOUR_MS = 3_600_000;

/** What the world knows of an engine. */
export interface Engine {
  readonly host: string;
  /** Its process is there, if only halted. */
  readonly isAlive: boolean;
  /** It has given the run back. */
  readonly hasReleased: boolean;
  /** When it last said that it lives, as the clock of its host was. */
  readonly renewedAt: number;
  /** Another one has the run from now on. */
  lose(): void;
}

/** Which facts came from the world, and how many ends of a task's attempts and merges were kept. */
export class Told {
  readonly #facts = new Set<Event>();
  readonly #kept = new Map<string, number>();

  add(fact: Event): void {
    this.#facts.add(fact);
  }

  /** Books a recorded event: an end that the world told of is used up, one made up is not. */
  keep(event: Event): void {
    const ends = /^(attempt|merge|work)\.(finished|failed|landed|delivered|rejected)$/;
    const [, of] = ends.exec(event.type) ?? [];
    // Who is ejected for a red gate is the engine's conclusion from what the world told.
    const isEjected = event.type === 'merge.rejected' && event.failure.kind === 'gate-failed';
    const isTold = isEjected || this.#facts.has(event);
    if (of === undefined || !('task' in event) || !isTold) return;
    const key = `${of === 'attempt' ? 'attempt' : 'merge'} ${event.task}`;
    this.#kept.set(key, (this.#kept.get(key) ?? 0) + 1);
  }

  countOf(kind: 'attempt' | 'merge', task: TaskId): number {
    return this.#kept.get(`${kind} ${task}`) ?? 0;
  }
}

export class Universe {
  readonly seed: number;
  readonly calm: boolean;
  readonly clock = new Clock(1_000_000_000);
  readonly repo: Repo;
  readonly book: Book;
  readonly told = new Told();
  readonly disk: Disk;
  readonly db: Database = openStore();
  readonly entries: Entry[] = [];
  /** The engine that got the run's lease last: the only one that may do anything. */
  holder: Engine | null = null;
  /** Commands that no engine has taken yet. */
  wishes = 0;
  /** How often a merge or a publication was found done, its fact having been lost. */
  foundDone = 0;
  /** How often the clock was set, a fact was told again, an effect vanished. */
  jumps = 0;
  repeated = 0;
  lost = 0;
  /** How often an engine that was alive lost its run to another, and would have acted later on. */
  overtaken = 0;
  late = 0;
  /** When something was stored last, by the clock that nobody sets. */
  storedAt: number;
  /** People also pause single tasks, set limits, send notes and reviews, and approve. */
  readonly isSteered: boolean;
  readonly #people: Random;
  #skew = 0;
  #edits = 0;
  readonly #hasty: Random;
  #jobs = 0;

  constructor(seed: number) {
    const random = new Random(seed, 'world');
    this.seed = seed;
    this.storedAt = this.clock.now;
    this.#hasty = new Random(seed, 'hasty');
    this.calm = seed % 2 === 0;
    const repository = random.chance(0.95);
    const budget = !this.calm && random.chance(0.35);
    const plan = planFor(seed, { budget, repository });
    const target = repository && random.chance(0.95) ? { target: 'main' } : {};
    this.repo = new Repo(repository ? 'base' : null);
    this.disk = new Disk(seed, this.clock);
    this.#people = new Random(seed, 'people');
    this.isSteered = !this.calm && seed % 5 === 3;
    const asks = this.isSteered && plan.landing.publish === 'end' && this.#people.chance(0.7);
    const landing = asks ? { ...plan.landing, publish: 'ask' as const } : plan.landing;
    this.book = new Book({ ...plan, landing, ...target }, this.repo, this.disk);
    for (const { work } of plan.tasks) if (work !== undefined) this.repo.bring(work);
    if (!this.calm) this.#scheduleWishes(random);
    if (this.isSteered) this.#schedulePeople();
    this.#scheduleJumps(new Random(seed, 'clock'));
  }

  /** The plan as it was edited last. */
  get plan(): Plan {
    return this.book.plan;
  }

  /** Now and then somebody edits the plan of a run that goes on. */
  edited(random: Random): EditedPlan | null {
    if (this.calm || !random.chance(0.3)) return null;
    this.#edits += 1;
    const { plan } = this;
    const needed = new Set(plan.tasks.flatMap(({ needs, hears }) => [...needs, ...hears]));
    const gone = random.chance(0.5) ? random.pick(plan.tasks).id : null;
    const kept = plan.tasks.filter(({ id }) => id !== gone || needed.has(id));
    const tasks = kept.map((spec) => {
      if (!random.chance(0.2)) return spec;
      if (random.chance(0.5)) return { ...spec, prompt: `Edit ${this.#edits}.` };
      return { ...spec, retries: random.between(0, 3) };
    });
    const { forks: _, work: __, ...like } = random.pick(plan.tasks);
    const id = `new${this.#edits}`;
    const fresh = { ...like, id, needs: [], hears: [] };
    const gate = { name: 'tests', run: 'npm test', timeoutMs: 1_000 };
    const gates = random.chance(0.2) ? (plan.gates.length === 0 ? [gate] : []) : plan.gates;
    const all = random.chance(0.5) ? [...tasks, fresh] : tasks;
    return { plan: { ...plan, gates, tasks: all }, hash: `edit ${this.#edits}` };
  }

  /** The time of day, as it is set. */
  get wall(): number {
    return this.clock.now + this.#skew;
  }

  /** Time goes by while an engine can do nothing about it: whatever it does next may be late. */
  pass(ms: number): void {
    this.book.isExcused = true;
    this.clock.advanceTo(this.clock.now + ms);
  }

  #scheduleJumps(random: Random): void {
    if (!random.chance(0.4)) return;
    for (let nth = random.between(1, 4); nth > 0; nth -= 1) {
      const byMs = random.pick([-3 * HOUR_MS, -90_000, -500, 500, 90_000, 3 * HOUR_MS]);
      this.clock.after(random.between(0, 15_000), () => {
        this.#skew += byMs;
        this.jumps += 1;
        this.book.isExcused = true;
      });
    }
  }

  /** How the landing of a task's newest work turns out, whoever is asked and how often. */
  landingOf(task: TaskId): MergeEnding {
    const { spec } = this.book.page(task);
    const { seed, plan } = this;
    const nth = this.told.countOf('merge', task);
    return mergeEnding({ seed, landing: plan.landing }, spec, nth);
  }

  /** Whether a candidate holds work, not landed yet, that a gate is red on. */
  isRed(candidate: Sha): boolean {
    return this.book.queue.some(({ task, work }) => {
      const ending = this.landingOf(task);
      const isBad = ending.kind === 'rejected' && ending.cause === 'gate-failed';
      return isBad && this.repo.contains(candidate, work);
    });
  }

  nextJob(): number {
    this.#jobs += 1;
    return this.#jobs;
  }

  /** Judges what has been stored. */
  witness(entries: readonly Entry[]): void {
    this.storedAt = this.clock.now;
    for (const entry of entries) {
      this.entries.push(entry);
      this.told.keep(entry.event);
      this.book.see(entry);
      if (!this.calm) this.#hurry(entry.event);
      if (this.isSteered) this.#comeBack(entry.event);
    }
  }

  /** What people commit to the branches of tasks that are not good: now and then, to one. */
  mended(random: Random): readonly MendedWork[] {
    const pages = [...this.book.pages.values()].filter(
      ({ status, attempts, spec }) =>
        ['stopped', 'failed'].includes(status) && attempts > 0 && spec.mode === 'write',
    );
    if (this.calm || this.repo.base === null || pages.length === 0) return [];
    if (!random.chance(0.3)) return [];
    const { spec, base, work } = random.pick(pages);
    const parents = [base, work].filter((sha) => sha !== null);
    const commit = this.repo.commit(`${spec.id}.mended`, parents);
    return [{ task: spec.id, commit, files: filesOf(this.seed, spec) }];
  }

  /** Somebody wants something of the run, which nobody knows of before it is stored. */
  ask(command: Command): void {
    if (this.entries.length === 0) return;
    const mended = command.kind === 'retry' ? { mended: this.mended(this.#hasty) } : {};
    sendCommand(this.db, RUN, { ...command, ...mended }, this.wall);
    this.wishes += 1;
  }

  /** Some people are quick: they retry what has just failed, and take back what has just finished. */
  #hurry(event: Event): void {
    // Whoever is at the terminal mends the gate, sooner or later.
    if (event.type === 'gate.broken' && event.attended) {
      this.clock.after(this.#hasty.between(100, 9_000), () => this.ask({ kind: 'continue' }));
    }
    if (!('task' in event) || event.task === null) return;
    const { task } = event;
    const retry: Command = { kind: 'retry', tasks: [task], fresh: false };
    const failed = event.type === 'workspace.released' && this.book.page(task).status === 'failed';
    if (failed && this.#hasty.chance(0.3)) this.ask(retry);
    if (event.type !== 'merge.started' || !this.#hasty.chance(0.02)) return;
    this.ask({ kind: 'skip', tasks: [task], satisfied: false });
    this.clock.after(500, () => this.ask(retry));
  }

  /** The journal as the next engine reads it from the disk. */
  read(): readonly Entry[] {
    return readEntries(this.db, RUN, 0);
  }

  #schedulePeople(): void {
    const random = this.#people;
    for (let i = random.between(3, 10); i > 0; i -= 1) {
      this.clock.after(random.between(0, 15_000), () => this.ask(this.#request(random)));
    }
  }

  /** What people ask of single tasks, or of the run. */
  #request(random: Random): Command {
    const kind = random.pick([
      'pause-tasks',
      'pause-tasks',
      'comment',
      'comment',
      'retry',
      'limit',
    ]);
    if (kind === 'limit') {
      const limits = { workers: random.between(1, 5), gates: random.between(1, 3) };
      return { kind: 'limit', limits };
    }
    const pages = [...this.book.pages.values()];
    const wanted = kind === 'retry' ? ['failed', 'stopped'] : ['running', 'queued', 'merging'];
    const seen = pages.filter(({ status }) => wanted.includes(status));
    const task = random.pick(seen.length > 0 ? seen : pages).spec.id;
    if (kind === 'pause-tasks') return { kind, tasks: [task] };
    if (kind === 'retry') return { kind, tasks: [task], fresh: random.chance(0.2), note: 'Do.' };
    return { kind: 'comment', task, comments: [{ path: 'a.ts', line: 1, text: 'Why?' }] };
  }

  /** Whoever pauses a task comes back, and whoever is asked answers; else no run would end. */
  #comeBack(event: Event): void {
    const random = this.#people;
    const later = (command: Command) =>
      this.clock.after(random.between(100, 9_000), () => this.ask(command));
    if (event.type === 'task.paused') {
      later({ kind: 'continue-tasks', tasks: [event.task] });
      if (random.chance(0.2)) this.ask({ kind: 'stop', mode: 'drain', why: 'Asked for.' });
    }
    const isAsked = event.type === 'publish.awaited' || event.type === 'run.resumed';
    if (isAsked && this.book.publish === 'awaited') {
      later({ kind: 'approve', publish: random.chance(0.8) });
    }
    if (event.type !== 'run.resumed') return;
    const paused = [...this.book.pages.values()].filter((page) => page.paused);
    if (paused.length > 0)
      later({ kind: 'continue-tasks', tasks: paused.map(({ spec }) => spec.id) });
  }

  #scheduleWishes(random: Random): void {
    const count = random.pick([0, 1, 2, 4, 7]);
    for (let i = 0; i < count; i += 1) {
      this.clock.after(random.between(0, 12_000), () => {
        const wish = this.#wish(random);
        this.ask(wish);
        this.#afterthought(wish, random);
      });
    }
  }

  /** Whoever pauses a run comes back, else it would never end; and people change their minds. */
  #afterthought(wish: Command, random: Random): void {
    const later = (ms: number, command: Command) =>
      this.clock.after(random.between(0, ms), () => this.ask(command));
    if (wish.kind === 'pause') {
      later(20_000, { kind: 'continue' });
      const mode = random.pick(['drain', 'drain', 'end'] as const);
      if (random.chance(0.3)) later(2_000, { kind: 'stop', mode, why: 'Asked for.' });
    }
    const tasks =
      wish.kind === 'cancel-task' ? [wish.task] : wish.kind === 'skip' ? wish.tasks : [];
    if (tasks.length === 0 || random.chance(0.2)) return;
    later(random.pick([200, 400, 800]), { kind: 'retry', tasks, fresh: random.chance(0.2) });
  }

  /** Mostly about what is going on: people cancel what they see running. */
  #wish(random: Random): Command {
    if (random.chance(0.15)) return { kind: 'pause', suspend: random.chance(0.5) };
    if (random.chance(0.3)) {
      const mode = random.pick(['drain', 'end', 'end', 'cancel'] as const);
      return { kind: 'stop', mode, why: 'Asked for.' };
    }
    const pages = [...this.book.pages.values()];
    const kind = random.pick(['cancel-task', 'cancel-task', 'retry', 'skip'] as const);
    const status = random.pick(
      kind === 'retry'
        ? ['failed', 'failed', 'stopped', 'running']
        : ['running', 'merging', 'queued', 'queued', 'failed'],
    );
    const seen = pages.filter((page) => page.status === status);
    const some = random.shuffled(seen.length > 0 ? seen : pages).map(({ spec }) => spec.id);
    if (kind === 'cancel-task') return { kind, task: some[0]! };
    const tasks = some.slice(0, random.between(1, 2));
    if (kind === 'retry') return { kind, tasks, fresh: random.chance(0.3) };
    return { kind, tasks, satisfied: random.chance(0.5) };
  }
}
