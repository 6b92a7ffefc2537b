/**
 * The worker port: who makes attempts and removes workspaces. Today that is this process; a host
 * elsewhere implements the same two functions. Effects go in and facts come out as plain JSON;
 * commits cross by a Transport.
 */

import { OperationalError } from '../base/errors.ts';
import type { AttemptEffect, Emit, ReleaseEffect } from '../model/effect.ts';
import type { Event } from '../model/event.ts';
import { endMarked } from '../process/process-tree.ts';
import { sweepScratch } from '../process/scratch.ts';
import { attempt, type Site } from './attempt.ts';
import { release } from './release.ts';

export interface Worker {
  /**
   * Prepares the workspace, runs the agent, judges and commits. The last fact is `attempt.finished`
   * or `attempt.failed`. Aborting ends the agent; the work stays.
   */
  attempt(effect: AttemptEffect, emit: Emit, signal: AbortSignal): Promise<void>;
  /** Removes the workspace if its work is safe; the one fact says whether it did. */
  release(effect: ReleaseEffect, report: (fact: Event) => void, signal: AbortSignal): Promise<void>;
}

export function localWorker(site: Site): Worker {
  return {
    attempt: (effect, emit, signal) => attempt(site, effect, emit, signal),
    release: (effect, report, signal) => release(site.context, effect, report, signal),
  };
}

/**
 * Ends every process that a dead engine left running for the run, and removes its temp folders. No
 * second agent may work beside them.
 */
export async function endLeftovers(run: string, signal: AbortSignal): Promise<void> {
  const left = await endMarked(`${run}/`, signal);
  if (left.length === 0) return sweepScratch(run);
  const pids = left.map(({ pid }) => pid).join(', ');
  throw new OperationalError(`Processes of the interrupted run could not be ended: ${pids}.`, {
    remedy: `End them yourself (kill -9 ${pids.replaceAll(',', '')}), then resume again.`,
  });
}
