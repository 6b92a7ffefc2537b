/**
 * The report as Markdown, for people: what happened, what landed, what went wrong and what to do.
 *
 *   K1. Nothing from data changes the structure: inline text is escaped, a code span or fence is
 *       longer than any run of back-ticks inside it, a table cell holds no bare pipe or line end.
 *   K2. Every failed task has its reason, where its work is, and the next command.
 */

import type { Failure } from '../model/failure.ts';
import type { RunState, TaskState } from '../model/state.ts';
import { costOf } from '../model/state.ts';
import { count, durationText, isoTime, moneyText, shortSha } from './format.ts';
import { bullets, code, escaped, fence, table } from './markup.ts';
import type { Told } from './outcome.ts';
import {
  deliveriesOf,
  deniedTools,
  doerOf,
  failureOf,
  outcomeSentence,
  resultOf,
  retriesOf,
  TOLD_ICONS,
  tasksWith,
  toldOf,
  workMs,
} from './outcome.ts';
import { proofSection } from './proof-section.ts';
import type { ReportInfo } from './remedy.ts';
import {
  branchOf,
  combinationOf,
  hasKeptWork,
  outputOf,
  remedyOf,
  resumeCommand,
} from './remedy.ts';
import { howSettled } from './settled.ts';
import { unreliableText } from './unreliable.ts';

/** The whole report. A run that is not over is told up to its last entry. */
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
    ...troubleSection(state, info),
    ...proofSection(state),
    ...gatesSection(state),
    ...profileSection(info),
    ...perTask(state, 'Conflicts that were settled without asking anybody', settledLine),
    ...perTask(state, 'What agents said of their work', saidLine),
    ...perTask(state, 'Denied tools', deniedLine),
    ...perTask(state, 'Files outside the declared scope', outsideLine),
    ...perTask(state, 'Changes in your own checkout while agents ran', strayedLine),
    ...perTask(state, 'Kept workspaces', (task) => keptLine(state, task, info)),
  ];
  return `${blocks.join('\n\n')}\n`;
}

/** Where the time went, the most expensive first. */
function profileSection({ profile }: ReportInfo): string[] {
  if (profile === undefined) return [];
  const rows = Object.entries(profile).map(([kind, { ms, count: times }]) => [
    escaped(kind, 40),
    durationText(ms),
    String(times),
  ]);
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
  const told = [...state.tasks.values()].map((task) => toldOf(state, task));
  const countOf = (word: Told): number => told.filter((each) => each === word).length;
  const always: readonly Told[] = ['succeeded', 'failed', 'skipped'];
  const others = (['resumed', 'cancelled', 'unfinished'] as const).filter(
    (word) => countOf(word) > 0,
  );
  return bullets(
    [...always, ...others].map((word) => `${TOLD_ICONS[word]} ${countOf(word)} ${word}`),
  );
}

