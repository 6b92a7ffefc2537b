/** The small shells that start git and scripts for an engine (ADR 0009). */

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { closeGitShells, openGitShells } from '../git/git.ts';
import type { Repository } from '../git/repository.ts';
import type { Plan } from '../model/plan.ts';
import { closeLaunchers, openLaunchers } from '../process/launcher.ts';
import { closeStarter, openStarter } from '../process/starter.ts';

/** As many shells as workers are needed at once; fewer are started in less time one by one. */
const MANY_WORKERS = 12;
/** That of a thousand files: what the engine reads makes it larger, and starting one dearer. */
const LARGE_INDEX_BYTES = 100_000;

/** Opens them. Where there will be many, or the engine will be large, a starter starts them. */
export function openShells(run: string, { limits, tasks }: Plan, repository: Repository | null) {
  const atOnce = Math.min(limits.workers, tasks.length);
  const isLarge = repository !== null && indexBytes(repository) > LARGE_INDEX_BYTES;
  if (atOnce > MANY_WORKERS || (isLarge && tasks.length > 1)) openStarter(run);
  openGitShells(run);
  openLaunchers(run);
}

function indexBytes({ commonDir }: Repository): number {
  return statSync(join(commonDir, 'index'), { throwIfNoEntry: false })?.size ?? 0;
}

/** Waits until all of them are gone. */
export async function closeShells(): Promise<void> {
  await Promise.all([closeLaunchers(), closeGitShells()]);
  await closeStarter();
}
