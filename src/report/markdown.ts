/**
 * The report as Markdown: what happened, what landed, what went wrong and what to do. Every failed
 * task has its reason, where its work is, and the next command.
 */

import type { ProvedWork } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import { clashSentences } from '../model/radar.ts';
import { awaitsApproval, costOf, isGood, type RunState, type TaskState } from '../model/state.ts';
import { allowingLines, denialsOf, doubtOf } from './denied.ts';
import { failedCommand, failedCommandLines } from './failed-command.ts';
import { count, durationText, isoTime, moneyText, shortSha } from './format.ts';
import { brokenText, unreliableText } from './gate-problems.ts';
import { bullets, code, escaped, fence, table } from './markup.ts';
import {
  assigneeOf,
  deliveriesOf,
  failureOf,
  instructionText,
  outcomeSentence,
  REPORTED_ICONS,
  type ReportedResult,
  reportedResultOf,
  resultOf,
  retriesOf,
  tasksWith,
  workMs,
} from './outcome.ts';
import { howSettled, treeWord } from './queue.ts';
import { foreseenClashes } from './radar.ts';
import {
  approveCommand,
  branchOf,
  combinationOf,
  hasKeptWork,
  outputOf,
  type ReportInfo,
  remedyOf,
  resumeCommand,
} from './remedy.ts';

/** The whole report, up to the last entry of an unfinished run. */
export function reportMarkdown(state: RunState, info: ReportInfo): string {
  const blocks = [
    `# ${escaped(state.plan.name, 120)}`,
    escaped(outcomeSentence(state), 300),
    facts(state, info),
    '## Results',
    results(state),
    taskTable(state),
    ...landedSection(state),
    ...deliveredSection(state),
    ...caughtSection(state),
    ...foreseenSection(state),
    ...troubleSection(state, info),
    ...proofSection(state),
    ...gatesSection(state),
    ...profileSection(info),
    ...perTask(state, 'Conflicts resolved without an agent', settledLine),
    ...perTask(state, 'What agents reported', saidLine),
    ...perTask(state, 'Notes and reviews for agents', instructionsLine),
    ...perTask(state, 'Denied tools', (task) => deniedLine(state, task)),
    ...perTask(state, 'Files outside the declared scope', outsideLine),
    ...perTask(state, 'Changes in your checkout while agents ran', strayedLine),
    ...perTask(state, 'Kept workspaces', (task) => keptLine(state, task, info)),
  ];
  return `${blocks.join('\n\n')}\n`;
}

/** Where the time went, the most expensive first. */
function profileSection({ profile }: ReportInfo): string[] {
  if (profile === undefined) return [];
  const rows = Object.entries(profile).map(([kind, { ms, count: times }]) => {
    return [escaped(kind, 40), durationText(ms), String(times)];
  });
  return ['## Where the time went', table(['work', 'time', 'times'], rows)];
}

function facts(state: RunState, info: ReportInfo): string {
  const end = state.finishedAt;
  return bullets([
    `**Started:** ${isoTime(state.startedAt)}`,
    `**Finished:** ${end === null ? 'not yet' : isoTime(end)}`,
    `**Duration:** ${durationText((end ?? state.at) - state.startedAt)}`,
    `**Run:** ${code(info.run)}`,
    `**Cost:** ${moneyText(costOf(state))}`,
    ...(state.target === null ? [] : [`**Target:** ${code(state.target)}`]),
    ...(state.head === null ? [] : [`**Head:** ${code(shortSha(state.head))}`]),
  ]);
}

function results(state: RunState): string {
  const told = [...state.tasks.values()].map((task) => reportedResultOf(state, task));
  const countOf = (word: ReportedResult): number => told.filter((each) => each === word).length;
  const always: readonly ReportedResult[] = ['succeeded', 'failed', 'skipped'];
  const others: readonly ReportedResult[] = ['resumed', 'cancelled', 'unfinished'];
  const shown = [...always, ...others.filter((word) => countOf(word) > 0)];
  return bullets(shown.map((word) => `${REPORTED_ICONS[word]} ${countOf(word)} ${word}`));
}

function taskTable(state: RunState): string {
  const rows = [...state.tasks.values()].map((task) => {
    const told = reportedResultOf(state, task);
    const ran = task.attempts.length > 0 && told !== 'resumed';
    return [
      escaped(task.spec.id, 80),
      escaped(assigneeOf(task), 80),
      `${REPORTED_ICONS[told]} ${told}`,
      ran ? durationText(workMs(task, state.at)) : NONE,
      ran ? String(retriesOf(task)) : NONE,
      failureOf(task)?.kind ?? NONE,
    ];
  });
  return table(['Task', 'Agent', 'Status', 'Duration', 'Retries', 'Failure'], rows);
}

function landedSection(state: RunState): string[] {
  if (state.landed.length === 0) return [];
  const lines = state.landed.map(({ task, commit }, index) => {
    const files = state.tasks.get(task)?.attempts.at(-1)?.files.length ?? 0;
    const size = files === 0 ? '' : `, ${count(files, 'file')}`;
    return `${index + 1}. ${code(task)} as ${code(shortSha(commit))}${size}`;
  });
  return ['## What landed, in order', lines.join('\n'), ...published(state)];
}

