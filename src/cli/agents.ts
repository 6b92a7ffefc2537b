/** The agents as the command line needs them: by name, with a remedy, and found on this machine. */

import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import type { Agent } from '../agents/agent.ts';
import { AGENT_NAMES, findAgent } from '../agents/index.ts';
import { OperationalError, UserError } from '../base/errors.ts';
import { NO_OPTIONS, type Plan } from '../model/plan.ts';
import type { AgentsKnown } from '../schedule/decide.ts';

/** The agent of that name, or an error that lists those there are. */
export function agentNamed(name: string): Agent {
  const agent = findAgent(name);
  if (agent !== null) return agent;
  throw new UserError(`There is no agent called ${name}.`, `There are: ${AGENT_NAMES.join(', ')}.`);
}

/** What the policy needs to know of them. */
export const agentsKnown: AgentsKnown = (name) => agentNamed(name).can;

/** Whether an agent is a coding agent rather than a plain command. */
export function isCoding(name: string): boolean {
  return findAgent(name)?.can.prose !== false;
}

/** A named program as an absolute path, so that it means the same from every workspace. */
export function executable(path: string | undefined): string | null {
  if (path === undefined) return null;
  return path.includes('/') ? resolve(path) : path;
}

/** Checks before anything starts that every agent of the plan can be run. */
export function requireAgents(plan: Plan, executableOf: (agent: string) => string | null): void {
  for (const name of new Set(plan.tasks.map(({ agent }) => agent))) {
    const { file } = agentNamed(name).command({ ...PROBE, executable: executableOf(name) });
    if (isProgram(file)) continue;
    throw new OperationalError(`The program of agent ${name} was not found: ${file}`, {
      remedy: `Install it, put it on PATH, or name it (for claude: --claude-exe PATH).`,
    });
  }
}

const PROBE = {
  prompt: '',
  newSession: '',
  resume: null,
  role: null,
  model: null,
  permissions: 'default',
  readOnly: false,
  budgetUsd: null,
  fork: false,
  options: NO_OPTIONS,
  cwd: '/',
} as const;

function isProgram(file: string): boolean {
  const folders = file.includes('/') || isAbsolute(file) ? [''] : pathFolders();
  return folders.some((folder) => {
    const path = folder === '' ? file : join(folder, file);
    try {
      accessSync(path, constants.X_OK);
      return statSync(path).isFile();
    } catch {
      return false;
    }
  });
}

function pathFolders(): readonly string[] {
  return (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
}
