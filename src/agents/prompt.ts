/**
 * The text an agent gets for one attempt: the task, the rules of its workspace, and what went
 * wrong before.
 *
 *   T1. It begins with a heading, never with `/` or `-`, which a CLI would read as its own. What
 *       the user wrote follows unchanged.
 *   T2. A resumed session knows the task and the rules: it is told only what is new.
 *       A prompt that brings its own rules stands alone; its format sees to the first part of T1.
 *   T3. An agent that takes its prompt literally gets the task's prompt and nothing else.
 */

import type { AttemptEffect, Heard, Meanwhile, Tried } from '../model/effect.ts';
import type { AttemptStart, ReviewComment } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import { type Answer, assigneeName, type TaskSpec, usesCheckout } from '../model/plan.ts';
import type { Instruction } from '../model/state.ts';
import { code, codeList, fenced } from './markdown.ts';
import { radarWarnings } from './radar-warnings.ts';
import { clashSection, conflictSection, gateSection } from './rework.ts';

/** What is known when an attempt begins. */
export interface PromptContext
  extends Pick<
    AttemptEffect,
    'attempt' | 'start' | 'before' | 'heard' | 'meanwhile' | 'foreseen' | 'tried' | 'instructions'
  > {
  /** Whether the agent's prompt is a conversation's text (`Agent.can.prose`). */
  readonly prose: boolean;
  /** The folders that are checked out, where not all are. */
  readonly cone?: readonly string[];
}

/** The prompt of one attempt at a task. */
export function attemptPrompt(task: TaskSpec, context: PromptContext): string {
  if (!context.prose) return task.prompt;
  const { attempt, start, before } = context;
  const others = (context.tried ?? []).map(triedBy);
  const past = [...others, ...(before === null ? [] : [story(before, context.meanwhile)])];
  if (start.kind !== 'fresh' || before !== null) past.push(leftovers(task, start));
  if (context.foreseen !== undefined) past.push(...radarWarnings(context.foreseen));
  const resumed = start.kind !== 'fresh' && start.session !== null;
  const asked = instructed(context.instructions ?? []);
  const sections = resumed
    ? [
        `# Task ${task.id}, attempt ${attempt}`,
        ...past,
        ...asked,
        'Keep going until the task is done.',
      ]
    : [...context.heard.flatMap(told), ...work(task, context.cone)];
  if (!resumed && past.length > 0) sections.push(`# Before this attempt (${attempt})`, ...past);
  if (!resumed) sections.push(...asked);
  return `${sections.join('\n\n')}\n`;
}

/** What people want of this attempt. */
function instructed(instructions: readonly Instruction[]): readonly string[] {
  if (instructions.length === 0) return [];
  const notes = instructions.flatMap(({ note }) => note ?? []);
  const comments = instructions.flatMap((each) => each.comments).map(commentItem);
  const review = 'Review comments on your work. Make the changes, or say why not:';
  return [
    '# What a person asks of you',
    ...notes.map((note) => note.trim()),
    ...(comments.length === 0 ? [] : [`${review}\n\n${comments.join('\n')}`]),
  ];
}

function commentItem({ path, line, endLine, text, author }: ReviewComment): string {
  const lines = line === undefined ? '' : `:${line}${endLine === undefined ? '' : `-${endLine}`}`;
  const place = path === null ? '' : `${code(`${path}${lines}`)}: `;
  const by = author === undefined ? '' : ` (${author})`;
  return `- ${place}${text.trim().replaceAll('\n', '\n  ')}${by}`;
}

/** What the task was tried with before. */
function triedBy({ by, times, failure }: Tried): string {
  const often = times === 1 ? 'once' : `${times} times`;
  return `${assigneeName(by)} has tried this ${often} without success; the last time: ${failure.kind}.`;
}

function work(task: TaskSpec, cone: PromptContext['cone']): readonly string[] {
  const prompt = task.prompt.trim();
  const parts = cone === undefined ? [] : ['# Your checkout', checkedOut(cone)];
  if (task.rules === 'own') return [prompt, ...parts];
  return [`# Task ${task.id}`, prompt, rules(task), ...parts];
}

/** Without these words an agent would take what is not checked out for missing. */
function checkedOut(cone: readonly string[]): string {
  const folders = cone.length === 0 ? '' : `${codeList(cone)} and `;
  return [
    `Only ${folders}the files in the root of the repository are checked out here.`,
    'The other folders are in git and stay as they are. If you need one, run',
    '`git sparse-checkout add FOLDER`; `git ls-files` lists everything, and',
    '`git grep --cached` searches everything.',
  ].join('\n');
}

