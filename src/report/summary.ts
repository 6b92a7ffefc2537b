/**
 * How a run ends on a terminal: a text that stays short however many tasks failed, and the exit
 * code.
 */

import type { Sha, TaskId } from '../model/plan.ts';
import { costOf, isHeldBack, isMet, type RunState, type TaskState } from '../model/state.ts';
import { deniedLines, doubtClause } from './denied.ts';
import { failedCommand, failedCommandLines } from './failed-command.ts';
import { durationText, type Ink, moneyText, nameList, PLAIN_INK, shortSha } from './format.ts';
import { brokenLines, unreliableText } from './gate-problems.ts';
import {
  deliveriesOf,
  deliveryText,
  failureOf,
  isUnpublished,
  outcomeSentence,
  RESULT_ICONS,
  tasksWith,
} from './outcome.ts';
import { approvalLines, blockedLines } from './publication.ts';
import { clashClause, foreseenLines } from './radar.ts';
import type { ReportInfo } from './remedy.ts';
import {
  branchOf,
  combinationOf,
  hasKeptWork,
  logsCommand,
  remedyOf,
  resumeCommand,
} from './remedy.ts';
import { brief } from './sanitize.ts';

export interface SummaryInfo extends ReportInfo {
  readonly report?: string;
  readonly ink?: Ink;
}

export function summaryText(state: RunState, info: SummaryInfo): string {
  const ink = info.ink ?? PLAIN_INK;
  const failed = tasksWith(state, 'failed');
  const sections = [
    headline(state, ink),
    brokenLines(state, { run: info.run, ink }),
    deliveredLines(state),
    ...failed.slice(0, SHOWN).map((task) => failedTask(state, task, info)),
    restLines(state, failed.length, info),
    [...deniedLines(state)],
    [...foreseenLines(state)],
    unreliableText(state),
    publishLines(state, info.run, ink),
    nextLines(state, info),
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

/** The exit code of a run; the signal handler decides that of an interrupted one. */
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
  const isSound = doubtClause(state) + clashClause(state) === '';
  const style = exitCodeOf(state) !== 0 ? 'bad' : isSound ? 'good' : 'warn';
  const name = ink.paint('bold', brief(state.plan.name, 60));
  const facts = [
    durationText((state.finishedAt ?? state.at) - state.startedAt),
    moneyText(costOf(state)),
    ...(state.head === null ? [] : whatLanded(state, state.head)),
  ];
  return [
    `${name}: ${ink.paint(style, outcomeSentence(state))}`,
    ink.paint('dim', `  ${facts.join('  ')}`),
  ];
}

function whatLanded(state: RunState, head: Sha): string[] {
  if (state.plan.landing.strategy === 'none') return [`delivered ${deliveriesOf(state).length}`];
  return [`landed ${state.landed.length}`, `head ${shortSha(head)}`];
}

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
  const { saved = [] } = task;
  const left = brief(nameList(saved), 300);
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
    ...failedCommandLines(failedCommand(failure, task.spec.id)).map((line) => `    ${line}`),
    ...(isNamed ? [] : [`    Its work is kept in its workspace, on branch ${branch}.`]),
    ...(saved.length === 0 ? [] : [`    It left changes in your checkout: ${left}`]),
    `    ${remedy.text}`,
    `    ${paint('accent', remedy.command)}`,
  ];
}

/** Tasks not shown above: further failures, and those that never ended. */
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

function publishLines(state: RunState, run: string, { paint }: Ink): string[] {
  const { publish } = state;
  const target = brief(state.target ?? 'the target', 80);
  if (isHeldBack(state)) {
    return [
      paint('warn', `A conflict holds the run back: nothing is published to ${target}.`),
      '    Every workspace is kept; what landed is on the branch of the run.',
    ];
  }
  if (publish.kind !== 'blocked') return approvalLines(state, run, paint);
  return blockedLines(`Publishing to ${target} is blocked:`, publish, paint);
}

function nextLines(state: RunState, info: SummaryInfo): string[] {
  const report = info.report === undefined ? [] : [`Report: ${brief(info.report, 300)}`];
  if (exitCodeOf(state) === 0) return report;
  const [first] = tasksWith(state, 'failed', 'unfinished').filter(
    ({ attempts }) => attempts.length > 0,
  );
  const isOpen = tasksWith(state, 'succeeded').length < state.tasks.size;
  const isResumable = isOpen || state.outcome === 'interrupted';
  const commands = [
    ...(first === undefined ? [] : [logsCommand(first.spec.id)]),
    'landfast status',
    ...(isResumable ? [resumeCommand(info.run)] : []),
  ];
  return [`Next: ${commands.join(', ')}`, ...report];
}

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
