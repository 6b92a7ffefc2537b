/**
 * Effects as the simulated world performs them: a few steps on the virtual clock, each of which may
 * report a fact, and an end.
 *
 *   J1. A job's last fact and its end are one step.
 *   J2. A job of a dead engine says nothing more, but what it did to the repository stays done. One
 *       that was about to move a ref may have moved it: nobody knows at which instant it died.
 *   J3. A halted job does nothing until it goes on; being stopped lets it go on.
 *   J4. A stopped job ends soon, with the reason as the failure's kind, unless it was done already.
 *   J5. While its engine's process is halted a job does nothing; afterwards it goes on where it was.
 *       It looks whether the run is still its engine's before it begins and before it moves a ref.
 */

import { assertLease, type Lease, LeaseLostError } from '../../src/journal/lease.ts';
import type { Effect } from '../../src/model/effect.ts';
import type { Event } from '../../src/model/event.ts';
import type { Failure } from '../../src/model/failure.ts';
import type { Sha } from '../../src/model/plan.ts';
import { AGENTS, filesOf } from './plans.ts';
import { Random } from './random.ts';
import type { Universe } from './universe.ts';
import { rule } from './violation.ts';
import { attemptEnding } from './whims.ts';

/** The process in which a job is done. */
export interface Place {
  readonly universe: Universe;
  /** Whether its engine has the run; where not, that is what the job fails with. */
  readonly holds: boolean;
  readonly lease: Lease;
  /** Does it now, or as soon as the process goes on. */
  whenAwake(call: () => void): void;
}

export class Job {
  readonly effect: Effect;
  readonly place: Place;
  readonly signal: AbortSignal;
  /** The newest entry when it began. */
  readonly since: number;
  readonly done: Promise<void>;
  over = false;
  halted = false;
  /** What would have happened while it was halted. */
  #late: (() => void)[] = [];
  /** Moves the ref, for a job that has made up its mind to; null before and afterwards. */
  move: (() => void) | null = null;
  readonly #report: (fact: Event) => void;
  #settle: () => void = () => {};
  #fail: (error: Error) => void = () => {};

  constructor(place: Place, effect: Effect, report: (fact: Event) => void, signal: AbortSignal) {
    this.place = place;
    this.effect = effect;
    this.signal = signal;
    this.since = place.universe.book.seq;
    this.#report = report;
    this.done = new Promise((resolve, reject) => {
      this.#settle = resolve;
      this.#fail = reject;
    });
  }