function deliveredSection(state: RunState): string[] {
  const lines = deliveriesOf(state).map(({ task, branch, pushed, commit }) => {
    const remote = pushed === null ? '' : `, pushed to ${code(pushed)}`;
    return `${code(task)} on branch ${code(branch)} at ${code(shortSha(commit))}${remote}`;
  });
  return lines.length === 0 ? [] : ['## What is on its branch', bullets(lines)];
}

function published({ publish }: RunState): string[] {
  if (publish.kind !== 'finished') return [];
  const where = `${code(publish.target)} at ${code(shortSha(publish.commit))}`;
  const checkout = publish.checkout === 'followed' ? ' The checkout was updated.' : '';
  return [`Published to ${where}.${checkout}`];
}

function caughtSection(state: RunState): string[] {
  const blocks = tasksWith(state, 'succeeded').flatMap((task) =>
    task.rejections.flatMap(({ attempt, failure }) => [
      `### ${code(task.spec.id)}: ${failure.kind}`,
      escaped(failure.message, 1000),
      ...together(task, failure),
      ...output(task, failure),
      `Attempt ${attempt} was sent back; attempt ${task.attempts.length} landed.`,
    ]),
  );
  return blocks.length === 0 ? [] : ['## What was caught before it landed', ...blocks];
}

function foreseenSection(state: RunState): string[] {
  const items = foreseenClashes(state).map((clash) => {
    const names = clashSentences(clash).map((text) => escaped(text, 300));
    const outcome = escaped(clash.outcome, 300);
    return `${names.join(' ')} ${clash.isOpen ? `**${outcome}**` : outcome}`;
  });
  return items.length === 0 ? [] : ['## What was foreseen', bullets(items)];
}

function troubleSection(state: RunState, info: ReportInfo): string[] {
  const failed = tasksWith(state, 'failed');
  const stopped = tasksWith(state, 'cancelled', 'unfinished');
  const begun = stopped.filter(({ attempts }) => attempts.length > 0);
  const blocks = [...failed, ...begun].flatMap((task) => taskTrouble(state, task, info));
  if (failed.length + stopped.length > 0) blocks.push(...goingOn(stopped, begun.length, info));
  if (state.publish.kind === 'blocked') {
    const { why, remedy } = state.publish;
    blocks.push('### Publishing', escaped(why, 1000), fence(remedy, 20));
  }
  if (awaitsApproval(state)) {
    const approve = fence(approveCommand(info.run), 20);
    blocks.push('### Publishing', 'It waits for your approval:', approve);
  }
  return blocks.length === 0 ? [] : ['## What went wrong and what to do', ...blocks];
}

function taskTrouble(state: RunState, task: TaskState, info: ReportInfo): string[] {
  const failure = failureOf(task);
  const remedy = remedyOf(state, task, info);
  const title = `### ${code(task.spec.id)}: ${failure?.kind ?? resultOf(task)}`;
  if (failure === null || remedy === null) return [title, 'It did not finish.'];
  return [
    title,
    escaped(failure.message, 1000),
    ...together(task, failure),
    ...output(task, failure),
    ...whereKept(state, task, info),
    remedy.text,
    fence(remedy.command, 1),
  ];
}

function goingOn(stopped: readonly TaskState[], begun: number, info: ReportInfo): string[] {
  const rest = stopped.length - begun;
  const unstarted = rest === 0 ? '' : `${count(rest, 'task was', 'tasks were')} never started. `;
  return [
    '### Resuming',
    `${unstarted}To retry everything that is not done:`,
    fence(resumeCommand(info.run), 1),
  ];
}

function together(task: TaskState, failure: Failure): string[] {
  const words = combinationOf(task, failure);
  if (words === null) return [];
  const gate = failure.kind === 'gate-failed' ? ` (gate ${code(failure.gate)})` : '';
  return [`**${code(task.spec.id)} ${escaped(words, 500)}**${gate}`];
}

function output(task: TaskState, failure: Failure): string[] {
  const command = failedCommandLines(failedCommand(failure, task.spec.id));
  const text = command.length > 0 ? command.join('\n') : outputOf(failure);
  return text.trim() === '' ? [] : [fence(text, OUTPUT_LINES)];
}

function whereKept(state: RunState, task: TaskState, info: ReportInfo): string[] {
  if (!hasKeptWork(state, task)) return [];
  const why = task.keptWhy === null ? '' : ` (${escaped(task.keptWhy, 300)})`;
  const branch = code(branchOf(state, task, info));
  return [`Its work is kept in its workspace, on the branch ${branch}${why}.`];
}

