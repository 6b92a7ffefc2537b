/**
 * What an attempt said and did, for people: one block per event, wrapped to the screen.
 *
 *   12:03:09  I will look at the tests first.
 *   12:03:10  Bash  cd src &&
 *             npm test
 *             | 2 failed
 *             | AssertionError: 3 == 4
 *
 * Commands are shown whole, long results by their start and end, paths relative to the workspace.
 */

import type { AgentEvent } from '../model/agent-event.ts';
import { assigneeName } from '../model/plan.ts';
import type { Attempt, TaskState } from '../model/state.ts';
import { toolArgument } from './action.ts';
import { count, durationText } from './format.ts';
import { brief, clean } from './sanitize.ts';

export interface TranscriptView {
  readonly clock: (at: number) => string;
  /** Columns of the screen; infinite without one. */
  readonly width: number;
  readonly widthOf: (text: string) => number;
  readonly workspace: string | null;
}

const INDENT = 10;
/** The prefix of each line of a result. */
const BAR = '| ';
/** Lines shown from the start of a long result, and as many from its end. */
const HALF = 20;
const SHOWN = 300;

/** Null if there is nothing to show. */
export function transcriptText(at: number, event: AgentEvent, view: TranscriptView): string | null {
  if (event.type === 'tool.end') return resultText(event, view);
  const text = wordsOf(event, view.workspace);
  if (text === null || text.trim() === '') return null;
  const [first = '', ...rest] = wrapped(linesOf(text), view, INDENT);
  const time = `${view.clock(at)}  `.padEnd(INDENT);
  return [`${time}${first}`, ...rest.map((line) => indent(line))].join('\n');
}

function wordsOf(event: AgentEvent, workspace: string | null): string | null {
  switch (event.type) {
    case 'session':
      return `session ${event.id}${event.model === undefined ? '' : ` (${event.model})`}`;
    case 'text':
      return inside(event.text, workspace);
    case 'tool.start':
      return toolText(event, workspace);
    case 'retry':
      return `retry ${event.attempt}/${event.max}: ${brief(event.failure.message, SHOWN)}`;
    case 'limit':
      return event.status === 'allowed' ? null : `limit: ${event.status}`;
    case 'denied':
      return `denied: ${event.tool}`;
    case 'warning':
      return `warning: ${brief(event.text, SHOWN)}`;
    case 'result':
      return event.ok ? 'result: ok' : `result: ${event.failure?.message ?? 'failed'}`;
    default:
      return null;
  }
}

function toolText({ name, input }: AgentEvent & { type: 'tool.start' }, workspace: string | null) {
  const tool = brief(name.replace(/^mcp__/, '').replaceAll('__', ' '), 60);
  const argument = toolArgument(input) ?? brief(JSON.stringify(input) ?? '', SHOWN);
  return `${tool}  ${inside(argument, workspace)}`;
}

function resultText({ ok, output }: AgentEvent & { type: 'tool.end' }, view: TranscriptView) {
  const lines = linesOf(inside(output, view.workspace));
  const left = lines.length - 2 * HALF;
  const note = `… ${left} more lines (--json has all of them) …`;
  const shown = left <= 1 ? lines : [...lines.slice(0, HALF), note, ...lines.slice(-HALF)];
  const told = ok ? shown : [`error: ${shown[0] ?? ''}`, ...shown.slice(1)];
  if (ok && told.join('').trim() === '') return null;
  return wrapped(told, view, INDENT + BAR.length)
    .map((line) => indent(`${BAR}${line}`.trimEnd()))
    .join('\n');
}

/** Sanitized lines, without leading and trailing blank ones. */
function linesOf(text: string): readonly string[] {
  return text
    .replace(/^\s*\n|\s+$/g, '')
    .split(/\r?\n/)
    .map((line) => clean(line).trimEnd());
}

function indent(line: string): string {
  return line === '' ? '' : `${' '.repeat(INDENT)}${line}`;
}

/** Makes paths below the workspace relative to it. */
function inside(text: string, workspace: string | null): string {
  if (workspace === null) return text;
  const name = workspace.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return text
    .replace(new RegExp(`${name}/(?=[^\\s'"])`, 'g'), '')
    .replace(new RegExp(`${name}(?![\\w.-])`, 'g'), '.');
}

/** Wraps lines, at a space where possible. */
function wrapped(lines: readonly string[], view: TranscriptView, columns: number): string[] {
  const { width, widthOf } = view;
  const room = Math.max(20, width - columns);
  return lines.flatMap((line) => (widthOf(line) <= room ? [line] : broken(line, room, widthOf)));
}

function broken(line: string, room: number, widthOf: (text: string) => number): string[] {
  const parts: string[] = [];
  let part = '';
  let used = 0;
  for (const character of line) {
    const wide = widthOf(character);
    if (used + wide > room) {
      const blank = part.lastIndexOf(' ');
      const end = blank > room / 2 ? blank : part.length;
      parts.push(part.slice(0, end).trimEnd());
      part = part.slice(end).trimStart();
      used = widthOf(part);
    }
    part += character;
    used += wide;
  }
  return [...parts, part];
}

export function attemptHeader(task: TaskState, attempt: Attempt, view: TranscriptView): string {
  const { attempt: number, by, start, startedAt } = attempt;
  const of = task.attempts.length > 1 ? ` of ${task.attempts.length}` : '';
  const name = `${brief(task.spec.id, 60)}, attempt ${number}${of}`;
  return `── ${name}: ${brief(assigneeName(by), 60)}${STARTS[start.kind]}, ${view.clock(startedAt)} ──`;
}

const STARTS: Readonly<Record<Attempt['start']['kind'], string>> = {
  fresh: '',
  continue: ', continues',
  rework: ', reworks what did not land',
};

/** Its footer; null while the attempt runs. */
export function attemptFooter(attempt: Attempt, view: TranscriptView): string | null {
  const { startedAt, endedAt, failure, files } = attempt;
  if (endedAt === null) return null;
  const end =
    failure === null
      ? `finished, ${count(files.length, 'file')}`
      : `failed, ${failure.kind}: ${brief(failure.message, 160)}`;
  const time = durationText(endedAt - startedAt);
  return `── ${view.clock(endedAt)}, after ${time}: ${end} ──`;
}
