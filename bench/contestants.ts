/**
 * Those that are compared, as command lines for a job.
 *
 *   C1. Nothing of landfast is turned off but the display: journal, transcripts, judging, landing,
 *       publishing and a report are all part of what is measured.
 *   C2. What a contestant needs beforehand is prepared outside of the measured time; docs/benchmarks.md
 *       says for each what that is.
 */

import { existsSync } from 'node:fs';
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execute, type Ground } from './ground.ts';
import { type Job, planText } from './jobs.ts';
import { writePastRuns } from './past-runs.ts';

export interface Contestant {
  readonly name: string;
  /** Whether it is landfast: then there are a journal, transcripts and a report to look for. */
  readonly isLandfast: boolean;
  /** Prepares what the command needs, and answers with the command. */
  command(job: Job, ground: Ground, signal: AbortSignal): Promise<readonly string[]>;
}

const ROOT = join(import.meta.dirname, '..');

/** Puts a copy of the built program on the ground: what is built meanwhile changes nothing. */
export async function installProgram({ dir }: Ground): Promise<void> {
  for (const part of ['package.json', 'bin', 'dist']) {
    await cp(join(ROOT, part), join(dir, 'program', part), { recursive: true });
  }
}

function programIn({ dir }: Ground): readonly string[] {
  return [process.execPath, join(dir, 'program', 'bin', 'landfast.cjs')];
}

/** The plain script. */
export const script: Contestant = {
  name: 'script',
  isLandfast: false,
  command: async ({ repository, tasks, workers }) => [
    'bash',
    join(import.meta.dirname, 'script.sh'),
    repository,
    String(tasks.length),
    String(workers),
  ],
};

/** The least that git itself has to do for a chain of tasks. */
export const path: Contestant = {
  name: 'git alone',
  isLandfast: false,
  command: async ({ repository, tasks }) => [
    'bash',
    join(import.meta.dirname, 'path.sh'),
    repository,
    ...tasks.map(({ id }) => id),
  ],
};

/** The program as it is published, in a repository that it has never seen. */
export const landfast: Contestant = {
  name: 'landfast',
  isLandfast: true,
  command: async (job, ground) => {
    const plan = `${job.repository}.plan.yaml`;
    await writeFile(plan, planText(job));
    const flags = ['--no-dashboard', '--report', reportOf(job)];
    return [...programIn(ground), 'run', plan, '-C', job.repository, ...flags];
  },
};

/** The same, where workspaces already wait in the pool. */
export const warmLandfast: Contestant = {
  name: 'landfast, warm',
  isLandfast: true,
  command: async (job, ground, signal) => {
    await runProgram(ground, ['pool', 'warm', String(job.workers), '-C', job.repository], signal);
    return landfast.command(job, ground, signal);
  },
};

/** Runs the program outside of the measured time. */
export async function runProgram(
  ground: Ground,
  args: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const [node = '', ...program] = programIn(ground);
  await execute(node, [...program, ...args], { env: ground.env, signal });
}

/** Where landfast writes its report. */
export function reportOf({ repository }: Job): string {
  return `${repository}.report.json`;
}

/** A Node that does nothing. */
export const bareNode: Contestant = {
  name: 'bare node',
  isLandfast: false,
  command: async () => [process.execPath, '-e', '0'],
};

/** `landfast --help`. */
export const help: Contestant = {
  name: 'landfast --help',
  isLandfast: false,
  command: async (_, ground) => [...programIn(ground), '--help'],
};

/** `landfast status` where so many runs have been. */
export function status(runs: number): Contestant {
  return {
    name: `status, ${runs.toLocaleString('en')} ${runs === 1 ? 'run' : 'runs'}`,
    isLandfast: false,
    command: async ({ repository }, ground) => {
      const past = join(ground.dir, `past-${runs}`);
      if (!existsSync(past)) writePastRuns(past, runs);
      await cp(past, join(repository, '.git', 'landfast'), { recursive: true });
      return [...programIn(ground), 'status', '-C', repository];
    },
  };
}
