/** `landfast agents`: which agents there are, which are installed, what each can do. */

import { type FoundAgent, probeAgents } from '../../app/probe.ts';
import { EXIT } from '../exit.ts';
import type { Program, Wrap } from '../options.ts';
import { NEVER, terminalHost } from '../terminal/host.ts';
import { printJson } from '../terminal/output.ts';

export function describe(program: Program, wrap: Wrap): void {
  program
    .command('agents')
    .description('list agents, whether they are installed, and what each can do')
    .option('--json', 'print JSON')
    .action(wrap((_, command: Program) => agents(command.optsWithGlobals())));
}

async function agents(flags: { readonly json?: boolean }): Promise<number> {
  const found = await probeAgents(terminalHost(), NEVER);
  if (flags.json === true) printJson(found.map(rowOf));
  for (const each of flags.json === true ? [] : found) {
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
  if (agent.program.file === null) return 'any program, named in the plan (command: [...])';
  if (path === null) return `not installed; to install it: ${agent.program.install}`;
  const who = { in: ', logged in', out: ', NOT logged in', unknown: '' }[login];
  return `${version ?? 'installed'} at ${path}${who}`;
}

type Can = FoundAgent['agent']['can'];

const WORDS: readonly (readonly [keyof Can, string])[] = [
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

function abilityWords(can: Can): readonly string[] {
  const words = WORDS.filter(([key]) => can[key] === true).map(([, word]) => word);
  return [...words, `permissions ${can.permissions.join('/')}`];
}