  later(ms: number, step: () => void): void {
    this.place.universe.clock.after(ms, () => this.place.whenAwake(() => this.#take(step)));
  }

  #take(step: () => void): void {
    if (this.halted) this.#late.push(() => this.later(0, step));
    else if (!this.over) step();
  }

  halt(on: boolean): void {
    this.halted = on && !this.signal.aborted;
    if (this.halted) return;
    for (const step of this.#late.splice(0)) step();
  }

  /** Calls the step when the job is asked to stop; at once if it was already. */
  onStop(step: (failure: Failure) => void): void {
    const told = () => {
      const kind = this.signal.reason === 'cancelled' ? 'cancelled' : 'interrupted';
      this.halt(false);
      if (!this.over) step({ kind, message: `It was ${kind}.` });
    };
    if (this.signal.aborted) told();
    else this.signal.addEventListener('abort', told, { once: true });
  }

  say(fact: Event): void {
    if (!this.over) this.#report(fact);
  }

  /** Ends as the whims have it. */
  end(fact: Event): void {
    this.place.universe.told.add(fact);
    this.endEarly(fact);
  }

  /** Ends because it was stopped: that uses up no whim. */
  endEarly(fact: Event): void {
    this.say(fact);
    this.vanish();
  }

  /** Ends without a word. */
  vanish(): void {
    this.over = true;
    this.#settle();
  }

  moveNow(): void {
    if (this.move !== null && this.isHeld()) this.move();
    this.move = null;
  }

  /** Where another engine has the run, the job ends with that. */
  isHeld(): boolean {
    const { db } = this.place.universe;
    try {
      assertLease(db, this.place.lease);
      rule(this.place.holds, 'an engine that has lost its lease acts');
      return true;
    } catch (error) {
      if (!(error instanceof LeaseLostError)) throw error;
      this.place.universe.late += 1;
      this.over = true;
      this.#fail(error);
      return false;
    }
  }
}

/** Begins a job's steps. */
export function begin(job: Job): void {
  if (!job.isHeld()) return;
  const { effect } = job;
  const { universe } = job.place;
  const random = new Random(universe.seed, 'job', effect.kind, universe.nextJob());
  if (effect.kind === 'attempt') beginAttempt(universe, job, effect, random);
  if (effect.kind === 'merge') beginMerge(universe, job, effect, random);
  if (effect.kind === 'verify') beginVerify(universe, job, effect, random);
  if (effect.kind === 'land') beginLand(universe, job, effect, random);
  if (effect.kind === 'publish') beginPublish(universe, job, effect, random);
  if (effect.kind !== 'release') return;
  const { task, succeeded, keep } = effect;
  const removed = keep === undefined && random.chance(succeeded ? 0.9 : 0.3);
  job.later(random.between(0, 100), () =>
    job.end(
      removed
        ? { type: 'workspace.removed', task }
        : { type: 'workspace.kept', task, why: 'Untracked files are left.' },
    ),
  );
}

function beginAttempt(
  universe: Universe,
  job: Job,
  effect: Effect & { kind: 'attempt' },
  random: Random,
): void {
  const { task, attempt, start } = effect;
  const { spec } = universe.book.page(task);
  const agent = effect.by?.agent ?? spec.agent;
  const duration = random.between(5, 2_500);
  if (AGENTS[agent]!.resume && random.chance(0.9)) {
    const session = start.kind === 'continue' ? start.session : null;
    job.later(random.between(0, duration), () =>
      job.say({ type: 'attempt.session', task, attempt, session: session ?? `${task}.${attempt}` }),
    );
  }
  const spends = AGENTS[spec.agent]!.prose;
  const costUsd = !spends ? 0 : Math.min(random.between(1, 60) / 100, effect.budgetUsd ?? 1);
  for (const share of random.chance(0.7) ? [0.5, 1] : []) {
    job.later(Math.round(duration * share), () =>
      job.say({
        type: 'attempt.usage',
        ...{ task, attempt, costUsd: costUsd * share, inputTokens: 10, outputTokens: 10 },
      }),
    );
  }
  const finish = () => job.end(attemptEnd(universe, effect));
  const fail = (failure: Failure) =>
    job.endEarly({ type: 'attempt.failed', task, attempt, failure, exitCode: null });
  job.later(duration, finish);
  job.onStop((failure) =>
    job.later(random.between(0, 300), random.chance(0.2) ? finish : () => fail(failure)),
  );
}

function attemptEnd(universe: Universe, effect: Effect & { kind: 'attempt' }): Event {
  const { task, attempt, base, start } = effect;
  const { spec } = universe.book.page(task);
  const ending = attemptEnding(universe.seed, spec, universe.told.countOf('attempt', task));
  if (ending.kind === 'failed') {
    const failure = ending.failure(universe.wall);
    return { type: 'attempt.failed', task, attempt, failure, exitCode: 1 };
  }
  const parents = [base, start.kind === 'rework' ? start.commit : null].filter(
    (sha) => sha !== null,
  );
  const commit =
    ending.kind === 'work' ? universe.repo.commit(`${task}.${attempt}`, parents) : null;
  return {
    type: 'attempt.finished',
    ...{
      task,
      attempt,
      commit,
      files: commit === null ? [] : filesOf(universe.seed, spec),
      outside: [],
      exitCode: 0,
      text: `Done ${task}.${attempt}.`,
    },
  };
}

function beginMerge(
  universe: Universe,
  job: Job,
  effect: Effect & { kind: 'merge' },
  random: Random,
): void {
  const { task, commit, onto, ahead, lands, beside, landedSince } = effect;
  const { repo, book } = universe;
  const { landing } = book.plan;
  const delivers = landing.strategy === 'none';
  const isThere = ahead === null && repo.contains(repo.head, commit);
  const isDone = delivers ? repo.delivered.has(task) : isThere;
  let head: Sha | null = isDone ? repo.head : null;
  let lost: Failure | null = null;
  const pushed = landing.push ?? null;
  const landed = () =>
    job.end(
      delivers
        ? { type: 'work.delivered', task, commit, branch: `b/${task}`, pushed }
        : { type: 'merge.landed', task, onto, commit: head! },
    );
  if (head !== null) {
    universe.foundDone += 1;
    return job.later(random.between(0, 50), landed);
  }
  if (ahead === null && !delivers && repo.head !== onto) {
    rule(!job.place.holds, `${task} cannot land on ${onto}: somebody moved the head`);
    const failure = { kind: 'commit-failed', message: 'Another process moved it.' } as const;
    return job.endEarly({ type: 'merge.rejected', task, onto, failure });
  }
  if (clashes(universe, job, effect, random)) return;
  const ending = universe.landingOf(task);
  const isRejected = ending.kind === 'rejected' && (lands || ending.cause !== 'gate-failed');
  const duration = random.between(1, lands ? 300 : beside === true ? 600 : 20);
  if (isRejected) {
    const failure = ending.failure(landedSince);
    job.later(duration, () =>
      ahead === null
        ? job.end({ type: 'merge.rejected', task, onto, failure })
        : job.endEarly({ type: 'merge.withdrawn', task, ahead, why: failure.message }),
    );
  } else {
    const candidate = repo.candidate(commit, { onto, keeps: landing.strategy === 'merge' });
    if (lands) {
      job.move = () => {
        if (delivers) repo.deliver(task, commit);
        else if (!repo.land(onto, [{ task, commit: candidate }])) lost = beaten(universe);
        head = lost === null ? repo.head : null;
      };
    }
    const isSettled = random.chance(0.1);
    job.later(duration, () => {
      const files = [{ path: 'same.txt', how: 'memory', by: 'r0' }] as const;
      if (isSettled) job.say({ type: 'merge.settled', task, files });
      job.moveNow();
      if (job.over) return;
      if (lost !== null) return job.endEarly({ type: 'merge.rejected', task, onto, failure: lost });
      if (lands) return job.later(random.between(0, 40), landed);
      const spared = beside === true && !universe.isRed(candidate) && random.chance(0.3);
      if (spared) repo.green.add(candidate);
      const how = spared ? ({ spared } as const) : {};
      job.endEarly({ type: 'candidate.built', task, commit: candidate, tree: candidate, ...how });
    });
  }
  const giveUp = (failure: Failure) => {
    if (head === null) job.endEarly({ type: 'merge.rejected', task, onto, failure });
  };
  job.onStop((failure) => job.later(random.between(0, 200), () => giveUp(failure)));
}

/** Whether work goes back because names clash. In a calm world what was seen is over by then. */
function clashes(
  { calm, book }: Universe,
  job: Job,
  { task, onto, suspects = [] }: Effect & { kind: 'merge' },
  random: Random,
): boolean {
  const landedSince = suspects.map((each) => each.task);
  book.suspected(task, landedSince);
  if (suspects.length === 0) return false;
  if (calm || random.chance(0.5)) {
    for (const b of landedSince) job.say({ type: 'radar.semantic', a: task, b, names: [] });
    for (const a of landedSince) job.say({ type: 'radar.semantic', a, b: task, names: [] });
    return false;
  }
  const failure: Failure = { kind: 'semantic', message: 'Gone.', clashes: [], landedSince };
  job.later(random.between(1, 20), () => {
    job.endEarly({ type: 'merge.rejected', task, onto, failure });
  });
  const giveUp = (why: Failure) =>
    job.endEarly({ type: 'merge.rejected', task, onto, failure: why });
  job.onStop((why) => job.later(random.between(0, 20), () => giveUp(why)));
  return true;
}

/** Only an engine that lost its lease, or lost it to another, meets somebody at a ref. */
function beaten({ overtaken, repo }: Universe): Failure {
  rule(overtaken > 0, `somebody else moved the head to ${repo.head}`);
  return { kind: 'interrupted', message: 'Another process moved the branch.' };
}

/** Red with the work of whoever is to blame in it; and now and then by accident, once. */
function beginVerify(
  universe: Universe,
  job: Job,
  { task, commit, tree, again, unproven, landedSince }: Effect & { kind: 'verify' },
  random: Random,
): void {
  const { repo } = universe;
  const isAccident = !again && random.chance(0.1);
  const isBroken = !universe.calm && unproven.includes('tests') && random.chance(0.15);
  const attended = random.chance(0.5);
  job.say({ type: 'gate.started', task, gate: 'tests', tree });
  const isScoped = universe.plan.gates.some(({ paths }) => paths !== undefined);
  job.later(random.between(5, isScoped ? 12_000 : 3_000), () => {
    if (isBroken) {
      const said = { gate: 'tests', command: 'npm test', exitCode: 1, output: 'red' };
      return job.endEarly({ type: 'gate.broken', task, ...said, why: 'red', attended });
    }
    const isRed = isAccident || universe.isRed(commit);
    const output = isRed ? 'red' : '';
    if (!isRed) repo.green.add(commit);
    job.say({ type: 'gate.finished', task, gate: 'tests', tree, ok: !isRed, ms: 1, output });
    const failure: Failure | null = isRed
      ? { kind: 'gate-failed', message: 'It is red.', gate: 'tests', output, landedSince }
      : null;
    job.endEarly({ type: 'candidate.verified', task, commit, failure });
  });
  job.onStop(() => job.later(random.between(0, 100), () => job.vanish()));
}

function beginLand(
  universe: Universe,
  job: Job,
  { onto, candidates }: Effect & { kind: 'land' },
  random: Random,
): void {
  const { repo } = universe;
  const last = candidates.at(-1)!.commit;
  let lost: Failure | null = null;
  if (repo.head === last) universe.foundDone += 1;
  else {
    job.move = () => {
      if (!repo.land(onto, candidates) && repo.head !== last) lost = beaten(universe);
    };
  }
  job.later(random.between(1, 40), () => {
    job.moveNow();
    if (job.over) return;
    if (lost !== null) return refuse(job, { onto, candidates }, lost);
    job.later(random.between(0, 40), () => {
      let below = onto;
      for (const { task, commit } of candidates) {
        const fact = { type: 'merge.landed', task, onto: below, commit } as const;
        universe.told.add(fact);
        job.say(fact);
        below = commit;
      }
      job.vanish();
    });
  });
}

function refuse(
  job: Job,
  { onto, candidates: [first, ...others] }: Pick<Effect & { kind: 'land' }, 'onto' | 'candidates'>,
  failure: Failure,
): void {
  job.say({ type: 'merge.rejected', task: first!.task, onto, failure });
  for (const { task } of others) {
    job.say({ type: 'merge.withdrawn', task, ahead: null, why: failure.message });
  }
  job.vanish();
}

function beginPublish(
  universe: Universe,
  job: Job,
  { head, target, untold }: Effect & { kind: 'publish' },
  random: Random,
): void {
  const { repo } = universe;
  let moved = repo.contains(repo.target, head);
  if (moved) universe.foundDone += 1;
  const finish = () => {
    for (const task of untold) job.say({ type: 'work.proved', task, by: 'history', commits: [] });
    job.end({ type: 'publish.finished', target, commit: head, checkout: 'followed' });
  };
  const block = (why: string) => {
    if (!moved) job.end({ type: 'publish.blocked', why, remedy: 'git merge' });
  };
  const duration = random.between(5, 300);
  if (!moved && random.chance(0.2)) {
    job.later(duration, () => block('Changes are in the way.'));
  } else {
    job.move = moved
      ? null
      : () => {
          repo.publish(head);
          moved = true;
        };
    job.later(duration, () => {
      job.moveNow();
      job.later(random.between(0, 40), finish);
    });
  }
  job.onStop(({ message }) => job.later(random.between(0, 100), () => block(message)));
}
