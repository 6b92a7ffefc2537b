/** One input format. To add one: a file, a line in index.ts, a fixture; nothing else. */

import type { Plan } from '../../model/plan.ts';
import type { Config } from '../config/schema.ts';
import type { Place, Problem } from '../problem.ts';

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
  /** The names in a folder named relative to the plan's folder, sorted; none where it is none. */
  list(path: string): readonly string[];
  /** The same two, relative to the repository's root, which is an absolute path. */
  readonly repository: {
    readonly root: string;
    read(path: string): string | null;
    list(path: string): readonly string[];
  };
  /** What the user configured beside the plan; what the plan says wins. */
  readonly config: Config;
  readonly wishes: Wishes;
  /** The user's home, for `~` in paths. */
  readonly home: string;
}

/** Flags that change how a text is read, not only what is done with it. */
export interface Wishes {
  /** Cut a list of batches in two streams after so many; null means in the middle. */
  readonly split?: number | null;
  /** False where waves are only as strict as the needs of their tasks. */
  readonly barriers?: boolean;
  /** False where no pull request is wanted. */
  readonly pr?: boolean;
  /** Agents may do anything. */
  readonly autoApprove?: boolean;
  /** The branch that `--target` names. */
  readonly target?: string;
}

export interface ParsedPlan {
  /** Null exactly when there is a problem of severity error. */
  readonly plan: Plan | null;
  /** The name of the format; null where none was recognised. */
  readonly format: string | null;
  readonly problems: readonly Problem[];
  /**
   * The exit code for a text with errors, and for surroundings in which it cannot run, where users
   * of the format know another than 2 and 3.
   */
  readonly refusalExit?: 1 | 2;
  /** Lines that users of the format know from a dry run; shown behind the plan. */
  readonly preview?: readonly string[];
}

export interface PlanFormat {
  readonly name: string;
  /** What tells a text of this format from others, such as `a key landfast`. */
  readonly marker: string;
  /** Cheap and certain: where the marker that only this format has stands; null without one. */
  detect(file: SourceFile): Place | null;
  /** Its texts can say all that a Plan holds: what a configuration adds is its own business. */
  readonly isWhole?: true;
  /** It reads the `git` section, in which then also stands what git knows of the repository. */
  readonly asksGit?: true;
  /** Never throws: all problems at once, each with its place and a way out. */
  parse(input: PlanInput): ParsedPlan;
  /** The variable that is 1 inside of such plans' agents: there such a plan does nothing. */
  readonly idleInside?: string;
}
