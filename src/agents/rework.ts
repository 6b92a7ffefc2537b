/**
 * The part of a prompt for finished work that did not land: what is wrong, which work it meets, and what
 * that work was for.
 *
 *   W1. Both intentions are there: the agent knows its own task, and the other one is quoted.
 *   W2. All of it is bounded, however much landed and whatever was said.
 */

import { excerpt } from '../base/excerpt.ts';
import { conflictLine, type FileConflict } from '../model/conflict.ts';
import type { Meanwhile } from '../model/effect.ts';
import type { Failure } from '../model/failure.ts';
import { clashSentences } from '../model/radar.ts';
import { code, codeList, fenced } from './markdown.ts';

const MAX_OUTPUT = 5_000;
const MAX_MEANWHILE = 8;
const MAX_FILES = 20;
const MAX_PROMPT = 800;
const MAX_SAID = 600;

/** For a conflict. */
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

/** For a red gate. */
export function gateSection(
  failure: Failure & { kind: 'gate-failed' },
  meanwhile: readonly Meanwhile[],
): string {
  const { gate, output, landedSince } = failure;
  const said = fenced(excerpt(output, MAX_OUTPUT));
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

/** For names that one side changes and the other uses. */
export function clashSection(
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
