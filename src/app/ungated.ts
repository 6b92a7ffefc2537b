/** Says that work will land untested: once, when a run begins. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { trySystem } from '../base/errors.ts';
import { filesIn } from '../git/untracked.ts';
import type { Plan } from '../model/plan.ts';
import { projectGate } from '../plan/config/discover.ts';
import type { Place } from './place.ts';

/** Nothing is said where nothing lands, or where the plan says that nothing is to be verified. */
export function tellUngated(plan: Plan, { dir, host }: Place): void {
  const { gates, landing, tasks } = plan;
  const isMeant = landing.verify === 'off' || landing.strategy === 'none';
  if (gates.length > 0 || isMeant) return;
  if (!tasks.some(({ mode }) => mode === 'write')) return;
  const run = projectGate(filesAt(dir))?.run ?? 'npm test';
  host.warn(
    `There is no gate: nothing is tested before it lands.
  To add one to landfast.yaml: gates: [{ name: tests, run: ${run} }]`,
  );
}

/** The files of a project that git knows, for what is found out about it. */
export async function projectFiles(
  { repository, dir }: Place,
  signal: AbortSignal,
): Promise<Parameters<typeof projectGate>[0]> {
  const paths = repository === null ? [] : await filesIn(dir, signal);
  return { paths, read: readerIn(dir) };
}

/** Those of the root: they tell enough for an example. */
function filesAt(dir: string): Parameters<typeof projectGate>[0] {
  return { paths: trySystem(() => readdirSync(dir), []), read: readerIn(dir) };
}

function readerIn(dir: string): (path: string) => string | null {
  return (path) => trySystem(() => readFileSync(join(dir, path), 'utf8'), null);
}
