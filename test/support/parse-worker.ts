/** A thread that reads plans, so that its memory can be limited: text and format in, what it took out. */

import { parentPort } from 'node:worker_threads';
import { parsePlan } from '../../src/plan/parse.ts';
import { planInput } from './plan-input.ts';

export interface Question {
  readonly text: string;
  readonly format: string | null;
}

export interface Answer {
  /** Processor time of the thread, independent of the machine's load. */
  readonly ms: number;
  readonly isPlan: boolean;
  /** The first line of the first problem of severity error. */
  readonly error: string | null;
}

parentPort?.on('message', ({ text, format }: Question) => {
  const before = process.threadCpuUsage();
  const { plan, problems } = parsePlan(planInput('plan.md', text), format);
  const { user, system } = process.threadCpuUsage(before);
  const error = problems.find(({ severity }) => severity === 'error')?.message ?? null;
  const answer: Answer = { ms: (user + system) / 1000, isPlan: plan !== null, error };
  parentPort?.postMessage(answer);
});
