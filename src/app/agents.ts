/** The agents as use cases need them: by name, able to do what is asked, found here. */

import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { NO_ABILITIES } from '../agents/agent.ts';
import { type AnyAgent, isFunctionAgent } from '../agents/function-agent.ts';
import { AGENT_NAMES, findAgent } from '../agents/index.ts';
import { closest } from '../base/closest.ts';
import { OperationalError, trySystem, UserError } from '../base/errors.ts';
import {
  assignedTo,
  assigneeName,
  assigneesOf,
  isSameAssignee,
  type Plan,
  type TaskSpec,
} from '../model/plan.ts';
import type { AgentsKnown } from '../schedule/next-attempt.ts';
import type { Host } from './place.ts';

/** The agent of that name, or an error that lists those there are. */
export function agentNamed(name: string, { agents }: Pick<Host, 'agents'>): AnyAgent {
  const agent = agents.find((each) => each.name === name) ?? findAgent(name);
  if (agent !== null) return agent;
  if (name.startsWith('function:')) {
    const remedy = 'Run the plan with the program that provides it.';
    throw new UserError(`Agent ${name} is a function that this program does not provide.`, remedy);
  }
  const names = [...agents.map((each) => each.name), ...AGENT_NAMES];
  const guess = closest(name, names);
  throw new UserError(
    `There is no agent called ${name}.`,
    guess === null ? `There are: ${names.join(', ')}.` : `Did you mean ${guess}?`,
  );
}

/** What a reader of journals knows of an agent, which may be a function of another program. */
export const agentsKnown: AgentsKnown = (name) => findAgent(name)?.can ?? NO_ABILITIES;

/** Whether what an agent prints is plain text rather than a protocol. */
export function isPlain(name: string): boolean {
  return findAgent(name)?.can.plain === true;
}

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
export function requireAbilities(plan: Plan, host: Pick<Host, 'agents'>): void {
  for (const { agent } of plan.failures ?? []) if (agent !== undefined) agentNamed(agent, host);
  for (const task of plan.tasks) {
    requireFallbacks(task, host);
    requireFork(plan, task);
  }
  for (const task of plan.tasks.flatMap(everyWay)) {
    const agent = agentNamed(task.agent, host);
    const unmet = unmetWishes(task, agent);
    if (unmet.length > 0) {
      throw new UserError(
        `Task ${task.id} needs what its agent ${agent.name} cannot do: ${unmet.join(', ')}.`,
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
  return [task, ...(task.fallbacks ?? []).map((by) => assignedTo(unforked, by))];
}

/** Fallbacks are for work in prose, and each is another one. */
function requireFallbacks(task: TaskSpec, host: Pick<Host, 'agents'>): void {
  if (task.fallbacks === undefined) return;
  const doers = assigneesOf(task);
  const script = doers.find(({ agent }) => !agentNamed(agent, host).can.prose);
  if (script !== undefined) {
    throw new UserError(
      `Task ${task.id} has fallbacks, but ${script.agent} is not a coding agent.`,
      'A script cannot stand in for an agent, nor an agent for a script: leave it out.',
    );
  }
  const twice = doers.find((one, i) => doers.findIndex((other) => isSameAssignee(one, other)) < i);
  if (twice === undefined) return;
  throw new UserError(
    `Task ${task.id} falls back to ${assigneeName(twice)}, which is listed already.`,
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
export function requireAgents(
  plan: Plan,
  executableOf: (agent: string) => string | null,
  host: Host,
): void {
  requireAbilities(plan, host);
  for (const task of plan.tasks.flatMap(everyWay)) {
    const agent = agentNamed(task.agent, host);
    if (isFunctionAgent(agent)) continue;
    const { program } = agent;
    const file = executableOf(task.agent) ?? program.file ?? task.options.command[0] ?? null;
    if (file === null || findProgram(file, host) !== null) continue;
    throw new OperationalError(`The program of agent ${task.agent} was not found: ${file}`, {
      remedy: `Put it on PATH, or install it: ${program.install}`,
    });
  }
}

/** Where a program is, as a shell would find it; null where it is not. */
export function findProgram(file: string, { env }: Pick<Host, 'env'>): string | null {
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const isPath = file.includes('/') || isAbsolute(file);
  const paths = isPath ? [file] : folders.map((folder) => join(folder, file));
  return paths.find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  return trySystem(() => {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  }, false);
}

/** Every wish of a task that its agent cannot fulfil, by the key that has it. */
function unmetWishes(task: TaskSpec, { can }: AnyAgent): readonly string[] {
  const { options } = task;
  const { tools } = options;
  const wishes: readonly (readonly [string, boolean, boolean])[] = [
    ['fork', task.forks !== undefined, can.fork],
    ['hears', task.hears.length > 0, can.prose],
    ['role', task.role !== undefined, can.role],
    ['model', task.model !== undefined, can.model],
    [`permissions: ${task.permissions}`, true, can.permissions.includes(task.permissions)],
    ['tools.allowed_tools', tools.allowed.length > 0, can.toolRules],
    ['tools.disallowed_tools', tools.disallowed.length > 0, can.toolRules],
    ['tools.allowed_cli', tools.commands.length > 0, can.commands],
    ['tools.add_dirs', options.dirs.length > 0, can.dirs],
    ['mcp', Object.keys(options.mcp).length > 0, can.mcp],
    ['max_turns', options.maxTurns !== null, can.maxTurns],
    ['budget_usd', options.budgetUsd !== null, can.budget],
    ['estimate_usd', task.estimateUsd !== undefined, can.prose],
    ['schema', options.schema !== null, can.schema],
    ['command', options.command.length > 0, can.anyCommand],
    ['prompt_as', options.promptAs !== 'stdin', can.anyCommand && can.plain === true],
  ];
  return wishes.filter(([, wanted, able]) => wanted && !able).map(([key]) => key);
}
