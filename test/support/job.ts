/** A job of a task without options, and how its program ended. */

import type { AgentEnd, Job } from '../../src/agents/agent.ts';
import { NO_OPTIONS } from '../../src/model/plan.ts';

/** A job with the parts that a test cares about. */
export function jobOf(more: Partial<Job> = {}): Job {
  return {
    prompt: 'Do it.',
    executable: null,
    newSession: '00000000-0000-4000-8000-000000000001',
    resume: null,
    fork: false,
    role: null,
    model: null,
    permissions: 'acceptEdits',
    readOnly: false,
    budgetUsd: null,
    options: NO_OPTIONS,
    cwd: '/repo',
    ...more,
  };
}

/** The end of a program that exited with code 1 and said nothing, but for these parts. */
export function endOf(part: Partial<AgentEnd> = {}): AgentEnd {
  const exit = { kind: 'exited', code: 1 } as const;
  const silent = { result: null, spoke: false, stdoutTail: '', stderrTail: '' };
  return { exit, job: jobOf(), ...silent, ...part };
}
