/** The agents as the command line needs them: by name, able to do what is asked, found here. */

import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import type { Agent } from '../agents/agent.ts';
import { AGENT_NAMES, findAgent } from '../agents/index.ts';
import { OperationalError, UserError } from '../base/errors.ts';
import { doerName, doersOf, doneBy, isSameDoer } from '../model/doer.ts';
import type { Plan, TaskSpec } from '../model/plan.ts';
import type { AgentsKnown } from '../schedule/retry.ts';
import { unmetWishes } from './abilities.ts';

/** The agent of that name, or an error that lists those there are. */
export function agentNamed(name: string): Agent {
  const agent = findAgent(name);
  if (agent !== null) return agent;
  throw new UserError(`There is no agent called ${name}.`, `There are: ${AGENT_NAMES.join(', ')}.`);
}

/** What the policy needs to know of them. */
export const agentsKnown: AgentsKnown = (name) => agentNamed(name).can;

/** Whether an agent is a coding agent rather than a plain script. */
export function isCoding(name: string): boolean {
  return findAgent(name)?.can.prose !== false;
}

/** A named program as an absolute path, so that it means the same from every workspace. */
export function executable(path: string | undefined): string | null {
  if (path === undefined) return null;
  return path.includes('/') ? resolve(path) : path;
}

/** Checks that every agent of the plan can do what its tasks ask for. */
export function requireAbilities(plan: Plan): void {
  for (const { agent } of plan.failures ?? []) if (agent !== undefined) agentNamed(agent);
  for (const task of plan.tasks) {
    requireFallbacks(task);
    requireFork(plan, task);
  }
  for (const task of plan.tasks.flatMap(everyWay)) {
    const agent = agentNamed(task.agent);
    const unmet = unmetWishes(task, agent);
    if (unmet.length > 0) {
      throw new UserError(
        `Task ${task.id} asks its agent ${agent.name} for what it cannot do: ${unmet.join(', ')}.`,
        `Leave it out, or choose another agent; \`landfast agents\` shows what each can do.`,
      );
    }
    if (agent.can.anyCommand && task.options.command.length === 0) {
      const example = 'command: [my-agent, --headless]';
      throw new UserError(`Task ${task.id} does not say which program to run.`, `Add ${example}`);
    }
  }
}

/** The task as each of its doers is asked to do it; only the first can begin with a session. */
function everyWay(task: TaskSpec): readonly TaskSpec[] {
  const { forks: _, ...unforked } = task;
  return [task, ...(task.fallbacks ?? []).map((by) => doneBy(unforked, by))];
}

/** Fallbacks are for work in prose, and each is another one. */
function requireFallbacks(task: TaskSpec): void {
  if (task.fallbacks === undefined) return;
  const doers = doersOf(task);
  const script = doers.find(({ agent }) => !agentNamed(agent).can.prose);
  if (script !== undefined) {
    throw new UserError(
      `Task ${task.id} has fallbacks, but ${script.agent} is no coding agent.`,
      'A script cannot stand in for an agent, nor an agent for a script: leave it out.',
    );
  }
  const twice = doers.find((one, i) => doers.findIndex((other) => isSameDoer(one, other)) < i);
  if (twice === undefined) return;
  throw new UserError(
    `Task ${task.id} falls back to ${doerName(twice)}, which has tried it before.`,
    'Name each agent and model once.',
  );
}

/** A session can be forked only when its task is over, and only by its own kind of agent. */
function requireFork(plan: Plan, { id, forks, needs, agent }: TaskSpec): void {
  if (forks === undefined) return;
  const origin = plan.tasks.find((task) => task.id === forks);
  if (origin !== undefined && needs.includes(forks) && origin.agent === agent) return;
  throw new UserError(
    `Task ${id} cannot begin with the session of ${forks}.`,
    `It must need that task (needs: [${forks}]), and both must have the same agent.`,
  );
}

/** Checks before anything starts that every agent of the plan can be run. */
export function requireAgents(plan: Plan, executableOf: (agent: string) => string | null): void {
  requireAbilities(plan);
  for (const task of plan.tasks.flatMap(everyWay)) {
    const { program } = agentNamed(task.agent);
    const file = fileOf(task, executableOf(task.agent));
    if (file === null || findProgram(file) !== null) continue;
    throw new OperationalError(`The program of agent ${task.agent} was not found: ${file}`, {
      remedy: `Put it on PATH, or get it: ${program.install}`,
    });
  }
}

function fileOf(task: TaskSpec, named: string | null): string | null {
  return named ?? agentNamed(task.agent).program.file ?? task.options.command[0] ?? null;
}

/** Where a program is, as a shell would find it; null where it is not. */
export function findProgram(file: string): string | null {
  const folders = file.includes('/') || isAbsolute(file) ? [''] : pathFolders();
  const paths = folders.map((folder) => (folder === '' ? file : join(folder, file)));
  return paths.find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function pathFolders(): readonly string[] {
  return (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
}
