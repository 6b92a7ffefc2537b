/**
 * parking: when no attempt of an agent may begin, whatever its tasks would like.
 *
 * - An agent without login or credit is parked until a person has fixed that. Its tasks go to their
 *   fallbacks, or wait; they fail when nothing else is left to do.
 * - An agent at its limit is parked until the limit resets; then all of its tasks proceed. Where no
 *   reset is known it is parked in growing steps, after each of which one attempt finds out whether
 *   it is served again.
 */

import type { AgentState, Limit, RunState, Wait } from '../model/state.ts';

const MINUTE = 60_000;
/** Without a known reset a limit is tried again after these, the last one repeated. */
const STEPS = [MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE] as const;

/** Why an agent cannot be used at all; null where it can. */
export function refusalOf(state: RunState, agent: string): AgentState['refusal'] {
  return state.agents.get(agent)?.refusal ?? null;
}

/** The agents as one turn of the scheduler sees them, attempts that it starts included. */
export class Parking {
  readonly #state: RunState;
  readonly #now: number;
  /** Who finds out for an agent whether it is served again. */
  readonly #probes = new Map<string, string>();

  constructor(state: RunState, now: number) {
    this.#state = state;
    this.#now = now;
  }

  /** What an attempt of this agent has to wait for; null where it may begin. */
  waitFor(agent: string): Wait | null {
    const refusal = refusalOf(this.#state, agent);
    if (refusal !== null) return { kind: 'refusal', agent, why: refusal.kind };
    const limit = this.#state.agents.get(agent)?.limit ?? null;
    if (limit === null) return null;
    const until = resetOf(limit);
    if (until > this.#now) return { kind: 'limit', agent, until };
    const probe = limit.probes[0] ?? this.#probes.get(agent);
    if (limit.retryAt !== null || probe === undefined) return null;
    return { kind: 'probe', agent, task: probe };
  }

  /** An attempt of this agent begins. */
  begin(agent: string, task: string): void {
    this.#probes.set(agent, task);
  }
}

/** When the limit has reset, or is tried again. */
function resetOf({ at, retryAt, hits }: Limit): number {
  return retryAt ?? at + (STEPS[Math.min(hits, STEPS.length) - 1] ?? MINUTE);
}
