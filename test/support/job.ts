/** A job as a task without further wishes gives it. */

import type { Job } from '../../src/agents/agent.ts';
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
