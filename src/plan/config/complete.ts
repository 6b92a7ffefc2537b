/**
 * What a configuration adds to a plan whose format cannot say it: gates, the preparation of
 * workspaces, the fence, a budget, who is told.
 *
 *   A1. Only what the user has configured is added, and nothing that the plan says is changed.
 */

import { NO_SANDBOX, type Plan, type SandboxSpec } from '../../model/plan.ts';
import { lowerFailures } from '../formats/native/failures.ts';
import { lowerGate, lowerMachine, lowerNotify, poolWords } from '../formats/native/lower.ts';
import type { Config } from './schema.ts';

/** The plan with what its own text could not say. */
export function complete(plan: Plan, config: Config): Plan {
  const gates = plan.gates.length > 0 ? plan.gates : (config.gates ?? []).map(lowerGate);
  const isGated = gates.length > plan.gates.length;
  const budgetUsd = plan.limits.budgetUsd ?? config.limits?.budget_usd;
  return {
    ...plan,
    gates,
    workspace: preparation(plan.workspace, config.workspace ?? {}),
    // A gate that nobody asks would be a promise that is not kept.
    landing: isGated ? { ...plan.landing, verify: 'each' } : plan.landing,
    limits: {
      ...lowerMachine(config.limits ?? {}),
      ...plan.limits,
      ...(budgetUsd === undefined ? {} : { budgetUsd }),
    },
    sandbox: fence(plan.sandbox, config),
    // Told twice is better than not at all: a webhook of the plan does not silence the user's own.
    notify: [...plan.notify, ...(config.notify ?? []).map(lowerNotify)],
    ...lowerFailures([], config.failures),
  };
}

function preparation(
  own: Plan['workspace'],
  configured: NonNullable<Config['workspace']>,
): Plan['workspace'] {
  const { setup = [], setup_key: setupKey = [], copy = [] } = configured;
  return {
    ...poolWords(configured),
    ...(own.setup.length > 0 ? own : { ...own, setup, setupKey }),
    copy: [...new Set([...own.copy, ...copy])],
  };
}

function fence(own: SandboxSpec, { sandbox, fence: opened }: Config): SandboxSpec {
  if (own.mode !== NO_SANDBOX.mode || sandbox === undefined) return own;
  return {
    mode: sandbox,
    network: opened?.network ?? own.network,
    caches: opened?.caches ?? own.caches,
  };
}
