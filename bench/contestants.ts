/**
 * Those that are compared, as command lines for a job. Where a task is done, the stand-in does it.
 *
 *   C1. Nothing of landfast is turned off but the display: journal, transcripts, judging, landing,
 *       publishing and a report are all part of what is measured.
 *   C2. What a contestant needs beforehand is prepared outside of the measured time; docs/benchmarks.md
 *       says for each what that is.
 */

import { existsSync } from 'node:fs';
import { appendFile, cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execute, type Ground } from './ground.ts';
import { type Job, manifestText, planText, STAND_IN, type Way } from './jobs.ts';
import { writePastRuns } from './past-runs.ts';

export interface Contestant {
  readonly name: string;
  /** How landfast is given the work; null where nothing is given to landfast. */
  readonly way: Way | null;
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
  way: null,
  command: async ({ repository, tasks, workers }) => [
    'bash',
    join(import.meta.dirname, 'script.sh'),
    repository,
    String(tasks.length),
    String(workers),
    STAND_IN,
  ],
};

/** The least that git itself has to do for a chain of tasks. */
export const path: Contestant = {
  name: 'git alone',
  way: null,
  command: async ({ repository, tasks }) => [
    'bash',
    join(import.meta.dirname, 'path.sh'),
    repository,
    ...tasks.map(({ id }) => id),
  ],
};

/** The program as it is published, in a repository that it has never seen. */
export function landfast(way: Way): Contestant {
  return {
    name: `landfast, ${way}`,
    way,
    command: async (job, ground) => {
      const plan = await writePlan(job, way);
      const flags = ['--claude-exe', STAND_IN, '--no-dashboard', '--report', reportOf(job)];
      // A manifest cannot say how many tasks run at a time.
      if (way === 'manifest') flags.push('--max-workers', String(job.workers));
      return [...programIn(ground), 'run', plan, '-C', job.repository, ...flags];
    },
  };
}

/** The same, where workspaces already wait in the pool. */
export function warmLandfast(way: Way): Contestant {
  const cold = landfast(way);
  return {
    name: `${cold.name}, warm`,
    way,
    command: async (job, ground, signal) => {
      await runProgram(ground, ['pool', 'warm', String(job.workers), '-C', job.repository], signal);
      return cold.command(job, ground, signal);
    },
  };
}

async function writePlan(job: Job, way: Way): Promise<string> {
  if (way === 'manifest') return writeManifest(job);
  const plan = `${job.repository}.plan.yaml`;
  await writeFile(plan, planText(job, way === 'shell' ? 'shell' : 'claude'));
  return plan;
}

/**
 * Writes the manifest into the repository, to which its paths are relative. It is excluded there, so
 * that nobody commits it.
 */
export async function writeManifest(job: Job): Promise<string> {
  const manifest = join(job.repository, 'manifest.md');
  await appendFile(excludeOf(job), '/manifest.md\n');
  await writeFile(manifest, manifestText(job));
  return manifest;
}

/** What git does not see as new in this repository. */
export function excludeOf({ repository }: Job): string {
  return join(repository, '.git', 'info', 'exclude');
}

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
  way: null,
  command: async () => [process.execPath, '-e', '0'],
};

/** `landfast --help`. */
export const help: Contestant = {
  name: 'landfast --help',
  way: null,
  command: async (_, ground) => [...programIn(ground), '--help'],
};

/** `landfast status` where so many runs have been. */
export function status(runs: number): Contestant {
  return {
    name: `status, ${runs.toLocaleString('en')} ${runs === 1 ? 'run' : 'runs'}`,
    way: null,
    command: async ({ repository }, ground) => {
      const past = join(ground.dir, `past-${runs}`);
      if (!existsSync(past)) writePastRuns(past, runs);
      await cp(past, join(repository, '.git', 'landfast'), { recursive: true });
      return [...programIn(ground), 'status', '-C', repository];
    },
  };
}
