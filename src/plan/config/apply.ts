/**
 * Adds a configuration to a plan whose format cannot say these things: gates, set-up, the fence, a
 * budget, notifications. What the plan says is never changed.
 */

import { NO_SANDBOX, type Plan, type SandboxSpec } from '../../model/plan.ts';
import {
  lowerFailures,
  lowerGate,
  lowerMachine,
  lowerNotify,
  lowerPool,
} from '../formats/native/lower.ts';
import type { Config } from './schema.ts';

export function complete(plan: Plan, config: Config): Plan {
  const gates = plan.gates.length > 0 ? plan.gates : (config.gates ?? []).map(lowerGate);
  const isGated = gates.length > plan.gates.length;
  const budgetUsd = plan.limits.budgetUsd ?? config.limits?.budget_usd;
  return {
    ...plan,
    gates,
    workspace: preparation(plan.workspace, config.workspace ?? {}),
    // With verify: off the added gates would never run.
    landing: isGated ? { ...plan.landing, verify: 'each' } : plan.landing,
    limits: {
      ...lowerMachine(config.limits ?? {}),
      ...plan.limits,
      ...(budgetUsd === undefined ? {} : { budgetUsd }),
    },
    sandbox: fence(plan.sandbox, config),
    // A webhook of the plan does not replace the user's own notifications.
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
    ...lowerPool(configured),
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
