/** The small shells that start git and scripts for an engine (ADR 0009). */

import { closeGitShells, openGitShells } from '../git/git.ts';
import type { Plan } from '../model/plan.ts';
import { closeLaunchers, openLaunchers } from '../process/launcher.ts';
import { closeStarter, openStarter } from '../process/starter.ts';

/** A run of fewer tasks needs so few shells that starting them by another one takes longer. */
const MANY_TASKS = 4;

export function openShells(run: string, { tasks }: Plan): void {
  if (tasks.length >= MANY_TASKS) openStarter(run);
  openGitShells(run);
  openLaunchers(run);
}

/** Waits until all of them are gone. */
export async function closeShells(): Promise<void> {
  await Promise.all([closeLaunchers(), closeGitShells()]);
  await closeStarter();
}
