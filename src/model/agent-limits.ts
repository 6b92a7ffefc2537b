/**
 * The part of the fold that knows agents: which refuse to work, and which are at a limit.
 *
 * - A refusal (no login, no credit) holds until the run is resumed or a task is retried that the
 *   agent may do. A limit holds across engines, until an attempt that began after it gets through,
 *   or such a task is retried.
 * - Attempts that were running when a limit was hit will hit the same limit: it does not get
 *   longer.
 */

import type { Event } from './event.ts';
import type { Failure } from './failure.ts';
import { assigneesOf, type TaskId } from './plan.ts';
import type { AgentState, Limit, RunState } from './state.ts';

const UNTROUBLED: AgentState = { refusal: null, limit: null };

/** Takes in what an event says of agents; the event has been applied to its task already. */
export function applyToAgents(state: RunState, event: Event, at: number): void {
  const agents = state.agents as Map<string, AgentState>;
  switch (event.type) {
    case 'run.resumed':
      for (const [name, agent] of agents) agents.set(name, { ...agent, refusal: null });
      return;
    case 'task.retried': {
      const task = state.tasks.get(event.task);
      for (const { agent } of task === undefined ? [] : assigneesOf(task.spec))
        agents.delete(agent);
      return;
    }
    case 'attempt.started':
    case 'attempt.usage':
    case 'attempt.finished':
    case 'attempt.failed': {
      const name = state.tasks.get(event.task)?.attempts.at(-1)?.by.agent;
      if (name === undefined) return;
      const before = agents.get(name) ?? UNTROUBLED;
      const after = afterAttemptEvent(before, event, at);
      if (after !== before) agents.set(name, after);
      return;
    }
  }
}

type AttemptFact = Extract<
  Event,
  { type: 'attempt.started' | 'attempt.usage' | 'attempt.finished' | 'attempt.failed' }
>;

function afterAttemptEvent(agent: AgentState, event: AttemptFact, at: number): AgentState {
  const { limit } = agent;
  const { task } = event;
  switch (event.type) {
    case 'attempt.started':
      if (limit === null) return agent;
      return { ...agent, limit: { ...limit, probes: [...limit.probes, task] } };
    case 'attempt.usage': {
      const isServed = event.outputTokens > 0 || event.costUsd > 0;
      return isServed && isProbe(limit, task) ? { ...agent, limit: null } : agent;
    }
    case 'attempt.finished':
      return isProbe(limit, task) ? { ...agent, limit: null } : agent;
    case 'attempt.failed':
      return afterFailure(agent, event.failure, { task, at });
  }
}

/** Kinds that come after the agent's own work: the service has answered by then. */
const SERVED: readonly Failure['kind'][] = [
  'no-change',
  'out-of-scope',
  'checks-failed',
  'commit-failed',
];

function afterFailure(
  agent: AgentState,
  failure: Failure,
  { task, at }: { readonly task: TaskId; readonly at: number },
): AgentState {
  const { limit } = agent;
  const probed = isProbe(limit, task);
  if (failure.kind === 'auth' || failure.kind === 'billing') {
    const { kind, message } = failure;
    const refusal = agent.refusal ?? { task, kind, message };
    return { refusal, limit: limit && without(limit, task) };
  }
  if (failure.kind === 'rate-limited' && failure.guessed !== true) {
    const retryAt = failure.retryAt ?? null;
    if (limit === null) return { ...agent, limit: { at, retryAt, hits: 1, probes: [] } };
    const rest = without(limit, task);
    if (probed) return { ...agent, limit: { ...rest, at, retryAt, hits: limit.hits + 1 } };
    const latest = retryAt === null ? limit.retryAt : Math.max(retryAt, limit.retryAt ?? 0);
    return { ...agent, limit: { ...rest, retryAt: latest } };
  }
  if (!probed || limit === null) return agent;
  return { ...agent, limit: SERVED.includes(failure.kind) ? null : without(limit, task) };
}

function isProbe(limit: Limit | null, task: TaskId): boolean {
  return limit?.probes.includes(task) === true;
}

function without(limit: Limit, task: TaskId): Limit {
  return { ...limit, probes: limit.probes.filter((each) => each !== task) };
}
