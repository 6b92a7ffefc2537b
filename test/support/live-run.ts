/** A live run of the built program, to be seen and steered from outside. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Ended, landfast, type Running, start } from './landfast.ts';
import { nativePlan, type PlanParts } from './native-plan.ts';
import type { TempRepo } from './temp-repo.ts';

export interface LiveRun {
  readonly engine: Running;
  readonly run: string;
  /** Runs another command in the same repository. */
  cli(...args: readonly string[]): Promise<Ended>;
}

/** Waits for a file `go` beside the repository, with a daemon that a simple kill would not reach. */
export function waiting(name: string): string {
  return [
    `echo ${name} > ${name}.txt`,
    '(setsid nohup sleep 600 >/dev/null 2>&1 &)',
    'echo working',
    'while test ! -e ../../../go; do sleep 0.05; done',
  ].join('\n');
}

/** Starts a run of these tasks, two at a time, and waits until it is known. */
export async function liveRun(
  repo: TempRepo,
  tasks: PlanParts['tasks'],
  more: Omit<PlanParts, 'tasks'> = {},
): Promise<LiveRun> {
  writeFileSync(join(repo.outside, 'plan.yaml'), nativePlan({ workers: 2, ...more, tasks }));
  const engine = start(['run', '../plan.yaml', '--events'], { cwd: repo.dir });
  await engine.untilFact('run.started');
  const cli = (...args: readonly string[]) => landfast(args, { cwd: repo.dir });
  const { run } = JSON.parse((await cli('status', '--json')).stdout) as { run: string };
  return { engine, run, cli };
}
