/**
 * The two that are compared, as command lines for the same job: TASKS independent shell tasks that
 * write one file each, WORKERS of them at a time.
 *
 *   C1. Both leave the same files with the same content, so that their trees can be compared.
 *   C2. Nothing of landfast is turned off but the display: journal, transcripts, judging, landing
 *       and publishing are all part of what is measured.
 */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Job {
  readonly repository: string;
  readonly tasks: number;
  readonly workers: number;
}

export interface Contestant {
  readonly name: 'script' | 'landfast';
  /** Prepares what the command reads, outside the measured time. */
  command(job: Job): Promise<readonly string[]>;
}

const ROOT = join(import.meta.dirname, '..');

/** The plain script. */
export const script: Contestant = {
  name: 'script',
  command: async ({ repository, tasks, workers }) => [
    'bash',
    join(import.meta.dirname, 'script.sh'),
    repository,
    String(tasks),
    String(workers),
  ],
};

/** The program as it is published. */
export const landfast: Contestant = {
  name: 'landfast',
  command: async (job) => {
    const plan = `${job.repository}.plan.yaml`;
    await writeFile(plan, planText(job));
    const program = [process.execPath, join(ROOT, 'bin', 'landfast.cjs')];
    return [...program, 'run', plan, '-C', job.repository, '--no-dashboard', '--quiet'];
  },
};

/**
 * The plan, in the native format. Each task declares the file it writes, so that this is judged,
 * and says something, so that there is a transcript.
 */
export function planText({ tasks, workers }: Omit<Job, 'repository'>): string {
  const lines = Array.from({ length: tasks }, (_, index) => {
    const file = `task-${index + 1}.txt`;
    const prompt = `echo 'task ${index + 1}' > ${file} && echo written`;
    return `  - { id: task-${index + 1}, agent: shell, prompt: "${prompt}", writes: [${file}] }`;
  });
  const head = ['landfast: 1', 'name: bench', 'target: main', `limits: { workers: ${workers} }`];
  return [...head, 'tasks:', ...lines, ''].join('\n');
}
