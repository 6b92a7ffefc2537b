/**
 * The text an agent gets for one attempt: the task, the rules of its workspace, and what went
 * wrong before.
 *
 *   T1. It begins with a heading, never with `/` or `-`, which a CLI would read as its own. What
 *       the user wrote follows unchanged.
 *   T2. A resumed session knows the task and the rules: it gets only what is new.
 *       A prompt that brings its own rules stands alone; its format sees to the first part of T1.
 *   T3. An agent that takes its prompt literally gets the task's prompt and nothing else.
 *   T4. Of work that meets other work both intentions are there: the agent knows its own task, and
 *       the other one is quoted.
 *   T5. All that we add is bounded, however much landed and whatever was said.
 */

import { excerpt } from '../base/excerpt.ts';
import { conflictLine, type FileConflict } from '../model/conflict.ts';
import type { AttemptEffect, Heard, Meanwhile, Tried } from '../model/effect.ts';
import type { AttemptStart, ReviewComment } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import { type Answer, assigneeName, type TaskSpec, usesCheckout } from '../model/plan.ts';
import { type ClashingName, clashSentences, type Foe, type Foreseen } from '../model/radar.ts';
import type { Instruction } from '../model/state.ts';

interface PromptContext
  extends Pick<
    AttemptEffect,
    'attempt' | 'start' | 'before' | 'heard' | 'meanwhile' | 'foreseen' | 'tried' | 'instructions'
  > {
  /** Whether the agent's prompt is a conversation's text (`Agent.can.prose`). */
  readonly prose: boolean;
  /** The folders that are checked out, where not all are. */
  readonly cone?: readonly string[];
}

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

/** Finished work that conflicts with what landed. */
export function conflictSection(
  failure: Failure & { kind: 'conflict' },
  meanwhile: readonly Meanwhile[],
): string {
  const { files, conflicts = [] } = failure;
  const items = conflicts.slice(0, MAX_FILES).map((one) => conflictItem(one, meanwhile));
  const rest = files.length - items.length;
  const list =
    items.length === 0
      ? [`These files conflict: ${codeList(files)}.`]
      : ['', ...items, ...(rest > 0 ? [`- and ${rest} more, see \`git status\``] : [])];
  return [
    `Your work is finished but conflicts with what landed meanwhile${names(failure)}.`,
    ...list,
    ...(items.length === 0 ? [] : ['']),
    'The merge is laid out in the workspace. Resolve each file so that both intentions survive, and',
    'leave no conflict marker. `git show :2:PATH` is your version, `git show :3:PATH` what landed.',
    ...meanwhileText(meanwhile),
  ].join('\n');
}

/** Finished work with a red gate. */
export function gateSection(
  failure: Failure & { kind: 'gate-failed' },
  meanwhile: readonly Meanwhile[],
): string {
  const { gate, output, landedSince } = failure;
  const said = fenced(excerpt(output, MAX_GATE_OUTPUT));
  if (landedSince.length === 0) {
    return `Your work is finished, but the gate ${code(gate)} fails:\n${said}`;
  }
  return [
    `Your work is finished, but combined with what landed meanwhile${names(failure)}`,
    `the gate ${code(gate)} fails. Make the combination pass:`,
    said,
    ...meanwhileText(meanwhile),
  ].join('\n');
}

/** Finished work with names that one side changes and the other uses. */
function clashSection(
  failure: Failure & { kind: 'semantic' },
  meanwhile: readonly Meanwhile[],
): string {
  const items = failure.clashes.flatMap(clashSentences);
  const rest = items.length - MAX_FILES;
  return [
    `Your work is finished and merges, but it will not work together with what landed meanwhile`,
    `${names(failure).trimStart()}:`,
    '',
    ...items.slice(0, MAX_FILES).map((item) => `- ${item}`),
    ...(rest > 0 ? [`- and ${rest} more`] : []),
    '',
    'The workspace holds both. Make them work together, so that both intentions survive.',
    ...meanwhileText(meanwhile),
  ].join('\n');
}

function conflictItem(conflict: FileConflict, meanwhile: readonly Meanwhile[]): string {
  const { path } = conflict;
  const owners = meanwhile.filter(({ files }) => files.includes(path)).map(({ task }) => task);
  const whose = owners.length === 0 ? '' : ` (the other side is ${codeList(owners)})`;
  const words = conflictLine(conflict).slice(path.length);
  return `- ${code(path)}${words}${whose}${HINTS[conflict.kind] ?? ''}`;
}

/** What cannot be seen in the file itself. */
const HINTS: Partial<Readonly<Record<FileConflict['kind'], string>>> = {
  binary: '; the workspace holds yours, without markers',
  submodule: '; check out the commit that should be there',
  'deleted-here': '; delete it or keep it as it should be',
  'deleted-there': '; delete it or keep it as it should be',
  rename: '; leave it under one name',
  'file-folder': '; git has put the file beside it under a name with `~`: move or delete that',
  type: '; git has put one of them beside it under a name with `~`: move or delete that',
};

