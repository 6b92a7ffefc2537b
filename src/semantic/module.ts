/** A source file as the guard sees it: the names that it declares and the names that it uses. */

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

/** The names of files in JavaScript and TypeScript. */
export const JAVASCRIPT = /\.[cm]?[jt]sx?$/;
/** The names of files in Python. */
export const PYTHON = /\.pyi?$/;

/** Whether files of this name are understood. */
export function isReadable(file: string): boolean {
  return JAVASCRIPT.test(file) || PYTHON.test(file);
}
