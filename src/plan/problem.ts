/** What is wrong with a plan's text, and where: all of it at once, each with a way out. */

export interface Problem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  /** What to do about it. */
  readonly remedy?: string;
  readonly severity: 'error' | 'warning';
}

/** A place in a text; both count from one. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

export const START: Place = { line: 1, column: 1 };

/** The place of an offset of a text. */
export function placeAt(text: string, offset: number): Place {
  const before = text.slice(0, offset).split(/\r\n|\n|\r/);
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
}

/** `plan.yaml:12:5: error: message`, and the remedy indented below. */
export function formatProblem(problem: Problem): string {
  const { file, line, column, severity, message, remedy } = problem;
  const first = `${file}:${line}:${column}: ${severity}: ${message}`;
  return remedy === undefined ? first : `${first}\n${remedy.replace(/^/gm, '  ')}`;
}

/** A value of the plan as a message shows it: short, in quotes, nothing a terminal would obey. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 59)}…` : text);
}

/** More than anybody reads at once. */
const MAX_PROBLEMS = 200;

/** The problems of one file; the first MAX_PROBLEMS of them are kept. */
export class ProblemLog {
  readonly #file: string;
  readonly #problems: Problem[] = [];
  #failed = false;
  #dropped = 0;

  constructor(file: string) {
    this.#file = file;
  }

  error(at: Place, message: string, remedy?: string): void {
    this.#failed = true;
    this.#add(at, 'error', message, remedy);
  }

  warning(at: Place, message: string, remedy?: string): void {
    this.#add(at, 'warning', message, remedy);
  }

  /** Whether there is an error, so that no plan can come of the file. */
  get failed(): boolean {
    return this.#failed;
  }

  /** Whether further problems are only counted: costly remedies need not be thought of any more. */
  get isFull(): boolean {
    return this.#problems.length >= MAX_PROBLEMS;
  }

  /** By place, so that a reader goes through the file once. */
  sorted(): readonly Problem[] {
    const sorted = this.#problems.toSorted((a, b) => a.line - b.line || a.column - b.column);
    const last = sorted.at(-1);
    if (last === undefined || this.#dropped === 0) return sorted;
    const { file, line, column } = last;
    const severity = this.#failed ? 'error' : 'warning';
    const message = `and ${this.#dropped} more problems`;
    return [...sorted, { file, line, column, message, severity }];
  }

  #add(at: Place, severity: Problem['severity'], message: string, remedy?: string): void {
    if (this.isFull) {
      this.#dropped += 1;
      return;
    }
    const { line, column } = at;
    const problem = { file: this.#file, line, column, message, severity };
    this.#problems.push(remedy === undefined ? problem : { ...problem, remedy });
  }
}
