/** What the plans of other tools have in common, because their formats cannot say otherwise. */

import { NO_OPTIONS, NO_SANDBOX, type Plan, type TaskSpec } from '../../../model/plan.ts';

/** A task of Claude without an order or a scope. */
export const FOREIGN_TASK = {
  agent: 'claude',
  mode: 'write',
  needs: [],
  hears: [],
  writes: [],
  outside: 'report',
  forbids: [],
  checks: [],
  env: {},
  options: NO_OPTIONS,
  answer: 'free',
} as const satisfies Partial<TaskSpec>;

/** Nothing is verified, and work that does not land fails. */
export const FOREIGN_PLAN = {
  gates: [],
  workspace: { setup: [], setupKey: [], copy: [], inject: [] },
  landing: {
    strategy: 'merge',
    verify: 'off',
    onConflict: 'fail',
    onGateFailure: 'fail',
    onSemantic: 'warn',
    reworks: 0,
    publish: 'end',
  },
  limits: { workers: 1, gates: 1, groups: {} },
  sandbox: NO_SANDBOX,
  notify: [],
} as const satisfies Partial<Plan>;
