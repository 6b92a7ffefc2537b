/**
 * A source file as the guard sees it: the names that it declares and the names that it uses.
 *
 *   M1. Never throws: a half-edited file gives what can be made out, and says that it is broken.
 *   M2. Bounded: a text of more than `LARGEST_CHARS` is not read.
 */

import { readJavaScript } from './javascript.ts';
import { readPython } from './python.ts';

/** How many arguments a call may have. */
export interface Arity {
  readonly required: number;
  readonly most: number;
}

export interface Declaration {
  /** `f`, `Class` or `Class.method`. */
  readonly name: string;
  /** Null where it is not called, or nobody can tell. */
  readonly arity: Arity | null;
  /** Other files can use it. */
  readonly isExported: boolean;
  /** Its text without its name: what is left the same by a rename. Empty where there is none. */
  readonly likeness: string;
}

export interface Use {
  /** As its declaring file calls it. */
  readonly name: string;
  /** The module that it is imported from, as a path; null where it is not imported. */
  readonly from: string | null;
  /** It is asked of an object: `x.name`. */
  readonly isMember: boolean;
  readonly count: number;
}

export interface Module {
  readonly declarations: ReadonlyMap<string, Declaration>;
  readonly uses: readonly Use[];
  /** Modules of which it takes in or passes on every name. */
  readonly stars: readonly string[];
  /** Without imports and exports: its names are everybody's. */
  readonly isScript: boolean;
  /** The words of a text that could not be parsed as a whole; null for one that could. */
  readonly brokenWords: ReadonlySet<string> | null;
}

const LARGEST_CHARS = 500_000;

const READERS: readonly (readonly [RegExp, (text: string) => Module])[] = [
  [/\.[cm]?[jt]sx?$/, readJavaScript],
  [/\.pyi?$/, readPython],
];

/** Whether files of this name are understood. */
export function isReadable(file: string): boolean {
  return READERS.some(([pattern]) => pattern.test(file));
}

/** What a file declares and uses; null for a language that is not known, or too long a text. */
export function readModule(file: string, text: string): Module | null {
  const reader = READERS.find(([pattern]) => pattern.test(file))?.[1];
  return reader === undefined || text.length > LARGEST_CHARS ? null : reader(text);
}
