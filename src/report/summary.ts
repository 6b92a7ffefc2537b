/**
 * How a run ends on a terminal: a short text for people, and the exit code.
 *
 *   Y1. The text is short however many tasks failed; the report has all of it.
 *   Y2. Whatever went wrong, there is a command to go on with.
 */

import type { Sha, TaskId } from '../model/plan.ts';
import type { RunState, TaskState } from '../model/state.ts';
import { costOf, isMet } from '../model/state.ts';
import { brief, clean } from './clean.ts';
import type { Ink } from './format.ts';
import { durationText, moneyText, nameList, PLAIN_INK, shortSha } from './format.ts';
import {
  deliveriesOf,
  deliveryText,
  failureOf,
  isUnpublished,
  outcomeSentence,
  RESULT_ICONS,
  tasksWith,
} from './outcome.ts';
import type { ReportInfo } from './remedy.ts';
import {
  branchOf,
  combinationOf,
  hasKeptWork,
  logsCommand,
  remedyOf,
  resumeCommand,
} from './remedy.ts';
import { unreliableText } from './unreliable.ts';

export interface SummaryInfo extends ReportInfo {
  /** Where the report was written, if it was. */
  readonly report?: string;
  readonly ink?: Ink;
}

/** The end of a run in a few lines: outcome, failures with their remedy, where to look next. */
export function summaryText(state: RunState, info: SummaryInfo): string {
  const ink = info.ink ?? PLAIN_INK;
  const failed = tasksWith(state, 'failed');
  const sections = [
    headline(state, ink),
    deliveredLines(state),
    ...failed.slice(0, SHOWN).map((task) => failedTask(state, task, info)),
    restLines(state, failed.length, info),
    unreliableText(state),
    publishLines(state, ink),
    nextLines(state, info),
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

/** How a run ends for its caller. Being interrupted is decided by who caught the signal. */
export function exitCodeOf(state: RunState): 0 | 1 | 3 {
  const open = tasksWith(state, 'failed', 'skipped', 'cancelled', 'unfinished');
  const bad = open.filter((task) => !isMet(task));
  if (bad.length === 0) return isUnpublished(state) ? 1 : 0;
  const onlyConflicts = bad.every((task) => rootKind(state, task) === 'conflict');
  return onlyConflicts && state.publish.kind !== 'blocked'
    ? state.plan.conventions.conflictExit
    : 1;
}

const SHOWN = 10;

function headline(state: RunState, ink: Ink): string[] {
  const good = exitCodeOf(state) === 0;
  const name = ink.paint('bold', brief(state.plan.name, 60));
  const facts = [
    durationText((state.finishedAt ?? state.at) - state.startedAt),
    moneyText(costOf(state)),
    ...(state.head === null ? [] : whatLanded(state, state.head)),
  ];
  return [
    `${name}: ${ink.paint(good ? 'good' : 'bad', outcomeSentence(state))}`,
    ink.paint('dim', `  ${facts.join('  ')}`),
  ];
}

function whatLanded(state: RunState, head: Sha): string[] {
  if (state.plan.landing.strategy === 'none') return [`delivered ${deliveriesOf(state).length}`];
  return [`landed ${state.landed.length}`, `head ${shortSha(head)}`];
}

/** Work that stays on its branch: somebody will want to know which. */
function deliveredLines(state: RunState): string[] {
  const delivered = deliveriesOf(state);
  const lines = delivered
    .slice(0, SHOWN)
    .map((each) => `${RESULT_ICONS.succeeded} ${brief(each.task, 60)}  ${deliveryText(each)}`);
  const rest = delivered.length - lines.length;
  return rest > 0 ? [...lines, `… and ${rest} more on their branches`] : lines;
}

function failedTask(state: RunState, task: TaskState, info: SummaryInfo): string[] {
  const { paint } = info.ink ?? PLAIN_INK;
  const failure = failureOf(task);
  const remedy = remedyOf(state, task, info);
  if (failure === null || remedy === null) return [];
  const combination = combinationOf(task, failure);
  const branch = brief(branchOf(state, task, info), 120);
  const isNamed = !hasKeptWork(state, task) || remedy.command.includes(branch);
  const name = paint('bad', `${RESULT_ICONS.failed} ${brief(task.spec.id, 60)}`);
  return [
    `${name}  ${failure.kind}: ${brief(failure.message, 160)}`,
    ...(combination === null ? [] : [`    It ${combination}.`]),
    ...(isNamed ? [] : [`    Its work is kept in its workspace, on branch ${branch}.`]),
    `    ${remedy.text}`,
    `    ${paint('accent', remedy.command)}`,
  ];
}

/** What is neither good nor shown with its reason: further failures, and what never ended. */
function restLines(state: RunState, failed: number, info: SummaryInfo): string[] {
  const { paint } = info.ink ?? PLAIN_INK;
  const lines: string[] = [];
  if (failed > SHOWN) lines.push(paint('bad', `… and ${failed - SHOWN} more failed`));
  for (const result of ['skipped', 'cancelled', 'unfinished'] as const) {
    const tasks = tasksWith(state, result);
    if (tasks.length === 0) continue;
    const names = tasks.map((task) => task.spec.id);
    const text = `${RESULT_ICONS[result]} ${names.length} ${result}: ${nameList(names, 5)}`;
    const kept = tasks.filter((task) => hasKeptWork(state, task));
    const branches = kept.map((task) => branchOf(state, task, info));
    lines.push(paint('warn', text));
    if (kept.length > 0) lines.push(`    Work is kept in workspaces, on ${nameList(branches, 5)}.`);
  }
  return lines;
}

function publishLines(state: RunState, { paint }: Ink): string[] {
  const { publish } = state;
  if (publish.kind !== 'blocked') return [];
  const target = brief(state.target ?? 'the target', 80);
  return [
    `${paint('warn', `Publishing to ${target} is blocked:`)} ${brief(publish.why, 300)}`,
    `    ${paint('accent', clean(publish.remedy))}`,
  ];
}

function isResumable(state: RunState): boolean {
  const isOpen = tasksWith(state, 'succeeded').length < state.tasks.size;
  return isOpen || state.outcome === 'interrupted';
}

function nextLines(state: RunState, info: SummaryInfo): string[] {
  const report = info.report === undefined ? [] : [`The report is ${brief(info.report, 300)}.`];
  if (exitCodeOf(state) === 0) return report;
  const [first] = tasksWith(state, 'failed', 'unfinished').filter(
    ({ attempts }) => attempts.length > 0,
  );
  const commands = [
    ...(first === undefined ? [] : [logsCommand(first.spec.id)]),
    'landfast status',
    ...(isResumable(state) ? [resumeCommand(info.run)] : []),
  ];
  return [`Look closer or go on: ${commands.join(', ')}`, ...report];
}

/** The kind of failure at the root of a chain of skipped tasks. */
function rootKind(state: RunState, task: TaskState): string | null {
  const seen = new Set<TaskId>();
  let at: TaskState | undefined = task;
  while (at !== undefined && !seen.has(at.spec.id)) {
    seen.add(at.spec.id);
    const failure = at.status.kind === 'failed' ? at.status.failure : null;
    if (failure?.kind !== 'dependency-failed') return failure?.kind ?? null;
    at = state.tasks.get(failure.dependency);
  }
  return null;
}
