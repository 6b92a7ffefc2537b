/** The agents' sessions that resuming a run would continue, and those of them that are gone. */

import { findAgent } from '../agents/index.ts';
import type { RunState } from '../model/state.ts';
import { isGood } from '../model/state.ts';
import { findSession, type Surroundings } from '../worker/sessions.ts';

/** Tasks without success whose session is no longer in its agent's store. */
export async function lostSessions(
  { tasks }: RunState,
  surroundings: Surroundings,
): Promise<readonly string[]> {
  const looked = [...tasks.values()].map(async (task) => {
    const { session, spec, attempts } = task;
    const store = findAgent(attempts.at(-1)?.by.agent ?? spec.agent)?.program.sessions ?? null;
    if (isGood(task) || session === null || store === null) return [];
    const found = await findSession(store, session, surroundings);
    return found === 'missing' ? [spec.id] : [];
  });
  return (await Promise.all(looked)).flat();
}