function taskTable(state: RunState): string {
  const rows = [...state.tasks.values()].map((task) => {
    const told = toldOf(state, task);
    const ran = task.attempts.length > 0 && told !== 'resumed';
    return [
      escaped(task.spec.id, 80),
      escaped(doerOf(task), 80),
      `${TOLD_ICONS[told]} ${told}`,
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
  const checkout = publish.checkout === 'followed' ? ' The checkout followed.' : '';
  return [`Published to ${where}.${checkout}`];
}

/** Work that was refused at first and landed in the end: nobody needs to act. */
function caughtSection(state: RunState): string[] {
  const blocks = tasksWith(state, 'succeeded').flatMap((task) =>
    task.rejections.flatMap(({ attempt, failure }) => [
      `### ${code(task.spec.id)}: ${failure.kind}`,
      escaped(failure.message, 1000),
      ...together(task, failure),
      ...output(failure),
      `Attempt ${attempt} was sent back; attempt ${task.attempts.length} landed.`,
    ]),
  );
  return blocks.length === 0 ? [] : ['## What was caught before it landed', ...blocks];
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
  return blocks.length === 0 ? [] : ['## What went wrong and what to do', ...blocks];
}

function taskTrouble(state: RunState, task: TaskState, info: ReportInfo): string[] {
  const failure = failureOf(task);
  const remedy = remedyOf(state, task, info);
  const title = `### ${code(task.spec.id)}: ${failure?.kind ?? resultOf(task)}`;
  if (failure === null || remedy === null) return [title, 'It did not get to its end.'];
  return [
    title,
    escaped(failure.message, 1000),
    ...together(task, failure),
    ...output(failure),
    ...whereKept(state, task, info),
    remedy.text,
    fence(remedy.command, 1),
  ];
}

function goingOn(stopped: readonly TaskState[], begun: number, info: ReportInfo): string[] {
  const rest = stopped.length - begun;
  const unstarted = rest === 0 ? '' : `${count(rest, 'task was', 'tasks were')} never started. `;
  return [
    '### Going on',
    `${unstarted}This tries again whatever is not done:`,
    fence(resumeCommand(info.run), 1),
  ];
}

function together(task: TaskState, failure: Failure): string[] {
  const words = combinationOf(task, failure);
  if (words === null) return [];
  const gate = failure.kind === 'gate-failed' ? ` (gate ${code(failure.gate)})` : '';
  return [`**${code(task.spec.id)} ${escaped(words, 500)}**${gate}`];
}

function output(failure: Failure): string[] {
  const text = outputOf(failure);
  return text.trim() === '' ? [] : [fence(text, OUTPUT_LINES)];
}

function whereKept(state: RunState, task: TaskState, info: ReportInfo): string[] {
  if (!hasKeptWork(state, task)) return [];
  const why = task.keptWhy === null ? '' : ` (${escaped(task.keptWhy, 300)})`;
  return [
    `Its work is kept in its workspace, on the branch ${code(branchOf(state, task, info))}${why}.`,
  ];
}

function gatesSection(state: RunState): string[] {
  const rows = [...state.tasks.values()].flatMap((task) =>
    task.gates.map(({ gate, ok, ms, tree }) => [
      escaped(task.spec.id, 80),
      escaped(gate, 80),
      ok ? '✓ green' : '✗ red',
      durationText(ms),
      shortSha(tree),
    ]),
  );
  if (rows.length === 0) return [];
  const notes = unreliableText(state).map((sentence) => escaped(sentence, 200));
  return ['## Gates', table(['Task', 'Gate', 'Verdict', 'Duration', 'Tree'], rows), ...notes];
}

function perTask(
  state: RunState,
  title: string,
  line: (task: TaskState) => string | null,
): string[] {
  const lines = [...state.tasks.values()].map(line).filter((text) => text !== null);
  return lines.length === 0 ? [] : [`## ${title}`, bullets(lines)];
}

function deniedLine(task: TaskState): string | null {
  const tools = [...deniedTools(task)].map(([tool, times]) =>
    times === 1 ? code(tool) : `${code(tool)} (${times} times)`,
  );
  return tools.length === 0 ? null : `${code(task.spec.id)}: ${tools.join(', ')}`;
}

function settledLine({ spec, settled }: TaskState): string | null {
  const files = settled.map((file) => `${code(file.path)} ${escaped(howSettled(file), 200)}`);
  return files.length === 0 ? null : `${code(spec.id)}: ${files.join(', ')}`;
}

/** A word of its own only; a failed task's reason stands with the failure. */
function saidLine(task: TaskState): string | null {
  const said = task.attempts.at(-1)?.status ?? null;
  if (said === null) return null;
  const { status, summary, concerns } = said;
  const details = [
    ...(summary === undefined ? [] : [escaped(summary, 500)]),
    ...(concerns === undefined ? [] : [`**Concerns:** ${escaped(concerns, 500)}`]),
  ];
  return [`${code(task.spec.id)}: ${code(status)}`, ...details].join('; ');
}

function strayedLine(task: TaskState): string | null {
  const files = [...new Set(task.attempts.flatMap(({ strayed }) => strayed))];
  if (files.length === 0) return null;
  return `${code(task.spec.id)}: ${files.map((file) => code(file)).join(', ')}`;
}

function outsideLine(task: TaskState): string | null {
  const files = task.attempts.at(-1)?.outside ?? [];
  if (files.length === 0) return null;
  const shown = files.slice(0, 20).map((file) => code(file));
  const rest = files.length > shown.length ? ` and ${files.length - shown.length} more` : '';
  return `${code(task.spec.id)}: ${shown.join(', ')}${rest}`;
}

function keptLine(state: RunState, task: TaskState, info: ReportInfo): string | null {
  if (task.workspace !== 'kept') return null;
  const branch = code(branchOf(state, task, info));
  return `${code(task.spec.id)} (${branch}): ${escaped(task.keptWhy ?? '', 300)}`;
}

const NONE = '—';
const OUTPUT_LINES = 40;
