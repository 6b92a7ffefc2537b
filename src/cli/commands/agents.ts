/** `landfast agents`: which agents there are, which are installed, what each can do. */

import type { Abilities } from '../../agents/agent.ts';
import { jsonText } from '../../report/json.ts';
import { EXIT } from '../main.ts';
import { type FoundAgent, probeAgents } from '../probe.ts';

/** Lists the agents. */
export async function agents(flags: { readonly json?: boolean }): Promise<number> {
  const found = await probeAgents(new AbortController().signal);
  if (flags.json === true) {
    process.stdout.write(jsonText(found.map(rowOf)));
    return EXIT.ok;
  }
  for (const each of found) {
    const { agent } = each;
    console.log(`${agent.name.padEnd(10)}${stateOf(each)}`);
    console.log(`${' '.repeat(10)}can: ${abilityWords(agent.can).join(', ')}`);
  }
  return EXIT.ok;
}

function rowOf({ agent, path, version, login }: FoundAgent) {
  const { install, file } = agent.program;
  const installed = path !== null || file === null;
  return { name: agent.name, installed, path, version, login, install, can: agent.can };
}

function stateOf({ agent, path, version, login }: FoundAgent): string {
  if (agent.program.file === null) return 'any program: the plan names it (command: [...])';
  if (path === null) return `not installed; get it: ${agent.program.install}`;
  const who = { in: ', logged in', out: ', NOT logged in', unknown: '' }[login];
  return `${version ?? 'installed'} at ${path}${who}`;
}

const WORDS: readonly (readonly [keyof Abilities, string])[] = [
  ['resume', 'resume'],
  ['fork', 'fork'],
  ['role', 'role'],
  ['model', 'model'],
  ['toolRules', 'tool rules'],
  ['commands', 'allowed programs'],
  ['dirs', 'extra folders'],
  ['mcp', 'MCP'],
  ['maxTurns', 'turn limit'],
  ['budget', 'budget'],
  ['schema', 'structured answer'],
];

function abilityWords(can: Abilities): readonly string[] {
  const words = WORDS.filter(([key]) => can[key] === true).map(([, word]) => word);
  return [...words, `permissions ${can.permissions.join('/')}`];
}
