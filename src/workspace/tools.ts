/** What the tools that the plan names (`land.fingerprint`) say of themselves; asked once a run. */

import { check } from './check.ts';
import type { Ground } from './ground.ts';

const LIMIT_MS = 60_000;

const asked = new WeakMap<Ground, Promise<string>>();

/** The output of the plan's fingerprint commands, as one text. */
export function toolsOf(ground: Ground, signal: AbortSignal): Promise<string> {
  const known = asked.get(ground);
  if (known !== undefined) return known;
  const answer = ask(ground, signal);
  asked.set(ground, answer);
  answer.catch(() => asked.delete(ground));
  return answer;
}

async function ask(ground: Ground, signal: AbortSignal): Promise<string> {
  const said: string[] = [];
  for (const command of ground.plan.landing.fingerprint ?? []) {
    const { env, repository, run } = ground;
    const mark = `${run}/gate.fingerprint`;
    const what = { dir: repository.dir, command, env, mark, suspension: null };
    const result = await check({ ...what, timeoutMs: LIMIT_MS }, signal);
    signal.throwIfAborted();
    said.push(result.kind === 'stopped' ? '' : `${command} ${result.kind} ${result.output}`);
  }
  return said.join('\n');
}
