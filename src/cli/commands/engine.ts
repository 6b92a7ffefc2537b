/**
 * `landfast engine`: what a detached run is driven by. Landfast starts it itself, with an order on
 * standard input; it is not for people and not in the help.
 */

import { text } from 'node:stream/consumers';
import { orderedExecution } from '../../app/detach.ts';
import { UserError } from '../../base/errors.ts';
import type { Program, Wrap } from '../options.ts';
import type { DetachedOrder } from '../terminal/detach.ts';
import { driveRun } from '../terminal/drive.ts';
import { NEVER, placeAt } from '../terminal/host.ts';

export function describe(program: Program, wrap: Wrap): void {
  program.command('engine', { hidden: true }).action(wrap(() => engine()));
}

async function engine(): Promise<number> {
  const { how, ...order } = await readOrder();
  const place = await placeAt(how.projectDir, NEVER);
  return await driveRun(orderedExecution(order, place), how);
}

/** Whoever started us may have been killed while it wrote: then there is nothing to do. */
async function readOrder(): Promise<DetachedOrder> {
  const wrong = new UserError(
    'landfast engine is started by landfast itself, with an order on standard input.',
    'Use landfast run PLAN --detach.',
  );
  if (process.stdin.isTTY === true) throw wrong;
  try {
    return JSON.parse(await text(process.stdin)) as DetachedOrder;
  } catch (error) {
    throw error instanceof SyntaxError ? wrong : error;
  }
}