function meanwhileText(meanwhile: readonly Meanwhile[]): readonly string[] {
  if (meanwhile.length === 0) return [];
  const shown = meanwhile.slice(-MAX_MEANWHILE);
  const left = meanwhile.length - shown.length;
  return [
    '',
    'What landed meanwhile, and what it was for:',
    ...(left > 0 ? ['', `(${left} earlier ones are left out.)`] : []),
    ...shown.flatMap((one) => ['', ...intention(one)]),
  ];
}

function intention({ task, title, prompt, said }: Meanwhile): readonly string[] {
  const asked = brief(prompt, MAX_PROMPT);
  const words = brief(said, MAX_SAID);
  const isMore = asked !== title;
  return [
    `${code(task)}: ${title}`,
    ...(isMore ? ['It was asked:', quoted(asked)] : []),
    ...(words === '' ? [] : ['It reported:', quoted(words)]),
  ];
}

function names({ landedSince }: { readonly landedSince: readonly string[] }): string {
  return landedSince.length === 0 ? '' : ` (${codeList(landedSince)})`;
}

function brief(text: string, most: number): string {
  const words = text.trim();
  return words.length > most ? `${words.slice(0, most).trimEnd()} …` : words;
}

/** As Markdown quotes it: nothing in it can be taken for our own words. */
function quoted(text: string): string {
  return text
    .split('\n')
    .map((line) => `> ${line}`.trimEnd())
    .join('\n');
}

/** The radar's predictions: a paragraph for each kind. */
function radarWarnings(foreseen: Foreseen): readonly string[] {
  const { collisions, clashes, missed = [], strayed } = foreseen;
  const met = collisions.map(({ with: other, files }) => {
    const whose = other === null ? 'What is about to land' : `The work of ${code(other)}`;
    return `- ${whose} changes the same lines in ${codeList(files)}.`;
  });
  const usedHere = ({ with: other, names }: Foe) =>
    names.map(
      (name) => `- ${code(other)} ${changeText(name)}; you use it in ${codeList(name.usedBy)}.`,
    );
  const wanted = missed.flatMap(({ with: other, names }) =>
    names.map(({ name, file, usedBy }) => {
      return `- ${code(other)} uses ${code(name)} of ${code(file)} in ${codeList(usedBy)}.`;
    }),
  );
  const lists: readonly (readonly [string, readonly string[]])[] = [
    [COLLIDES, met],
    [CLASHES, clashes.filter(({ landed }) => landed !== true).flatMap(usedHere)],
    [GONE, clashes.filter(({ landed }) => landed === true).flatMap(usedHere)],
    [WANTED, wanted],
  ];
  return [
    ...lists.flatMap(([title, items]) =>
      items.length === 0 ? [] : [[title, ...items].join('\n')],
    ),
    ...(strayed.length === 0 ? [] : [`${ASTRAY} ${codeList(strayed)}.`]),
  ];
}

const ASTRAY = "These files are not this task's; leave them as they were before you changed them:";

const COLLIDES =
  'Others work at the same time, and as it is your work will not merge with theirs. ' +
  'Keep your changes in these places as small as the task allows:';

const CLASHES =
  'Others change names that you have begun to use. ' +
  'Where the task allows, do without them or be ready for both:';

const GONE =
  'Work that has landed since you began changes names that you have begun to use. ' +
  'Use what is on the branch now, whether your workspace shows it yet or not:';

const WANTED =
  'Work that has landed since you began uses names that you take away or change. ' +
  'Keep them as they were where the task allows, or change these uses, too:';

function changeText({ name, file, change, to }: ClashingName): string {
  const what = `${code(name)} of ${code(file)}`;
  if (change === 'signature') return `changes the parameters of ${what}`;
  if (change === 'renamed' && to !== undefined) return `renames ${what} to ${code(to)}`;
  return `removes ${what}`;
}

/** The end of an output, where the reason stands, in a fence it cannot close. */
function fenced(output: string): string {
  const text = output.trim() || '(no output)';
  const tail = text.length > MAX_OUTPUT ? `…${text.slice(-MAX_OUTPUT)}` : text;
  const longest = Math.max(2, ...Array.from(tail.matchAll(/`+/g), ([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${tail}\n${fence}`;
}

function codeList(items: readonly string[]): string {
  const shown = items.slice(0, MAX_ITEMS).map(code).join(', ');
  return items.length > MAX_ITEMS ? `${shown} and ${items.length - MAX_ITEMS} more` : shown;
}

function code(text: string): string {
  return `\`${text}\``;
}

const MAX_OUTPUT = 6_000;
const MAX_GATE_OUTPUT = 5_000;
const MAX_ITEMS = 50;
const MAX_FILES = 20;
const MAX_MEANWHILE = 8;
const MAX_PROMPT = 800;
const MAX_SAID = 600;
const HEARD_START = 8_000;
const HEARD_END = 4_000;
