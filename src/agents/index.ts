/** The registry of agents. To add one: a file, a line here, recorded transcripts; nothing else. */

import { acp } from './acp.ts';
import type { Agent } from './agent.ts';
import { claude } from './claude.ts';
import { codex } from './codex.ts';
import { command } from './command.ts';
import { gemini } from './gemini.ts';
import { opencode } from './opencode.ts';
import { shell } from './shell.ts';

export const AGENTS: readonly Agent[] = [claude, codex, gemini, opencode, acp, command, shell];

export const AGENT_NAMES: readonly string[] = AGENTS.map(({ name }) => name);

export function findAgent(name: string): Agent | null {
  return AGENTS.find((agent) => agent.name === name) ?? null;
}
