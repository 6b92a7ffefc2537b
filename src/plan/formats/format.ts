/** One input format. To add one: a file, a line in index.ts, a fixture; nothing else. */

import type { Plan } from '../../model/plan.ts';
import type { Problem } from '../problem.ts';

export interface SourceFile {
  /** As it is shown to the user. */
  readonly path: string;
  readonly text: string;
}

export interface PlanInput {
  readonly file: SourceFile;
  /**
   * The folder of the plan's file relative to the repository's root, with `/`; '' is the root. It
   * begins with `..` where the file lies outside the repository.
   */
  readonly directory: string;
  /** The text of a file named relative to the plan's folder; null where it cannot be read. */
  read(path: string): string | null;
}

export interface ParsedPlan {
  /** Null exactly when there is a problem of severity error. */
  readonly plan: Plan | null;
  /** The name of the format; null where none was recognised. */
  readonly format: string | null;
  readonly problems: readonly Problem[];
}

export interface PlanFormat {
  readonly name: string;
  /** Cheap and certain: a marker only this format has. */
  detect(file: SourceFile): boolean;
  /** Never throws: all problems at once, each with its place and a way out. */
  parse(input: PlanInput): ParsedPlan;
}
