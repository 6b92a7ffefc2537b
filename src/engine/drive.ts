/**
 * drive: one engine takes one run from wherever it is to its end.
 *
 *   D1. A resumed run first ends what the dead engine left running, and removes its locks.
 *   D2. No effect begins without the lease, and what cannot be taken back asks for it again.
 *   D3. An engine that has lost its run says that, whatever failed because of it.
 *   D4. Entries are in the order of their times, whoever sets the clock back.
 */

import { assert } from '../base/assert.ts';
import { SteadyClock } from '../base/steady-clock.ts';
import { answerCommand, takeCommands } from '../journal/commands.ts';
import type { Database } from '../journal/database.ts';
import { assertLease, type Lease, LeaseLostError } from '../journal/lease.ts';
import { Journal } from '../journal/log.ts';
import { catchUp, openRunBranch, repair } from '../merge/run-branch.ts';
import type { Command } from '../model/command.ts';
import type { Event } from '../model/event.ts';
import { apply, fold } from '../model/fold.ts';
import type { NewLimits } from '../model/new-limits.ts';
import type { RunState } from '../model/state.ts';
import type { Site } from '../worker/attempt.ts';
import { endLeftovers } from '../worker/leftovers.ts';
import { loop } from './loop.ts';
import { type RealWorld, realWorld } from './perform.ts';
import { reopen } from './recover.ts';
import type { Wish } from './world.ts';

export interface Drive {
  readonly db: Database;
  /** The first fact of a new run; null to go on with one that exists. */
  readonly started: (Event & { type: 'run.started' }) | null;
  /** The only tasks of a run that goes on to get a new chance; null for all that have failed. */
  readonly retry: (Command & { kind: 'retry' }) | null;
  /** New limits for a run that goes on. */
  readonly changed: NewLimits;
  /** Everything of the world but the commands of other processes, which need the lease. */
  readonly world: Omit<RealWorld, 'commands' | 'agents' | 'now' | 'assertHeld'>;
  /** Wishes from this process: signals. */
  readonly signals: () => readonly Command[];
}

/** Drives the run to its end; whoever calls holds its lease. */
export async function drive(order: Drive, lease: Lease, signal: AbortSignal): Promise<RunState> {
  try {
    return await driveOn(order, lease, signal);
  } catch (error) {
    throw lossOf(order.db, lease) ?? error;
  }
}

function lossOf(db: Database, lease: Lease): LeaseLostError | null {
  try {
    assertLease(db, lease);
  } catch (error) {
    if (error instanceof LeaseLostError) return error;
  }
  return null;
}

async function driveOn(order: Drive, lease: Lease, signal: AbortSignal): Promise<RunState> {
  const { db, started, world } = order;
  const journal = started === null ? Journal.open(db, lease) : Journal.create(db, lease);
  if (started === null) await takeOver(world.site, signal);
  const entries = started === null ? journal.read(0) : [];
  const before = started === null ? fold(entries) : null;
  const clock = new SteadyClock(entries.at(-1)?.at ?? 0);
  const facts = before === null ? opening(started) : await reopening(order, before, signal);
  const first = journal.append(facts, clock.now());
  const state = first.reduce<RunState | null>(apply, before);
  assert(state !== null, 'a run begins with a fact');
  world.recorded(first);
  if (world.site.ground !== null && state.head !== null) {
    await openRunBranch(world.site.ground, state.head, signal);
  }
  const real = realWorld({
    ...world,
    now: () => clock.now(),
    assertHeld: () => assertLease(db, lease),
    agents: (name) => world.site.agentNamed(name).can,
    commands: () => [...order.signals().map(unasked), ...sentCommands(db, lease)],
  });
  return loop(state, journal, real, signal);
}

/** What the engine before left is ended and mended before anything is done. */
export async function takeOver({ run, ground }: Site, signal: AbortSignal): Promise<void> {
  await endLeftovers(run, signal);
  if (ground !== null) await repair(ground, signal);
}

/** A resumed run goes on from where its target is, with what a person has landed meanwhile. */
async function reopening(
  { world, changed, retry }: Drive,
  before: RunState,
  signal: AbortSignal,
): Promise<readonly Event[]> {
  const { ground } = world.site;
  const meanwhile = ground === null ? null : await catchUp(ground, before, signal);
  return reopen(before, { meanwhile, retry, changed });
}

function opening(started: Drive['started']): readonly Event[] {
  assert(started !== null, 'a new run has a first fact');
  return [started];
}

/** Wishes of other processes; whoever sent one waits for the answer. */
function sentCommands(db: Database, lease: Lease): readonly Wish[] {
  return takeCommands(db, lease, Date.now()).map(({ id, command }) => ({
    command,
    answer: (answer) => answerCommand(db, id, answer),
  }));
}

/** A signal expects no answer. */
function unasked(command: Command): Wish {
  return { command, answer: () => {} };
}
