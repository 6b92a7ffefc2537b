/** The newest run of a plan that is named by its folder or file; before any run, its tasks wait. */

import { existsSync } from 'node:fs';
import type { Database } from '../journal/database.ts';
import { listRuns } from '../journal/log.ts';
import type { Plan } from '../model/plan.ts';
import { count } from '../report/format.ts';
import { jsonText } from '../report/json.ts';
import { findConfig } from './config-files.ts';
import { loadPlan, planFile } from './load-plan.ts';
import type { Place } from './place.ts';

/** Whether what a user named is a folder with a plan, and no run. */
export function isPlanFolder(name: string | undefined): name is string {
  return name !== undefined && planFile(name) !== name && existsSync(planFile(name));
}

/** The plan of a folder; null where it has errors, which have been shown. */
export async function planOf(
  folder: string,
  place: Place,
  signal: AbortSignal,
): Promise<Plan | null> {
  const config = await findConfig(place, signal);
  if (config === null) return null;
  return loadPlan(folder, { root: place.dir, format: null, config }).plan;
}

/** The newest run of a plan with this name; null before the first. */
export function newestRunNamed(db: Database | null, name: string): string | null {
  if (db === null) return null;
  return listRuns(db).find(({ planName }) => planName === name)?.run ?? null;
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
