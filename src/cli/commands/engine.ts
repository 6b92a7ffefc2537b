/**
 * `landfast engine`: what a detached run is driven by. Landfast starts it itself, with an order on
 * standard input; it is not for people and not in the help.
 */

import { text } from 'node:stream/consumers';
import { UserError } from '../../base/errors.ts';
import { openDatabase } from '../../journal/database.ts';
import { readEntries } from '../../journal/journal.ts';
import { fold } from '../../model/fold.ts';
import type { EngineOrder } from '../detach.ts';
import type { Program, Wrap } from '../options.ts';
import { driveRun } from '../terminal/drive.ts';
import { placeAt } from '../terminal/host.ts';

/** Describes the command for the command line and its help. */
export function describe(program: Program, wrap: Wrap): void {
  program.command('engine', { hidden: true }).action(wrap(() => engine()));
}

/** Executes the order that comes on standard input. */
export async function engine(): Promise<number> {
  const order = await readOrder();
  const place = await placeAt(order.how.projectDir, new AbortController().signal);
  using db = openDatabase(place.stateDir);
  const before = order.started === null ? fold(readEntries(db, order.run, 0)) : null;
  const { how, ...rest } = order;
  return await driveRun({ ...rest, place, db, before }, how);
}

/** Whoever started us may have been killed while it wrote: then there is nothing to do. */
async function readOrder(): Promise<EngineOrder> {
  const wrong = new UserError(
    'landfast engine is started by landfast itself, with an order on standard input.',
    'Use landfast run PLAN --detach.',
  );
  if (process.stdin.isTTY === true) throw wrong;
  try {
    return JSON.parse(await text(process.stdin)) as EngineOrder;
  } catch (error) {
    throw error instanceof SyntaxError ? wrong : error;
  }
}