function gatesSection(state: RunState): string[] {
  const rows = [...state.tasks.values()].flatMap((task) =>
    task.gates.map(({ gate, ok, ms, tree, on }) => [
      escaped(task.spec.id, 80),
      escaped(gate, 80),
      `${ok ? '✓ green' : '✗ red'}${treeWord({ on })}`,
      durationText(ms),
      shortSha(tree),
    ]),
  );
  if (rows.length === 0) return [];
  const broken = state.broken === null ? [] : [brokenText(state.broken)];
  const notes = [...broken, ...unreliableText(state)].map((sentence) => escaped(sentence, 200));
  return ['## Gates', table(['Task', 'Gate', 'Verdict', 'Duration', 'Tree'], rows), ...notes];
}

type Line = (task: TaskState) => string | null;

function perTask(state: RunState, title: string, line: Line): string[] {
  const lines = [...state.tasks.values()].map(line).filter((text) => text !== null);
  return lines.length === 0 ? [] : [`## ${title}`, bullets(lines)];
}

function deniedLine(state: RunState, task: TaskState): string | null {
  const uses = denialsOf(task).map(({ tool, what, times }) => {
    const use = what === undefined ? '' : ` (${code(what)})`;
    return `${code(tool)}${use}${times === 1 ? '' : ` ${times} times`}`;
  });
  if (uses.length === 0) return null;
  const doubt = doubtOf(state, task);
  const lines = allowingLines(task).map(code);
  return [
    `${code(task.spec.id)}: ${uses.join(', ')}`,
    ...(doubt === null ? [] : [`**${doubt}**`]),
    ...(lines.length === 0 ? [] : [`to allow it: ${lines.join(', ')}`]),
  ].join('; ');
}

function settledLine({ spec, settled }: TaskState): string | null {
  const files = settled.map((file) => `${code(file.path)} ${escaped(howSettled(file), 200)}`);
  return files.length === 0 ? null : `${code(spec.id)}: ${files.join(', ')}`;
}

/** What the agent reported; the reason of a failed task is shown with its failure. */
function saidLine(task: TaskState): string | null {
  const said = task.attempts.at(-1)?.status ?? null;
  if (said === null) return null;
  const { status, summary, concerns } = said;
  return [
    `${code(task.spec.id)}: ${code(status)}`,
    ...(summary === undefined ? [] : [escaped(summary, 500)]),
    ...(concerns === undefined ? [] : [`**Concerns:** ${escaped(concerns, 500)}`]),
  ].join('; ');
}

function strayedLine({ spec, attempts }: TaskState): string | null {
  const files = [...new Set(attempts.flatMap(({ strayed }) => strayed))];
  return files.length === 0 ? null : `${code(spec.id)}: ${files.map(code).join(', ')}`;
}

function outsideLine(task: TaskState): string | null {
  const files = task.attempts.at(-1)?.outside ?? [];
  if (files.length === 0) return null;
  const shown = files.slice(0, 20).map(code);
  const rest = files.length > shown.length ? ` and ${files.length - shown.length} more` : '';
  return `${code(task.spec.id)}: ${shown.join(', ')}${rest}`;
}

function keptLine(state: RunState, task: TaskState, info: ReportInfo): string | null {
  if (task.workspace !== 'kept' || isGood(task)) return null;
  const branch = code(branchOf(state, task, info));
  return `${code(task.spec.id)} (${branch}): ${escaped(task.keptWhy ?? '', 300)}`;
}

const NONE = '—';
const OUTPUT_LINES = 40;

/** Shows that everything that landed is in the target, and where. */
function proofSection({ publish, landed, tasks }: RunState): string[] {
  if (publish.kind !== 'finished' || publish.proved === undefined) return [];
  const { works, by } = publish.proved;
  const how =
    by === 'history' ? 'every commit is in its history' : 'its changes are in the commit named';
  const target = code(publish.target);
  const sentence = `Shown for ${count(works, 'piece')} of work in ${target}: ${how}.`;
  const rows = landed.map(({ task, commit }) => {
    const { work = null, proved = null } = tasks.get(task) ?? {};
    const shown = proved === null ? ['', ''] : [ownText(proved), SHOWN[proved.by]];
    return [escaped(task, 80), work === null ? '' : shortSha(work), shortSha(commit), ...shown];
  });
  const head = ['Task', 'Work', 'Landed as', 'Its commits there', 'Shown by'];
  return ['## Proof', sentence, table(head, rows)];
}

function ownText({ commits, more = 0 }: ProvedWork): string {
  if (commits.length === 0) return NONE;
  const rest = more === 0 ? '' : ` and ${more} more`;
  return `${commits.map(shortSha).join(', ')}${rest}`;
}

const SHOWN: Readonly<Record<ProvedWork['by'], string>> = {
  history: 'every commit in the history',
  files: 'the same files',
};

function instructionsLine({ instructions }: TaskState): string | null {
  if (instructions.length === 0) return null;
  const told = instructions.map((each) => {
    const by = each.answeredBy;
    const answer = by === null ? 'not answered' : `answered by attempt ${by}`;
    return `${escaped(instructionText(each), 300)} (${answer})`;
  });
  return told.join('; ');
}
