/** All runs of a case, each in a repository of its own. The rules are in run.ts. */

import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Case, Entrant } from './cases.ts';
import { copyTemplate, countingGit, type Ground, git, makeTemplate } from './ground.ts';
import { DishonestError, inspect } from './inspect.ts';
import { type Order, type Times, timeCommand, watchMemory } from './measure.ts';
import type { Cost } from './results.ts';

const RUN_LIMIT_MS = 20 * 60_000;

/** Measures a case: by the name of each entrant, what it cost. */
export async function measureCase(
  ground: Ground,
  { name, entrants }: Pick<Case, 'name' | 'entrants'>,
  rounds: number,
  signal: AbortSignal,
): Promise<Readonly<Record<string, Cost>>> {
  const trees = new Map<string, string>();
  const templates = new Map<number, string>();
  for (const { work } of entrants) {
    if (templates.has(work.files)) continue;
    templates.set(work.files, await makeTemplate(ground, work.files, signal));
  }
  const run = async <T>(entrant: Entrant, measure: Measure<T>): Promise<T> => {
    const template = templates.get(entrant.work.files) ?? '';
    const { cost, tree } = await runOnce(ground, { ...entrant, template }, measure, signal);
    const tasks = entrant.work.tasks.map(({ id }) => id).join(' ');
    const other = trees.get(tasks) ?? tree;
    trees.set(tasks, tree);
    if (tree === other) return cost;
    throw new DishonestError(`${entrant.name} reached the tree ${tree}, not ${other}`);
  };
  const say = ({ name: entrant }: Entrant, text: string): void =>
    console.error(`${name}: ${entrant} ${text}`);
  const costs: Record<string, Cost & { readonly runs: Times[] }> = {};
  for (const entrant of entrants) {
    const watch: Measure<Omit<Cost, 'runs'>> = async (order, stop) => {
      const { answer, gitProcesses } = await countingGit(ground, () => watchMemory(order, stop));
      return { memory: answer, gitProcesses };
    };
    costs[entrant.name] = { runs: [], ...(await run(entrant, watch)) };
    say(entrant, 'watched');
  }
  for (let round = 1; round <= rounds; round += 1) {
    for (const entrant of entrants) {
      const times = await run(entrant, timeCommand);
      costs[entrant.name]?.runs.push(times);
      const { wallMs, cpuMs } = times;
      say(entrant, `${(wallMs / 1000).toFixed(2)} s, CPU ${(cpuMs / 1000).toFixed(2)} s`);
    }
  }
  for (const template of templates.values()) await rm(template, { recursive: true });
  return costs;
}

type Measure<T> = (order: Order, signal: AbortSignal) => Promise<T>;

/** One run in a repository of its own, which is gone afterwards. */
async function runOnce<T>(
  ground: Ground,
  { by, work, template }: Entrant & { readonly template: string },
  measure: Measure<T>,
  signal: AbortSignal,
): Promise<{ readonly cost: T; readonly tree: string }> {
  const dir = join(ground.dir, 'run');
  const repository = join(dir, 'repository');
  await mkdir(dir);
  await copyTemplate(ground, template, repository, signal);
  const start = await git(ground, repository, ['rev-parse', 'main'], signal);
  const job = { ...work, repository, start };
  const command = await by.command(job, ground, signal);
  const cost = await measure({ command, env: ground.env, dir }, limited(signal));
  const tree = await inspect(ground, by, job, signal);
  await rm(dir, { recursive: true });
  return { cost, tree };
}

/** Something that hangs must not hang the benchmark. */
function limited(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(RUN_LIMIT_MS)]);
}
