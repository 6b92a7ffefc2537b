/**
 * How two pieces of work disagree about one file, and how that is said to people and agents.
 *
 *   C1. `here` is the work that should land; `there` is what it should land on.
 *   C2. All of it is bounded: a journal and a prompt hold it.
 */

/** One file that does not merge. */
export interface FileConflict {
  readonly path: string;
  readonly kind: FileConflictKind;
  /** Text only: the lines of this work that are in question, first and last, from 1. */
  readonly lines?: readonly LineRange[];
}

export type LineRange = readonly [first: number, last: number];

export type FileConflictKind =
  | 'content'
  | 'both-added'
  | 'binary'
  | 'submodule'
  | 'mode'
  | 'type'
  | 'deleted-here'
  | 'deleted-there'
  | 'rename'
  | 'file-folder'
  /** A command was to make it anew, and failed. */
  | 'regenerate'
  | 'other';

/** A file that did not merge by itself: a resolution of run `by`, or made anew by the command. */
export interface SettledFile {
  readonly path: string;
  readonly how: 'memory' | 'command';
  readonly by: string;
}

/** More files than this are only counted. */
export const MAX_CONFLICTS = 50;
/** More places in one file than this are left out. */
export const MAX_RANGES = 10;

const WORDS: Readonly<Record<FileConflictKind, string>> = {
  content: 'both changed the same place',
  'both-added': 'both added it',
  binary: 'both changed a binary file',
  submodule: 'submodule moved to two commits',
  mode: 'both set its mode, and differently',
  type: 'a file here, something else there',
  'deleted-here': 'deleted here, changed there',
  'deleted-there': 'changed here, deleted there',
  rename: 'renamed in two ways',
  'file-folder': 'a file on one side, a folder on the other',
  regenerate: 'could not be made anew',
  other: 'changed in two ways that do not fit',
};

/** `src/a.ts: both changed lines 10-14`. */
export function conflictLine({ path, kind, lines = [] }: FileConflict): string {
  const places = lines.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`));
  if (places.length === 0 || !(kind === 'content' || kind === 'both-added')) {
    return `${path}: ${WORDS[kind]}`;
  }
  const word = places.length === 1 && !places[0]!.includes('-') ? 'line' : 'lines';
  return kind === 'content'
    ? `${path}: both changed ${word} ${places.join(', ')}`
    : `${path}: both added it, and differ in ${word} ${places.join(', ')}`;
}

/** The first few files, in one sentence. */
export function conflictText(failure: Parameters<typeof conflictLines>[0]): string {
  const lines = conflictLines(failure);
  const more = lines.length - MAX_IN_SENTENCE;
  const shown = lines.slice(0, MAX_IN_SENTENCE).join('; ');
  return more > 0 ? `${shown}; and ${more} more` : shown;
}

const MAX_IN_SENTENCE = 5;

/** One line for each file; only its name where nothing more is known. */
export function conflictLines(failure: {
  readonly files: readonly string[];
  readonly conflicts?: readonly FileConflict[];
}): readonly string[] {
  const { files, conflicts = [] } = failure;
  const known = new Set(conflicts.map(({ path }) => path));
  return [...conflicts.map(conflictLine), ...files.filter((path) => !known.has(path))];
}
