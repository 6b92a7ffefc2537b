/**
 * The names of a run's refs. A run's branch is `landfast/<run>`. A ref cannot be both a file and a
 * folder, so the branches of its tasks are siblings (`landfast/<run>.<task>`), never children.
 */

import { fnv1a } from '../base/fnv1a.ts';
import { type Assignee, type Conventions, type TaskSpec, titleOf } from './plan.ts';
import { type Credit, costText } from './trailers.ts';

/** The branch that verified work lands on. */
export function runBranch(run: string): string {
  return `landfast/${run}`;
}

/** The branch of a task's workspace. */
export function taskBranch(conventions: Conventions, run: string, task: Named): string {
  if (task.branch !== undefined) return task.branch;
  const { id } = task;
  const hash = fnv1a(`${run}/${id}`).toString(16).padStart(8, '0');
  return fill(conventions.branch, { run, task: id, hash });
}

type Named = Pick<TaskSpec, 'id' | 'branch'>;

/** The folder of a task's workspace, below the one that all workspaces are in. */
export function workspaceName(conventions: Conventions, run: string, task: Named): string {
  const branch = taskBranch(conventions, run, task);
  return fill(conventions.workspace, { run, task: task.id, branch });
}

/** Where work goes that would otherwise be lost when a workspace is reset or removed. */
export function keptRef(run: string, what: string): string {
  return `refs/landfast/kept/${run}/${what}`;
}

/** Holds what may still land, so that no clean-up of the user's removes it. */
export function candidateRef(run: string, task: string): string {
  return `refs/landfast/candidates/${run}/${task}`;
}

/** What may stand in braces in each of the conventions. */
export const TEMPLATE_KEYS = {
  branch: ['run', 'task', 'hash'],
  workspace: ['run', 'task', 'branch'],
  commitMessage: ['run', 'task', 'title', 'agent', 'model'],
  mergeMessage: ['run', 'task', 'title', 'agent', 'model', 'cost'],
} as const;

/** The message of the commit that holds what the agent left uncommitted. */
export function commitMessage(
  conventions: Conventions,
  run: string,
  task: TaskSpec,
  by: Assignee | null,
): string {
  if (task.commitMessage !== undefined) return task.commitMessage;
  return fill(conventions.commitMessage, messageWords(run, task, by));
}

/** The message of the commit that lands a task. */
export function mergeMessage(
  conventions: Conventions,
  run: string,
  task: TaskSpec,
  { by, costUsd }: Credit,
): string {
  const cost = costText(costUsd);
  return fill(conventions.mergeMessage, { ...messageWords(run, task, by), cost });
}

function messageWords(run: string, task: TaskSpec, by: Assignee | null) {
  const { agent = 'somebody', model = 'default' } = by ?? {};
  return { run, task: task.id, title: titleOf(task), agent, model };
}

function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}
