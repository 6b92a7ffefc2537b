/** The run of a plan that is named by its folder or file; before any run, its tasks wait. */

import { existsSync } from 'node:fs';
import type { Database } from '../journal/database.ts';
import { listRuns } from '../journal/journal.ts';
import type { Plan } from '../model/plan.ts';
import { count } from '../report/format.ts';
import { jsonText } from '../report/json.ts';
import { findConfig } from './config-files.ts';
import { isLive } from './find-run.ts';
import { loadPlan, planFile } from './load-plan.ts';
import type { Place } from './place.ts';

/** Whether what a user named is a folder with a plan, and no run. */
export function isPlanFolder(name: string | undefined, { host }: Place): name is string {
  return name !== undefined && planFile(name, host) !== name && existsSync(planFile(name, host));
}

/** The plan of a folder; null inside an agent of the same plan. */
export async function planOf(
  folder: string,
  place: Place,
  signal: AbortSignal,
): Promise<Plan | null> {
  const config = await findConfig(place, signal);
  const from = { root: place.dir, host: place.host, format: null, config };
  return loadPlan(folder, from)?.plan ?? null;
}

/** The live run of a plan with this name, else the one made last; null before the first. */
export function runOfPlan(db: Database | null, name: string): string | null {
  if (db === null) return null;
  const rows = listRuns(db).filter(({ planName }) => planName === name);
  return (rows.find(({ run }) => isLive(db, run)) ?? rows[0])?.run ?? null;
}

/** What there is to say of a plan that has never run. */
export function pendingText(plan: Plan, json: boolean): string {
  const tasks = plan.tasks.map(({ id, wave = null }) => ({ id, wave, state: 'pending' }));
  if (json) return jsonText({ run: null, name: plan.name, outcome: null, tasks });
  const width = Math.max(...tasks.map(({ id }) => id.length));
  const lines = tasks.map(({ id, wave, state }) => {
    return `  ${wave === null ? '      ' : `wave ${wave}`}  ${id.padEnd(width)}  ${state}`;
  });
  return `${[`${plan.name}: no run yet, ${count(tasks.length, 'task')} pending`, ...lines].join('\n')}\n`;
}
