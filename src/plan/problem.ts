/** Problems of a plan: all at once, each with its place and a remedy. */

import { closest } from '../base/closest.ts';

export interface Problem {
  readonly file: string;
  /** Line and column count from one; both are 0 where a plan is an object, not a text. */
  readonly line: number;
  readonly column: number;
  /** Where in a plan that is an object: `tasks[2].needs`. */
  readonly path?: string;
  readonly message: string;
  /** What to do about it. */
  readonly remedy?: string;
  readonly severity: 'error' | 'warning';
}

/** A place in a text, counted from one. In an object the line only numbers the values, in order. */
export interface Place {
  readonly line: number;
  readonly column: number;
  /** The way to a value of an object: `tasks[2].needs`; '' is the object itself. */
  readonly path?: string;
}

export const START: Place = { line: 1, column: 1 };

export function placeAt(text: string, offset: number): Place {
  const before = text.slice(0, offset).split(/\r\n|\n|\r/);
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
}

/** How a message refers to another place. */
export function placeText({ line, path }: Place): string {
  return path === undefined ? `on line ${line}` : `at ${path}`;
}

/** `plan.yaml:12:5: error: message`, and the remedy indented below. */
export function formatProblem(problem: Problem): string {
  const { file, line, column, path, severity, message, remedy } = problem;
  const place = path === undefined ? `:${line}:${column}` : path && `: ${path}`;
  const first = `${file}${place}: ${severity}: ${message}`;
  return remedy === undefined ? first : `${first}\n${remedy.replace(/^/gm, '  ')}`;
}

/** A value as messages show it: short, in quotes, without control characters. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 59)}…` : text);
}

const MAX_PROBLEMS = 200;

interface Logged {
  readonly at: Place;
  readonly problem: Problem;
}

/** The problems of one file; the first MAX_PROBLEMS of them are kept. */
export class ProblemLog {
  readonly #file: string;
  readonly #problems: Logged[] = [];
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

  /** Whether there is an error. */
  get failed(): boolean {
    return this.#failed;
  }

  /** Further problems are only counted, so that costly remedies need not be computed. */
  get isFull(): boolean {
    return this.#problems.length >= MAX_PROBLEMS;
  }

  /** A remedy that names what the word was probably meant to be, or says what else to do. */
  didYouMean(
    word: string,
    candidates: Iterable<string>,
    otherwise: string,
    shown: (name: string) => string = String,
  ): string {
    const guess = this.isFull ? null : closest(word, candidates);
    return guess === null ? otherwise : `did you mean ${shown(guess)}?`;
  }

  /** By place, so that a reader goes through the file once. */
  sorted(): readonly Problem[] {
    const order = (a: Logged, b: Logged): number =>
      a.at.line - b.at.line || a.at.column - b.at.column;
    const sorted = this.#problems.toSorted(order).map(({ problem }) => problem);
    const last = sorted.at(-1);
    if (last === undefined || this.#dropped === 0) return sorted;
    const { remedy: _, ...place } = last;
    const severity = this.#failed ? 'error' : 'warning';
    return [...sorted, { ...place, message: `and ${this.#dropped} more problems`, severity }];
  }

  #add(at: Place, severity: Problem['severity'], message: string, remedy?: string): void {
    if (this.isFull) {
      this.#dropped += 1;
      return;
    }
    const { line, column, path } = at;
    const place = path === undefined ? { line, column } : { line: 0, column: 0, path };
    const problem = { file: this.#file, ...place, message, severity };
    this.#problems.push({ at, problem: remedy === undefined ? problem : { ...problem, remedy } });
  }
}

/** The problems of a plan that is several files in one folder. */
export class DirectoryLogs {
  /** Those of the plan's own file. */
  readonly main: ProblemLog;
  readonly #folder: string;
  readonly #others = new Map<string, ProblemLog>();

  /** `path` is that of the plan's own file, as the user sees it. */
  constructor(path: string) {
    this.main = new ProblemLog(path);
    this.#folder = path.replace(/[^\\/]*$/, '');
  }

  /** The problems of another file, named relative to the folder. */
  of(path: string): ProblemLog {
    const log = this.#others.get(path) ?? new ProblemLog(`${this.#folder}${path}`);
    this.#others.set(path, log);
    return log;
  }

  get failed(): boolean {
    return [this.main, ...this.#others.values()].some(({ failed }) => failed);
  }

  all(): readonly Problem[] {
    return [this.main, ...this.#others.values()].flatMap((log) => log.sorted());
  }
}
