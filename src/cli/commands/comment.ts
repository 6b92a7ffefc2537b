/**
 * `landfast comment`: a review of a task's work goes to its agent, which gets another attempt in its
 * session. The engine of a live run is asked; a run without one is taken up for this.
 */

import { readFileSync } from 'node:fs';
import { requireTasks, send } from '../../app/steer.ts';
import { isSystemError, messageOf, UserError } from '../../base/errors.ts';
import type { ReviewComment } from '../../model/event.ts';
import { count } from '../../report/format.ts';
import { howToRun, type Program, type Wrap } from '../options.ts';
import type { HowToRun } from '../terminal/drive.ts';
import { steer } from '../terminal/steering.ts';
import { refuseAtStart, takeUp } from './resume.ts';

export function describe(program: Program, wrap: Wrap): void {
  const described = program
    .command('comment')
    .argument('<task>', 'a task whose work has not landed')
    .argument('[comments...]', 'FILE:LINE TEXT, as often as you like; or one TEXT about all of it')
    .description('send review comments on its work to the agent of a task')
    .option('--from <file>', 'read comments from a JSON file, or from standard input (-)')
    .option('--run <run>', 'run id or prefix (default: the live run, else the latest)')
    .option('--json', 'print JSON');
  howToRun(described).action(
    wrap((task, words, _, command: Program) => comment(task, words, command.optsWithGlobals())),
  );
}

interface CommentFlags extends HowToRun {
  readonly from?: string;
  readonly run?: string;
  readonly json?: boolean;
}

function comment(task: string, words: readonly string[], flags: CommentFlags): Promise<number> {
  const { from, run: _, ...how } = flags;
  return steer(flags, async (view) => {
    requireTasks(view, [task]);
    const comments = [...commentsIn(words), ...(from === undefined ? [] : commentsFrom(from))];
    if (comments.length === 0) {
      throw new UserError('No comments given.', 'landfast comment TASK FILE:LINE TEXT');
    }
    const command = { kind: 'comment', task, comments } as const;
    if (!view.live) return await takeUp(view, command, how);
    refuseAtStart(view.run, flags);
    await send(view, command);
    const isRunning = view.state.tasks.get(task)?.status.kind === 'running';
    const when = isRunning ? 'when its attempt ends' : 'in its next attempt';
    const line = `${task}: its agent gets ${count(comments.length, 'review comment')} ${when}.`;
    return { json: { task, comments: comments.length }, lines: [line] };
  });
}

/** Pairs of a place and a text; a single text is about the whole work. */
function commentsIn(words: readonly string[]): readonly ReviewComment[] {
  if (words.length === 1) return [{ path: null, text: textIn(words[0]) }];
  if (words.length % 2 === 1) {
    throw new UserError('Comments are pairs: FILE:LINE TEXT.', 'Put the text in quotes.');
  }
  const pairs = words.filter((_, at) => at % 2 === 0);
  return pairs.map((place, at) => ({ ...placeIn(place), text: textIn(words[2 * at + 1]) }));
}

/** `src/a.ts`, `src/a.ts:10` or `src/a.ts:10-12`. */
function placeIn(place: string): Pick<ReviewComment, 'path' | 'line' | 'endLine'> {
  const [, path = place, first, last] = /^(.+?):(\d+)(?:-(\d+))?$/.exec(place) ?? [];
  const line = first === undefined ? {} : { line: Number(first) };
  return { path, ...line, ...(last === undefined ? {} : { endLine: Number(last) }) };
}

function textIn(text: string | undefined): string {
  if (text === undefined || text.trim() === '') throw new UserError('A comment is empty.');
  return text;
}

/** A list of comments, each with `path`, `line`, `end_line`, `text` and `author`. */
function commentsFrom(file: string): readonly ReviewComment[] {
  const read = jsonIn(file);
  if (!Array.isArray(read)) throw new UserError(`${file} is not a list of comments.`, SHAPE);
  return read.map((each: unknown, at) => {
    const found = commentOf(each);
    if (found === null) throw new UserError(`${file}: comment ${at + 1} is wrong.`, SHAPE);
    return found;
  });
}

const SHAPE = 'It is like [{"path": "src/a.ts", "line": 10, "text": "Why?"}].';

function jsonIn(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file === '-' ? 0 : file, 'utf8')) as unknown;
  } catch (error) {
    const isTheirs = error instanceof SyntaxError || isSystemError(error);
    if (!isTheirs) throw error;
    throw new UserError(`${file} cannot be read: ${messageOf(error)}`, SHAPE);
  }
}

function commentOf(value: unknown): ReviewComment | null {
  if (value === null || typeof value !== 'object') return null;
  const { path = null, line, end_line: endLine, text, author } = value as Record<string, unknown>;
  const isLine = (each: unknown): each is number | undefined =>
    each === undefined || (Number.isSafeInteger(each) && Number(each) >= 1);
  if (typeof text !== 'string' || text.trim() === '') return null;
  if (path !== null && typeof path !== 'string') return null;
  if (!isLine(line) || !isLine(endLine)) return null;
  if (author !== undefined && typeof author !== 'string') return null;
  return {
    path,
    text,
    ...(line === undefined ? {} : { line }),
    ...(endLine === undefined ? {} : { endLine }),
    ...(author === undefined ? {} : { author }),
  };
}
