/** Tasks in the user's own words become a plan. */

import { createHash } from 'node:crypto';
import { branchNames } from '../git/refs.ts';
import { openForReading } from '../journal/database.ts';
import { listRuns } from '../journal/journal.ts';
import type { LimitChanges, TaskId } from '../model/plan.ts';
import type { Config } from '../plan/config/schema.ts';
import { conventionsFor, type Spawn, spawnPlan } from '../plan/spawn-plan.ts';
import { isCoding } from './agents.ts';
import { findConfig } from './config-files.ts';
import type { Place } from './place.ts';
import { adjust } from './plan-flags.ts';
import { readState } from './runs.ts';
import type { NewPlan } from './start-run.ts';

export interface SpawnWish extends Omit<Spawn, 'config' | 'home' | 'taken'> {
  readonly target?: string | undefined;
  readonly limits: LimitChanges;
}

/** The plan of a wish, and its limits: no more workers than the configuration allows. */
export async function planSpawn(
  wish: SpawnWish,
  place: Place,
  signal: AbortSignal,
): Promise<NewPlan & { readonly limits: LimitChanges }> {
  const config = await findConfig(place, signal);
  const taken = await takenIds(place, config, signal);
  const wanted = spawnPlan({ ...wish, config, home: place.host.home, taken });
  const limits = boundedBy(config, wish.limits, place);
  const { target } = wish;
  const plan = adjust(wanted, { limits, ...(target === undefined ? {} : { target }) }, isCoding);
  const hash = createHash('sha256').update(JSON.stringify(wish.prompts)).digest('hex');
  return { plan, hash, limits };
}

function boundedBy({ max_parallel: most }: Config, limits: LimitChanges, { host }: Place) {
  if (limits.workers === undefined || most === undefined || most >= limits.workers) return limits;
  host.warn(`max_parallel is ${most}: at most that many run at a time.`);
  return { ...limits, workers: most };
}

/** Without the run in their names, branches and folders of earlier runs would be met again. */
async function takenIds(
  { repository, stateDir }: Place,
  config: Config,
  signal: AbortSignal,
): Promise<ReadonlySet<TaskId>> {
  const { branch_prefix: prefix } = config;
  if (prefix === undefined || repository === null) return new Set();
  const branches = await branchNames(repository.commonDir, `refs/heads/${prefix}/`, signal);
  const { branch } = conventionsFor(prefix);
  using db = openForReading(stateDir);
  const open = db === null ? [] : listRuns(db).filter(({ outcome }) => outcome === null);
  const waiting = open.flatMap(({ run }) => {
    const { plan } = readState(db!, run);
    return plan.conventions.branch === branch ? plan.tasks.map(({ id }) => id) : [];
  });
  return new Set([...branches.map((name) => name.slice(prefix.length + 1)), ...waiting]);
}