/** What another task reported, in front of the prompt; the middle of a long report is left out. */
function told({ task, text }: Heard): readonly string[] {
  const words = text.trim();
  if (words === '') return [];
  const left = words.length - HEARD_START - HEARD_END;
  const shown =
    left <= 0
      ? words
      : `${words.slice(0, HEARD_START)}\n[… ${left} characters …]\n${words.slice(-HEARD_END)}`;
  return [`# What ${task} reported`, shown];
}

function rules(task: TaskSpec): string {
  const lines = [
    usesCheckout(task)
      ? "You work in the user's own folder: other changes there are not yours, leave them as they are."
      : 'You work alone in your own git worktree of the repository.',
    'No one can answer questions: decide, and say what you decided.',
    ...(task.mode === 'read' ? readRules(task) : writeRules(task)),
    'Do not push, do not switch branches and do not touch other worktrees.',
  ];
  const rule = ANSWER_RULES[task.answer];
  if (rule !== null) lines.push(rule);
  return ['# Rules', '', ...lines.map((line) => `- ${line}`)].join('\n');
}

const COMPLETION = [
  'End with a JSON object in a ```json fence: `task_completed` and `validation_passed`',
  '(true or false), `files_created` and `files_modified` (lists of paths), `tests_run`,',
  '`tests_passed` and `tests_failed` (numbers), `summary`, and `error_message` (null, or why',
  'the task is not complete).',
].join(' ');

/** How the agent's last words should look, so that they can be read (worker/self-report.ts). */
const ANSWER_RULES: Readonly<Record<Answer, string | null>> = {
  free: null,
  'status-line': 'If you cannot do the task, end with `{"status": "FAILED", "reason": "why"}`.',
  'status-word': [
    'End with a line `Status: DONE`, `Status: DONE_WITH_CONCERNS`, `Status: BLOCKED` or',
    '`Status: NEEDS_CONTEXT`, a line `Summary: …`, and where they apply lines `Concerns: …`,',
    '`Blocker: …` (what stops you) and `Missing: …` (what you would have to know).',
  ].join(' '),
  completion: COMPLETION,
  marker: COMPLETION,
};

function readRules(task: TaskSpec): readonly string[] {
  const why = usesCheckout(task) ? 'they are not yours' : 'whatever you change is thrown away';
  return [`Change no files: ${why}. Your last message is the result.`];
}

function writeRules(task: TaskSpec): readonly string[] {
  const lines: string[] = [];
  if (task.writes.length > 0) {
    const otherwise = task.outside === 'fail' ? 'fails the task' : 'is reported';
    lines.push(`Change only ${codeList(task.writes)}. A change anywhere else ${otherwise}.`);
  }
  if (task.forbids.length > 0) lines.push(`Do not touch ${codeList(task.forbids)}.`);
  if (task.checks.length > 0) {
    lines.push(`Before you finish, make sure that these pass: ${codeList(task.checks)}.`);
  }
  lines.push(
    task.mode === 'here'
      ? 'Do not commit: your changes are to stay in the files.'
      : 'You may commit. What you leave uncommitted is committed for you.',
  );
  return lines;
}

/** What the workspace holds when the agent begins. */
function leftovers(task: TaskSpec, start: AttemptStart): string {
  if (usesCheckout(task)) return 'The files are as that attempt left them.';
  switch (start.kind) {
    case 'fresh':
      return 'Nothing is left of that attempt: the workspace is as new.';
    case 'continue':
      return 'The workspace is as that attempt left it: look at `git status` and `git log` first.';
    case 'rework':
      return 'The workspace now holds your work merged with all that has landed. Keep that merge.';
  }
}

function story(before: Failure, meanwhile: readonly Meanwhile[]): string {
  switch (before.kind) {
    case 'conflict':
      return conflictSection(before, meanwhile);
    case 'gate-failed':
      return gateSection(before, meanwhile);
    case 'semantic':
      return clashSection(before, meanwhile);
    case 'checks-failed':
      return `The check ${code(before.check)} failed:\n${fenced(before.output)}`;
    case 'out-of-scope':
      return [
        `These files were changed though they are not this task's: ${codeList(before.files)}.`,
        'Undo those changes and do the task without them.',
      ].join('\n');
    case 'no-change':
      return 'The previous attempt ended without changing a single file. Make the change.';
    case 'commit-failed':
      return `The work could not be committed:\n${fenced(before.message)}`;
    case 'transient':
    case 'rate-limited':
    case 'idle-timeout':
    case 'total-timeout':
    case 'interrupted':
      return `The previous attempt was cut short. ${ending(before.message)}`;
    default:
      return `The previous attempt failed. ${ending(before.message)}`;
  }
}

function ending(message: string): string {
  const text = message.trim();
  return text.length > MAX_OUTPUT ? `${text.slice(0, MAX_OUTPUT)}…` : text;
}

const MAX_OUTPUT = 6000;
const HEARD_START = 8_000;
const HEARD_END = 4_000;
