/**
 * The loop: fold, decide, record, perform. The only place where facts become entries.
 *
 *   L1. Record, then perform: an effect starts only after the fact that announces it is durable.
 *   L2. One wait per turn; everything between two waits is synchronous, so nobody sees half a turn.
 *   L3. When the loop returns or throws, nothing it started is running.
 */

import { Group } from '../base/group.ts';
import { Inbox } from '../base/inbox.ts';
import { type Effect, keyOf } from '../model/effect.ts';
import type { Event } from '../model/event.ts';
import { apply } from '../model/fold.ts';
import type { RunState } from '../model/state.ts';
import { decide } from '../schedule/decide.ts';
import { respond, stopsFor } from './commands.ts';
import { Hearing } from './hearing.ts';
import { recover } from './recover.ts';
import type { Log, Wish, World } from './world.ts';

/** How long a command may wait to be seen. */
const TICK_MS = 100;

/** Drives a run until it is finished, from its first decision or from wherever it was left. */
export async function loop(
  begun: RunState,
  log: Log,
  world: World,
  signal: AbortSignal,
): Promise<RunState> {
  let state = begun;
  const inbox = new Inbox<Event>();
  const group = new Group(signal);
  const running = new Map<string, AbortController>();
  const send = (fact: Event): void => inbox.send(fact);
  const record = (events: readonly Event[]): void => {
    if (events.length === 0) return;
    const entries = log.append(events, world.now());
    for (const entry of entries) state = apply(state, entry);
    world.recorded(entries);
    const stops = events.flatMap((event) => stopsFor(event, [...running.keys()]));
    for (const { key, reason } of stops) running.get(key)?.abort(reason);
    world.suspend(state.paused?.suspended === true);
  };
  const grant = ({ command, answer }: Wish): void => {
    const response = respond(command, state);
    if (response.kind === 'refused') return answer(response);
    record(response.events);
    answer({ kind: 'accepted' });
  };
  const perform = (effect: Effect): void => {
    const stop = new AbortController();
    running.set(keyOf(effect), stop);
    const hearing = new Hearing(effect, send);
    group.start(async (ended) => {
      const stopped = AbortSignal.any([ended, stop.signal]);
      await world.perform(effect, (fact) => hearing.hear(fact), stopped);
      hearing.close(stopped);
      if (running.get(keyOf(effect)) === stop) running.delete(keyOf(effect));
    });
  };

  const watch = new AbortController();
  const sight = AbortSignal.any([group.signal, watch.signal]);
  group.start(() => world.observe(() => state, send, sight));
  try {
    const unfinished = recover(state);
    record(unfinished.facts);
    for (const effect of unfinished.effects) perform(effect);
    while (state.outcome === null && !group.signal.aborted) {
      const { decisions, wakeAt } = decide(state, world.now(), world.agents, world.machine());
      record(decisions.map((decision) => decision.record));
      for (const { perform: effect } of decisions) if (effect !== undefined) perform(effect);
      if (decisions.length > 0) continue; // A failed task may have failed the tasks that need it.
      const facts = await nextFacts(inbox, world, wakeAt, group.signal);
      record(facts);
      for (const wish of world.commands()) grant(wish);
    }
  } finally {
    watch.abort('over');
    for (const stop of running.values()) stop.abort('interrupted');
    await group.settle();
  }
  return state;
}

async function nextFacts(
  inbox: Inbox<Event>,
  world: World,
  wakeAt: number | null,
  signal: AbortSignal,
): Promise<readonly Event[]> {
  const patience = new AbortController();
  const ms = Math.min(TICK_MS, Math.max(0, (wakeAt ?? Number.POSITIVE_INFINITY) - world.now()));
  try {
    return await inbox.takeAll(world.sleep(ms, AbortSignal.any([signal, patience.signal])));
  } finally {
    patience.abort('over'); // A reason of our own spares making an error each turn.
  }
}
