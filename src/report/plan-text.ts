/**
 * What a plan will do (stages, critical path, overlapping tasks), how an edited plan changes a run,
 * and what `landfast land --dry-run` would land. `planJson` is the form for programs; the text may
 * change.
 */

import type { ChangedTask, PlanDifference } from '../model/event.ts';
import { ancestors, criticalPath, stages } from '../model/graph.ts';
import { type Plan, type TaskId, type TaskSpec, usesCheckout } from '../model/plan.ts';
import { ScopeIndex } from '../model/scope-index.ts';
import { isGood, type RunState } from '../model/state.ts';
import { count, nameList } from './format.ts';
import { brief, clean } from './sanitize.ts';

export interface PlanTextExtra {
  readonly format: string;
  /** The plan's limit, or the command line's. */
  readonly maxWorkers: number;
}

/** A plan's shape as data: its stages, the longest chain, and pairs that will not run together. */
type PlanShape = ReturnType<typeof planJson>;

export function planText(plan: Plan, extra: PlanTextExtra): string {
  const shape = planJson(plan);
  const specs = new Map(plan.tasks.map((task) => [task.id, task]));
  const specOf = (id: TaskId): TaskSpec => specs.get(id)!;
  const blocks = [
    headLines(plan, shape, extra),
    ...shape.stages.map((ids, index) => stageLines(plan, ids.map(specOf), index + 1)),
    pathLines(shape),
    overlapLines(shape),
    setupLines(plan),
    gateLines(plan),
    landingLines(plan, extra),
  ];
  const shown = blocks.filter((lines) => lines.length > 0);
  return `${shown.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** The plan, or the line format that the plan's convention asks for. */
export function dryRunText(plan: Plan, extra: PlanTextExtra): string {
  if (plan.conventions.summary !== 'lines') return planText(plan, extra);
  return `${dryRunLines(plan, extra.maxWorkers).join('\n')}\n`;
}

export function planJson(plan: Plan) {
  const stageOf = stages(plan.tasks);
  const byStage = Map.groupBy(
    plan.tasks.map(({ id }) => id),
    (id) => stageOf.get(id)!,
  );
  return {
    stages: [...byStage].sort(([a], [b]) => a - b).map(([, ids]) => ids),
    criticalPath: criticalPath(plan.tasks, () => 1),
    overlaps: overlappingPairs(plan),
    plan,
  };
}

/** Pairs whose scopes could overlap and that no dependency orders. */
function overlappingPairs(plan: Plan): (readonly [TaskId, TaskId])[] {
  const order = ancestors(plan.tasks);
  const later = new ScopeIndex<TaskSpec>();
  const placeOf = new Map(plan.tasks.map((task, index) => [task, index]));
  const pairs: (readonly [TaskId, TaskId])[][] = [];
  for (const task of plan.tasks.toReversed()) {
    const { id, mode, writes } = task;
    if (mode !== 'write' || writes.length === 0) continue;
    const met = later.meeting(writes, (other) => !order.isOrdered(id, other.id));
    const inPlanOrder = [...met].sort((a, b) => placeOf.get(a)! - placeOf.get(b)!);
    pairs.push(inPlanOrder.map((other) => [id, other.id]));
    later.add(writes, task);
  }
  return pairs.reverse().flat();
}

function headLines(plan: Plan, shape: PlanShape, { format, maxWorkers }: PlanTextExtra): string[] {
  return [
    `Plan ${firstLineOf(plan.name)} (${format})`,
    `Target: ${firstLineOf(plan.target ?? 'the branch that is checked out')}`,
    `${counts(plan, shape.stages.length)}, at most ${maxWorkers} at a time`,
  ];
}

function stageLines(plan: Plan, tasks: readonly TaskSpec[], stage: number): string[] {
  const width = Math.max(...tasks.map(({ id }) => id.length));
  return [
    `Stage ${stage}`,
    ...tasks.map((task) => `  ${task.id.padEnd(width)}  ${taskFacts(task, plan).join('; ')}`),
  ];
}

function taskFacts(task: TaskSpec, plan: Plan): string[] {
  const agent = [task.agent, task.role, task.model].filter((part) => part !== undefined);
  const facts = [firstLineOf(agent.join(' / '))];
  if (task.mode === 'read') facts.push('read-only');
  if (usesCheckout(task)) facts.push('in your own checkout');
  if (task.needs.length > 0) facts.push(`needs ${task.needs.join(', ')}`);
  if (task.writes.length > 0) facts.push(`writes ${firstLineOf(task.writes.join(', '))}`);
  if (task.forbids.length > 0) facts.push(`forbids ${firstLineOf(task.forbids.join(', '))}`);
  if (task.checks.length > 0) facts.push(`checks ${task.checks.map(firstLineOf).join(', ')}`);
  if (task.group !== undefined) facts.push(`group ${firstLineOf(groupText(task.group, plan))}`);
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
      : `skipped where ${firstLineOf(ways.join(' or '))}, and ${firstLineOf(key.join(', '))} is unchanged`;
  return [`Set-up (${again})`, ...setup.map((command) => `  ${firstLineOf(command)}`)];
}

function gateLines({ gates }: Plan): string[] {
  if (gates.length === 0) return ['Gates: none'];
  const lines = gates.map(({ name, run, timeoutMs }) => {
    return `  ${name}: ${firstLineOf(run)} (at most ${durationText(timeoutMs)})`;
  });
  return ['Gates', ...lines];
}

function landingLines({ landing, limits }: Plan, { maxWorkers }: PlanTextExtra): string[] {
  const { strategy, verify, onConflict, onGateFailure, reworks, publish } = landing;
  const groups = Object.entries(limits.groups).map(
    ([name, most]) => `${firstLineOf(name)} ${most}`,
  );
  const facts = [`workers ${maxWorkers}`, `gates ${limits.gates}`];
  if (limits.budgetUsd !== undefined) facts.push(`budget $${limits.budgetUsd}`);
  if (groups.length > 0) facts.push(`groups ${groups.join(', ')}`);
  const gates = `on gate failure ${onGateFailure}, reworks ${reworks}`;
  const order = landing.order === undefined ? '' : ', in the order of the plan';
  const push = landing.push === undefined ? 'not pushed' : `pushed to ${firstLineOf(landing.push)}`;
  const how =
    strategy === 'none'
      ? `none: work stays on its branch, ${push}; verify ${verify}, ${gates}`
      : `${strategy}${order}, verify ${verify}, on conflict ${onConflict}, ${gates}, publish ${publish}`;
  return [`Landing: ${how}`, `Limits: ${facts.join(', ')}`];
}

/** One machine-readable line per task, in plan order. */
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
    if (task.group !== undefined) parts.push(`group=${firstLineOf(groupText(task.group, plan))}`);
    return `  ${parts.join(' ')}`;
  });
  const depth = Math.max(0, ...stageOf.values());
  const header = `Execution plan (max_workers=${maxWorkers}):`;
  return ['Dry run: nothing is executed.', '', header, ...lines, '', counts(plan, depth, ', ')];
}

function counts(plan: Plan, stageCount: number, between = ' in '): string {
  return `${count(plan.tasks.length, 'task')}${between}${count(stageCount, 'stage')}`;
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

/** The first line, without control characters. */
function firstLineOf(text: string): string {
  const [first = '', ...rest] = text.trim().split('\n');
  const line = first.replace(/[\x00-\x1f\x7f-\x9f]/g, '?');
  return rest.length === 0 ? line : `${line} …`;
}

/** Lines for added, changed and removed tasks, then other sections. */
export function differenceLines(state: RunState, difference: PlanDifference): readonly string[] {
  const { added, changed, removed, sections } = difference;
  return [
    ...added.map((task) => `+ ${brief(task, 60)}`),
    ...changed.map((task) => `~ ${changedLine(state, task)}`),
    ...removed.map((task) => `- ${removedLine(state, task)}`),
    ...(sections.length === 0 ? [] : [`~ plan: ${nameList(sections, 20)}`]),
  ];
}

export function differenceText({ added, changed, removed, sections }: PlanDifference): string {
  const parts = [
    ...(added.length === 0 ? [] : [`${count(added.length, 'task')} new`]),
    ...(changed.length === 0 ? [] : [`${count(changed.length, 'task')} changed`]),
    ...(removed.length === 0 ? [] : [`${count(removed.length, 'task')} removed`]),
    ...(sections.length === 0 ? [] : [`${nameList(sections, 20)} changed`]),
  ];
  return parts.join(', ');
}

function changedLine(state: RunState, { task, keys, fresh }: ChangedTask): string {
  const what = keys.length === 0 ? 'is back' : nameList(keys, 20);
  const name = `${brief(task, 60)}: ${what}`;
  const known = state.tasks.get(task);
  const kind = known?.status.kind;
  if (kind === 'committed' || kind === 'merging')
    return `${name}; its finished work lands unchanged`;
  if (known === undefined || known.attempts.length === 0) return name;
  return `${name}; ${fresh ? 'it starts over, and its work so far is kept' : 'it continues its work'}`;
}

function removedLine(state: RunState, id: TaskId): string {
  const task = state.tasks.get(id);
  const wasTried = task !== undefined && !isGood(task) && task.attempts.length > 0;
  return `${brief(id, 60)}${wasTried ? '; its work so far is kept' : ''}`;
}

export interface LandForecast {
  readonly name: string;
  readonly commits: number;
  /** Files it changes relative to what is ahead of it. */
  readonly files: number;
  /** Files in which it conflicts with the target or with what is ahead of it. */
  readonly conflicts: readonly string[];
}

export function landForecast(plan: Plan, branches: readonly LandForecast[]): string {
  const width = Math.max(...branches.map(({ name }) => clean(name).length));
  const lines = branches.map(({ name, commits, files, conflicts }) => {
    const what =
      conflicts.length > 0
        ? `conflicts in ${nameList(conflicts.map(clean))}`
        : `${count(commits, 'commit')}, ${count(files, 'file')}`;
    return `  ${clean(name).padEnd(width)}  ${what}`;
  });
  const gates = plan.gates.map(({ name }) => clean(name));
  const { strategy, verify, onConflict } = plan.landing;
  const isVerified = gates.length > 0 && verify !== 'off';
  return [
    `Would land ${count(branches.length, 'branch', 'branches')} on ${clean(plan.target ?? '')} (${strategy}):`,
    ...lines,
    isVerified ? `Verified (${verify}) by ${nameList(gates)}.` : 'Nothing is verified.',
    onConflict === 'agent' ? 'An agent resolves conflicts.' : 'Conflicting branches do not land.',
    '',
  ].join('\n');
}
