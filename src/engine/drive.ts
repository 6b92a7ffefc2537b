/**
 * drive: one engine takes one run from wherever it is to its end.
 *
 * - A resumed run first ends what the dead engine left running, and removes its locks.
 * - No effect begins without the lease, and what cannot be undone checks it again. An engine that
 *   has lost its run says that, whatever failed because of it.
 * - Entries are in the order of their times, even if the clock is set back.
 */

import { assert } from '../base/assert.ts';
import { SteadyClock } from '../base/steady-clock.ts';
import { answerCommand, takeCommands } from '../journal/commands.ts';
import type { Database } from '../journal/database.ts';
import { Journal } from '../journal/journal.ts';
import { assertLease, type Lease, LeaseLostError } from '../journal/lease.ts';
import type { Mask } from '../journal/mask.ts';
import { catchUp, mendedWork, openRunBranch, repair } from '../merge/run-branch.ts';
import type { Command, ReopeningCommand } from '../model/command.ts';
import type { Event } from '../model/event.ts';
import { apply, fold } from '../model/fold.ts';
import type { LimitChanges } from '../model/plan.ts';
import type { RunState } from '../model/state.ts';
import type { Site } from '../worker/attempt.ts';
import { endLeftovers } from '../worker/worker.ts';
import { loop } from './loop.ts';
import { type RealWorld, realWorld } from './perform.ts';
import { type EditedPlan, reopen } from './recover.ts';
import type { ReceivedCommand } from './world.ts';

export interface Drive {
  readonly db: Database;
  /** Keeps secrets out of the journal, and so out of everything that is shown of the run. */
  readonly mask: Mask;
  /** The first fact of a new run; null to resume one. */
  readonly started: (Event & { type: 'run.started' }) | null;
  /** The command that a resumed run begins with; null to retry all failed tasks. */
  readonly retry: ReopeningCommand | null;
  /** A person is at the terminal and can answer. */
  readonly attended: boolean;
  /** New limits for a resumed run. */
  readonly changed: LimitChanges;
  /** An edited plan for a resumed run; null to keep its plan. */
  readonly next: EditedPlan | null;
  /** The world without the commands of other processes, which need the lease. */
  readonly world: Omit<RealWorld, 'commands' | 'agents' | 'now' | 'assertHeld'>;
  /** Commands from this process: signals. */
  readonly signals: () => readonly Command[];
}

/** Drives the run to its end; the caller holds its lease. */
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
  const { db, mask, started, world } = order;
  const journal =
    started === null ? Journal.open(db, lease, mask) : Journal.create(db, lease, mask);
  if (started === null) await takeOver(world.site, signal);
  const entries = started === null ? journal.read(0) : [];
  const before = started === null ? fold(entries) : null;
  const clock = new SteadyClock(entries.at(-1)?.at ?? 0);
  const facts = before === null ? opening(order) : await reopening(order, before, signal);
  const first = journal.append(facts, clock.now());
  const state = first.reduce<RunState | null>(apply, before);
  assert(state !== null, 'a run begins with a fact');
  world.recorded(first);
  if (world.site.context !== null && state.head !== null) {
    await openRunBranch(world.site.context, state.head, signal);
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

/** Ends and repairs what the previous engine left, before anything else. */
export async function takeOver({ run, context }: Site, signal: AbortSignal): Promise<void> {
  await endLeftovers(run, signal);
  if (context !== null) await repair(context, signal);
}

/** A resumed run continues from its target, with what a person has landed meanwhile. */
async function reopening(
  { world, changed, retry, next, attended }: Drive,
  before: RunState,
  signal: AbortSignal,
): Promise<readonly Event[]> {
  const { context } = world.site;
  const mended = context === null ? [] : await mendedWork(context, before, signal);
  const meanwhile = context === null ? null : await catchUp(context, before, mended, signal);
  return reopen(before, { meanwhile, retry, changed, next, mended, attended });
}

function opening({ started, attended }: Drive): readonly Event[] {
  assert(started !== null, 'a new run has a first fact');
  return [attended ? { ...started, attended } : started];
}

/** Commands of other processes, which wait for the answer. */
function sentCommands(db: Database, lease: Lease): readonly ReceivedCommand[] {
  return takeCommands(db, lease, Date.now()).map(({ id, command }) => ({
    command,
    answer: (answer) => answerCommand(db, id, answer),
  }));
}

/** A signal expects no answer. */
function unasked(command: Command): ReceivedCommand {
  return { command, answer: () => {} };
}
