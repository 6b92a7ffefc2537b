/** A source file as the semantic guard sees it: the names it declares and the names it uses. */

/** How many arguments a call may have. */
export interface Arity {
  readonly required: number;
  readonly most: number;
}

export interface Declaration {
  /** `f`, `Class` or `Class.method`. */
  readonly name: string;
  /** Null if it is not callable or unknown. */
  readonly arity: Arity | null;
  /** Visible to other files. */
  readonly isExported: boolean;
  /** Its text without its name, which a rename leaves unchanged; empty if there is none. */
  readonly likeness: string;
}

export interface Use {
  /** The name in the declaring file. */
  readonly name: string;
  /** The imported module as a path; null if it is not imported. */
  readonly from: string | null;
  /** A member access: `x.name`. */
  readonly isMember: boolean;
  readonly count: number;
}

export interface Module {
  readonly declarations: ReadonlyMap<string, Declaration>;
  readonly uses: readonly Use[];
  /** Modules whose names it imports or re-exports as a whole. */
  readonly stars: readonly string[];
  /** Without imports and exports: its names are global. */
  readonly isScript: boolean;
  /** The words of a text that did not parse completely; null if it did. */
  readonly brokenWords: ReadonlySet<string> | null;
}

export const JAVASCRIPT = /\.[cm]?[jt]sx?$/;
export const PYTHON = /\.pyi?$/;

/** Whether files of this name can be parsed. */
export function isReadable(file: string): boolean {
  return JAVASCRIPT.test(file) || PYTHON.test(file);
}
