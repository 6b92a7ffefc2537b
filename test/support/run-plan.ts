/** One plan, run to its end in a repository by the built program. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openForReading } from '../../src/journal/database.ts';
import { findRun } from '../../src/journal/journal.ts';
import type { Event } from '../../src/model/event.ts';
import { type Ended, landfast, type Options } from './landfast.ts';
import { nativePlan, type PlanParts } from './native-plan.ts';
import type { TempRepo } from './temp-repo.ts';

export interface PlanRun extends Ended {
  readonly facts: readonly Event[];
  /** The facts of one type, and of one task if it is named. */
  of<T extends Event['type']>(type: T, task?: string): readonly Extract<Event, { type: T }>[];
  /** How a task failed for good. */
  failure(task: string): Extract<Event, { type: 'task.failed' }>['failure'] | undefined;
  readonly run: string;
}

/** Writes the plan beside the repository and runs it with `--events`. */
export async function runPlan(
  repo: TempRepo,
  plan: PlanParts | string,
  more: { readonly args?: readonly string[]; readonly cwd?: string } & Pick<Options, 'env'> = {},
): Promise<PlanRun> {
  const file = join(repo.outside, 'plan.yaml');
  writeFileSync(file, typeof plan === 'string' ? plan : nativePlan(plan));
  const args = ['run', file, '--events', ...(more.args ?? [])];
  const cwd = more.cwd ?? repo.dir;
  const ended = await landfast(args, { cwd, env: { HOME: repo.outside, ...more.env } });
  const lines = ended.stdout.split('\n').slice(0, -1);
  const facts = lines.map((line) => (JSON.parse(line) as { event: Event }).event);
  const of: PlanRun['of'] = (type, task) =>
    facts.filter(
      (fact): fact is Extract<Event, { type: typeof type }> =>
        fact.type === type && (task === undefined || ('task' in fact && fact.task === task)),
    );
  return {
    ...ended,
    facts,
    of,
    failure: (task) => of('task.failed', task)[0]?.failure,
    run: newestRun(join(repo.commonDir, 'landfast')),
  };
}

function newestRun(stateDir: string): string {
  using db = openForReading(stateDir);
  const found = db === null ? null : findRun(db, null);
  return found?.kind === 'found' ? found.run : '';
}
