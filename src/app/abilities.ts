/** What a plan asks of its agents and they cannot do: said before anything starts. Pure. */

import type { AnyAgent } from '../agents/function-agent.ts';
import type { TaskSpec } from '../model/plan.ts';

/** Every wish of a task that its agent cannot fulfil, by the key that has it. */
export function unmetWishes(task: TaskSpec, { can }: AnyAgent): readonly string[] {
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
