/** The words of the demo: what will happen, and afterwards what happened and where to look next. */

import { overlaps } from '../../model/scope.ts';
import { durationText, type Ink, nameList, shortSha } from '../../report/format.ts';
import { brief } from '../../report/sanitize.ts';
import type { DemoFolder } from './repository.ts';
import type { Catch, Pair, Retry, Story } from './story.ts';
import { DEMO_TASKS, ROLES, WORKERS } from './tasks.ts';

export interface Telling {
  readonly folder: DemoFolder;
  readonly keep: boolean;
  /** The coding agent that does the tasks; null where they are scripted. */
  readonly agent: string | null;
  readonly ink: Ink;
}

export function openingText({ folder, keep, agent, ink }: Telling): string {
  const who = agent === null ? 'scripted agents: no account, no network' : `agent ${agent}`;
  const { retried, apart, together } = ROLES;
  const watch = [
    `Watch for ${retried}, which fails once; ${apart.join(' and ')}, which want the same files;`,
    `${together.first} and ${together.second}, which are green alone and red together.`,
  ];
  return text([
    ink.paint('bold', `A small shop, ${DEMO_TASKS.length} tasks, ${WORKERS} at a time, ${who}.`),
    `The repository is ${folder.repository}${keep ? '' : ' and is removed at the end'}.`,
    ...(agent === null ? watch : []),
    '',
  ]);
}

export interface Results extends Telling {
  readonly story: Story;
  /** `git log` of the target branch. */
  readonly history: string;
  readonly report: string;
}

export function resultText(results: Results): string {
  const { story, history, report, folder, keep, ink } = results;
  const { overlapping, retried, caught } = story;
  const sections = [
    { title: 'The history of main', lines: history.trimEnd().split('\n') },
    {
      title: 'What happened on the way',
      lines: [
        ...overlapping.map((pair) => pairLine(pair, story)),
        ...retried.flatMap(retryLines),
        ...caught.flatMap((each) => catchLines(each, ink)),
      ],
    },
    {
      title: keep ? `From the report, ${folder.report}` : 'From the report',
      lines: caught.flatMap(({ task }) => passageOf(report, task)),
    },
    { title: 'Where to look next', lines: nextLines(results) },
  ];
  return text(
    sections
      .filter(({ lines }) => lines.length > 0)
      .flatMap(({ title, lines }) => ['', ink.paint('bold', title), ...indented(lines)]),
  );
}

function pairLine({ tasks: [a, b], ranTogether }: Pair, { state }: Story): string {
  const writes = (task: string): readonly string[] => state.tasks.get(task)?.spec.writes ?? [];
  const both = writes(a).filter((glob) => overlaps([glob], writes(b)));
  const how = ranTogether ? 'and ran at the same time' : 'so they took turns';
  return `↔ ${a} and ${b} both write ${nameList(both)}, ${how}.`;
}

function retryLines({ task, failure, pauseMs }: Retry): readonly string[] {
  return [
    `↻ ${task} failed and was tried again after ${durationText(pauseMs)}:`,
    `  ${brief(failure.message, 160)}`,
  ];
}

function catchLines({ task, failure, checked, landed }: Catch, { paint }: Ink): readonly string[] {
  const others = nameList(failure.landedSince, 5);
  const alone = checked ? 'was green alone and ' : '';
  const end =
    landed === null
      ? 'Its work is kept in its workspace and on its branch.'
      : `It went back to its agent and landed as ${shortSha(landed)} once it was green.`;
  return [
    paint('warn', `✗ ${task} was caught by the gate ${failure.gate} before it could land:`),
    `  it ${alone}merged without a conflict, but was red together with what landed`,
    `  meanwhile (${others}):`,
    ...differences(failure.output).map((line) => `      ${line}`),
    `  main has never been red. ${end}`,
  ];
}

/** The lines of a test's output that say what was expected and what came instead. */
function differences(output: string): readonly string[] {
  return output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /^[+-] '/.test(line))
    .map((line) => brief(line, 100));
}

/** The rows of the report's tables that tell of a task's gates, with their heading. */
function passageOf(report: string, task: string): readonly string[] {
  const lines = report.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`### \`${task}\``));
  if (start === -1) return [];
  const end = lines.findIndex((line, index) => index > start && line.startsWith('#'));
  const fence = lines.findIndex((line, index) => index > start && line.startsWith('```'));
  const told = lines.slice(start, Math.min(...[end, fence].filter((index) => index > start)));
  return told.filter((line) => line.trim() !== '');
}

function nextLines({ keep, folder, story, agent }: Results): readonly string[] {
  const options = agent === null ? '' : ` --agent ${agent}`;
  if (!keep) {
    return commands([
      [`landfast demo${options} --keep`, 'the same, and the folder stays for you to look at'],
      ['landfast run PLAN', 'a plan of your own, in your repository'],
    ]);
  }
  const [caught] = story.caught;
  const [retried] = story.retried;
  return commands([
    [`cd ${folder.repository}`, ''],
    ['landfast status', 'the run as it ended'],
    ...(caught === undefined ? [] : [logs(caught.task, 1, 'what was done before it was caught')]),
    ...(retried === undefined ? [] : [logs(retried.task, 1, 'the attempt that failed')]),
    ['landfast runs', 'all runs of the repository'],
    ['landfast plan plan.yaml', 'the plan: stages, critical path, overlaps'],
    [`rm -r ${folder.dir}`, 'when you are done'],
  ]);
}

type Command = readonly [command: string, meaning: string];

function logs(task: string, attempt: number, meaning: string): Command {
  return [`landfast logs ${task} --attempt ${attempt}`, meaning];
}

function commands(list: readonly Command[]): readonly string[] {
  const width = Math.max(...list.map(([command]) => command.length));
  return list.map(([command, meaning]) => `${command.padEnd(width)}  ${meaning}`.trimEnd());
}

function indented(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `  ${line}`.trimEnd());
}

function text(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}
