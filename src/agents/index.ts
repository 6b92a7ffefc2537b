/** The registry of agents. To add one: a file, a line here, recorded transcripts; nothing else. */

import type { Agent } from './agent.ts';
import { claude } from './claude.ts';
import { shell } from './shell.ts';

/** Every agent there is. */
export const AGENTS: readonly Agent[] = [claude, shell];

/** Their names, for messages. */
export const AGENT_NAMES: readonly string[] = AGENTS.map(({ name }) => name);

/** The agent of that name. */
export function findAgent(name: string): Agent | null {
  return AGENTS.find((agent) => agent.name === name) ?? null;
}
