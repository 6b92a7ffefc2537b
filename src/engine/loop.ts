/**
 * The loop: fold, decide, record, perform.
 *
 * - Record, then perform: an effect starts only after the fact that announces it is durable.
 * - One wait and one transaction per turn; everything between two waits is synchronous, so half a
 *   turn is never seen.
 * - When the loop returns or throws, nothing it started is running.
 */

import { Group } from '../base/group.ts';
import { Inbox } from '../base/inbox.ts';
import { timedNow } from '../base/timing.ts';
import { type Effect, keyOf } from '../model/effect.ts';
import type { Event } from '../model/event.ts';
import { isHalted, type RunState } from '../model/state.ts';
import { decide } from '../schedule/decide.ts';
import { respond, stopsFor } from './commands.ts';
import { EffectReports } from './effect-reports.ts';
import { Ledger } from './ledger.ts';
import { recover } from './recover.ts';
import type { Log, ReceivedCommand, World } from './world.ts';

/** How long a command may wait to be seen. */
const TICK_MS = 100;

const SCHEDULE = { kind: 'schedule', of: null, name: 'schedule' };

/** Drives a run until it is finished, from its first decision or from wherever it was left. */
export async function loop(
  begun: RunState,
  log: Log,
  world: World,
  signal: AbortSignal,
): Promise<RunState> {
  const inbox = new Inbox<Event>();
  const group = new Group(signal);
  const send = (fact: Event): void => inbox.send(fact);
  const effects = new Effects(group, world, send);
  const ledger = new Ledger(begun, log, world);
  const watch = new AbortController();
  const sight = AbortSignal.any([group.signal, watch.signal]);
  group.start(() => world.observe(() => ledger.state, send, sight));
  try {
    const unfinished = recover(begun);
    // They were recorded long ago; what the first turn records may stop them.
    for (const effect of unfinished.effects) effects.perform(effect);
    for (const fact of unfinished.facts) ledger.add(fact);
    while (ledger.state.outcome === null && !group.signal.aborted) {
      const wakeAt = turn({ ledger, effects, world });
      if (ledger.state.outcome !== null) break;
      for (const fact of await nextFacts(inbox, world, wakeAt, sight)) ledger.add(fact);
      for (const received of world.commands()) grant(received, { ledger, world });
    }
    ledger.record();
  } finally {
    watch.abort('over');
    effects.stopAll();
    await group.settle();
  }
  return ledger.state;
}

interface Parts {
  readonly ledger: Ledger;
  readonly effects: Effects;
  readonly world: World;
}

/** Everything that can be decided now is recorded at once, and only then performed. */
function turn({ ledger, effects, world }: Parts): number | null {
  const due: Effect[] = [];
  for (;;) {
    const [{ state }, machine] = [ledger, world.machine()];
    const { decisions, wakeAt } = timedNow(SCHEDULE, () =>
      decide(state, world.now(), world.agents, machine),
    );
    for (const decision of decisions) {
      ledger.add(decision.record);
      if (decision.perform !== undefined) due.push(decision.perform);
    }
    // A failed task may have failed the tasks that need it.
    if (decisions.length > 0 && ledger.state.outcome === null) continue;
    const recorded = ledger.record();
    for (const event of recorded) effects.stopFor(event);
    const known = ledger.state;
    world.suspend((task) => isHalted(known, task));
    for (const effect of due.splice(0)) effects.perform(effect);
    if (ledger.state.outcome !== null) return null;
    // Recording takes its time, in which more may have become possible.
    const isSame = world.machine() === machine && (wakeAt === null || world.now() < wakeAt);
    if (isSame || recorded.length === 0) return wakeAt;
  }
}

/** Facts become true here, and answers are given when they are recorded. */
function grant(
  { command, answer }: ReceivedCommand,
  { ledger, world }: Omit<Parts, 'effects'>,
): void {
  const response = respond(command, ledger.state, world.agents);
  if (response.kind === 'refused') return answer(response);
  for (const event of response.events) ledger.add(event);
  ledger.whenRecorded(() => answer({ kind: 'accepted' }));
}

/** The effects that are being performed. */
class Effects {
  readonly #group: Group;
  readonly #world: World;
  readonly #send: (fact: Event) => void;
  readonly #running = new Map<string, AbortController>();

  constructor(group: Group, world: World, send: (fact: Event) => void) {
    this.#group = group;
    this.#world = world;
    this.#send = send;
  }

  perform(effect: Effect): void {
    const key = keyOf(effect);
    const stop = new AbortController();
    this.#running.set(key, stop);
    const reports = new EffectReports(effect, this.#send);
    this.#group.start(async (ended) => {
      const stopped = AbortSignal.any([ended, stop.signal]);
      await this.#world.perform(effect, (fact) => reports.accept(fact), stopped);
      reports.close(stopped);
      if (this.#running.get(key) === stop) this.#running.delete(key);
    });
  }

  /** Ends those that a recorded event makes useless. */
  stopFor(event: Event): void {
    for (const { key, reason } of stopsFor(event, [...this.#running.keys()])) {
      this.#running.get(key)?.abort(reason);
    }
  }

  stopAll(): void {
    for (const stop of this.#running.values()) stop.abort('interrupted');
  }
}

async function nextFacts(
  inbox: Inbox<Event>,
  world: World,
  wakeAt: number | null,
  signal: AbortSignal,
): Promise<readonly Event[]> {
  if (!inbox.isEmpty) return inbox.takeAll(Promise.resolve());
  const ms = Math.min(TICK_MS, Math.max(0, (wakeAt ?? Number.POSITIVE_INFINITY) - world.now()));
  return inbox.takeAll(world.sleep(ms, signal));
}
