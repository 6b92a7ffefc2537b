/**
 * What a plan will do, before it does it: stages, the critical path, who cannot run with whom.
 *
 *   R1. Whatever the plan's author wrote is shown without control characters.
 *   R2. The way back for programs is `planJson`; the text may change.
 */

import { ancestors, criticalPath, stages } from '../model/graph.ts';
import type { Plan, TaskId, TaskSpec } from '../model/plan.ts';
import { overlaps } from '../model/scope.ts';

/** What the text says beside the plan itself. */
export interface PlanTextExtra {
  readonly format: string;
  /** The plan's own limit, or what the command line made of it. */
  readonly maxWorkers: number;
}

/** A plan's shape as data: its stages, the longest chain, and pairs that will not run together. */
export interface PlanShape {
  readonly stages: readonly (readonly TaskId[])[];
  readonly criticalPath: readonly TaskId[];
  readonly overlaps: readonly (readonly [TaskId, TaskId])[];
  readonly plan: Plan;
}

/** The plan for a person to read. Ends with a line break. */
export function planText(plan: Plan, extra: PlanTextExtra): string {
  const shape = planJson(plan);
  const blocks = [
    headLines(plan, shape, extra),
    ...shape.stages.map((ids, index) => stageLines(plan, ids, index + 1)),
    pathLines(shape),
    overlapLines(shape),
    setupLines(plan),
    gateLines(plan),
    landingLines(plan, extra),
  ];
  const shown = blocks.filter((lines) => lines.length > 0);
  return `${shown.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** What a dry run prints: the plan, or the lines that scripts of the plan's users read. */
export function dryRunText(plan: Plan, extra: PlanTextExtra): string {
  if (plan.conventions.summary !== 'lines') return planText(plan, extra);
  return `${dryRunLines(plan, extra.maxWorkers).join('\n')}\n`;
}

/** The plan and its shape as a plain object. */
export function planJson(plan: Plan): PlanShape {
  const byStage: TaskId[][] = [];
  const stageOf = stages(plan.tasks);
  for (const { id } of plan.tasks) {
    const index = stageOf.get(id)! - 1;
    byStage[index] = [...(byStage[index] ?? []), id];
  }
  return {
    stages: byStage,
    criticalPath: criticalPath(plan.tasks, () => 1),
    overlaps: overlappingPairs(plan),
    plan,
  };
}

/** Pairs whose scopes could meet and that nothing else keeps apart. */
function overlappingPairs(plan: Plan): (readonly [TaskId, TaskId])[] {
  const order = ancestors(plan.tasks);
  const writers = plan.tasks.filter(({ mode, writes }) => mode === 'write' && writes.length > 0);
  const pairs: (readonly [TaskId, TaskId])[] = [];
  for (const [index, a] of writers.entries()) {
    for (const b of writers.slice(index + 1)) {
      if (!order.isOrdered(a.id, b.id) && overlaps(a.writes, b.writes)) pairs.push([a.id, b.id]);
    }
  }
  return pairs;
}

function headLines(plan: Plan, shape: PlanShape, { format, maxWorkers }: PlanTextExtra): string[] {
  const target = plan.target === undefined ? 'the branch that is checked out' : clean(plan.target);
  return [
    `Plan ${clean(plan.name)} (${format})`,
    `Target: ${target}`,
    `${counts(plan, shape.stages.length)}, at most ${maxWorkers} at a time`,
  ];
}

function stageLines(plan: Plan, ids: readonly TaskId[], stage: number): string[] {
  const wanted = new Set(ids);
  const tasks = plan.tasks.filter(({ id }) => wanted.has(id));
  const width = Math.max(...ids.map((id) => id.length));
  return [
    `Stage ${stage}`,
    ...tasks.map((task) => `  ${task.id.padEnd(width)}  ${taskFacts(task, plan).join('; ')}`),
  ];
}

function taskFacts(task: TaskSpec, plan: Plan): string[] {
  const agent = [task.agent, task.role, task.model].filter((part) => part !== undefined);
  const facts = [clean(agent.join(' / '))];
  if (task.mode === 'read') facts.push('read-only');
  if (task.mode === 'here') facts.push('in your own checkout');
  if (task.needs.length > 0) facts.push(`needs ${task.needs.join(', ')}`);
  if (task.writes.length > 0) facts.push(`writes ${clean(task.writes.join(', '))}`);
  if (task.forbids.length > 0) facts.push(`forbids ${clean(task.forbids.join(', '))}`);
  if (task.checks.length > 0) facts.push(`checks ${task.checks.map(clean).join(', ')}`);
  if (task.group !== undefined) facts.push(`group ${clean(groupText(task.group, plan))}`);
  facts.push(task.retries === 1 ? '1 retry' : `${task.retries} retries`);
  return facts;
}

function pathLines({ criticalPath: path }: PlanShape): string[] {
  return path.length < 2 ? [] : [`Critical path: ${path.join(' -> ')}`];
}

const MAX_PAIRS_SHOWN = 20;

function overlapLines({ overlaps: pairs }: PlanShape): string[] {
  if (pairs.length === 0) return [];
  const shown = pairs.slice(0, MAX_PAIRS_SHOWN).map(([a, b]) => `  ${a} and ${b}`);
  const left = pairs.length - shown.length;
  const rest = left === 0 ? [] : [`  and ${left} more`];
  return ['Overlapping writes (these do not run together)', ...shown, ...rest];
}

/** What prepares a workspace, and whether that can be skipped. */
function setupLines({ workspace }: Plan): string[] {
  const { setup, setupKey: key, keepFiles = [], seed = [] } = workspace;
  if (setup.length === 0) return [];
  const ways = [
    ...(keepFiles.length === 0 ? [] : [`${keepFiles.join(', ')} is kept`]),
    ...(seed.length === 0 ? [] : [`${seed.join(', ')} is there as a seed`]),
  ];
  const again =
    key.length === 0 || ways.length === 0
      ? 'for every task'
      : `skipped where ${clean(ways.join(' or '))}, and ${clean(key.join(', '))} is unchanged`;
  return [`Set-up (${again})`, ...setup.map((command) => `  ${clean(command)}`)];
}

function gateLines({ gates }: Plan): string[] {
  if (gates.length === 0) return ['Gates: none'];
  const lines = gates.map(
    ({ name, run, timeoutMs }) => `  ${name}: ${clean(run)} (at most ${durationText(timeoutMs)})`,
  );
  return ['Gates', ...lines];
}

function landingLines({ landing, limits }: Plan, { maxWorkers }: PlanTextExtra): string[] {
  const { strategy, verify, onConflict, onGateFailure, reworks, publish } = landing;
  const groups = Object.entries(limits.groups).map(([group, limit]) => `${clean(group)} ${limit}`);
  const facts = [`workers ${maxWorkers}`, `gates ${limits.gates}`];
  if (limits.budgetUsd !== undefined) facts.push(`budget $${limits.budgetUsd}`);
  if (groups.length > 0) facts.push(`groups ${groups.join(', ')}`);
  if (strategy === 'none') {
    const push = landing.push === undefined ? 'not pushed' : `pushed to ${clean(landing.push)}`;
    return [
      `Landing: none: work stays on its branch, ${push}; verify ${verify}, on gate failure ` +
        `${onGateFailure}, reworks ${reworks}`,
      `Limits: ${facts.join(', ')}`,
    ];
  }
  return [
    `Landing: ${strategy}, verify ${verify}, on conflict ${onConflict}, on gate failure ` +
      `${onGateFailure}, reworks ${reworks}, publish ${publish}`,
    `Limits: ${facts.join(', ')}`,
  ];
}

/** One line a task in plan order, for those whose scripts read it. */
function dryRunLines(plan: Plan, maxWorkers: number): string[] {
  const stageOf = stages(plan.tasks);
  const lines = plan.tasks.map((task) => {
    const parts = [
      `[stage ${stageOf.get(task.id)}]`,
      task.id,
      `agent=${task.role ?? ''}`,
      `timeout=${task.timeoutMs / 1_000}s`,
    ];
    if (task.retries > 0) parts.push(`retries=${task.retries}`);
    if (task.mode === 'read') parts.push('read_only');
    if (task.needs.length > 0)
      parts.push(`depends=[${task.needs.map((id) => `'${id}'`).join(', ')}]`);
    if (task.group !== undefined) parts.push(`group=${clean(groupText(task.group, plan))}`);
    return `  ${parts.join(' ')}`;
  });
  const depth = Math.max(0, ...stageOf.values());
  const header = `Execution plan (max_workers=${maxWorkers}):`;
  return ['Dry run: nothing is executed.', '', header, ...lines, '', counts(plan, depth, ', ')];
}

function counts(plan: Plan, stageCount: number, between = ' in '): string {
  const number = (n: number, noun: string) => `${n} ${noun}${n === 1 ? '' : 's'}`;
  return `${number(plan.tasks.length, 'task')}${between}${number(stageCount, 'stage')}`;
}

function groupText(group: string, plan: Plan): string {
  return `${group}(limit=${plan.limits.groups[group]})`;
}

function durationText(ms: number): string {
  const parts = [
    [Math.floor(ms / 3_600_000), 'h'],
    [Math.floor(ms / 60_000) % 60, 'm'],
    [(ms / 1_000) % 60, 's'],
  ] as const;
  return parts
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => `${amount}${unit}`)
    .join('');
}

/** One line, without anything a terminal would obey. */
function clean(text: string): string {
  const [first = '', ...rest] = text.trim().split('\n');
  const line = first.replace(/[\x00-\x1f\x7f-\x9f]/g, '?');
  return rest.length === 0 ? line : `${line} …`;
}
