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
  /** The text of a file, relative to the plan's folder; null if it cannot be read. */
  read(path: string): string | null;
  /** The sorted names in a folder, relative to the plan's folder; none if it is no folder. */
  list(path: string): readonly string[];
  /** The same, relative to the repository's root, which is an absolute path. */
  readonly repository: {
    readonly root: string;
    read(path: string): string | null;
    list(path: string): readonly string[];
  };
  /** The plan wins over it. */
  readonly config: Config;
  readonly options: ReadOptions;
  /** The user's home, for `~` in paths. */
  readonly home: string;
}

/** Flags that change how a text is read. */
export interface ReadOptions {
  /** Split the batches into two streams after so many; null means in the middle. */
  readonly split?: number | null;
  /** False: a task waits only for the tasks it needs, not for the wave before. */
  readonly barriers?: boolean;
  /** False: agents open no pull requests. */
  readonly pr?: boolean;
  /** Agents run without permission prompts. */
  readonly autoApprove?: boolean;
  readonly target?: string;
}

export interface ParsedPlan {
  /** Null exactly when there is a problem of severity error. */
  readonly plan: Plan | null;
  /** Null if no format was recognised. */
  readonly format: string | null;
  readonly problems: readonly Problem[];
  /**
   * The exit code for a text with errors, and for surroundings in which it cannot run, where users
   * of the format know another than 2 and 3.
   */
  readonly refusalExit?: 1 | 2;
  /** Lines of a dry run as the format's own tool prints them; shown after the plan. */
  readonly preview?: readonly string[];
}

/** The name of a file without folders and extension. */
export function stemOf(path: string): string {
  return (path.split(/[\\/]/).at(-1) ?? '').replace(/(?<=.)\.[^.]*$/, '');
}

export interface PlanFormat {
  readonly name: string;
  /** How texts of this format are recognised, such as `a key landfast`. */
  readonly marker: string;
  /** Where the marker is that only this format has; null without one. Cheap and certain. */
  detect(file: SourceFile): Place | null;
  /** It applies the configuration itself, because its texts can say all that a Plan holds. */
  readonly isWhole?: true;
  /** It reads the `git` section, which must be completed from the repository first. */
  readonly asksGit?: true;
  /** Never throws: all problems at once, each with its place and a way out. */
  parse(input: PlanInput): ParsedPlan;
  /** The variable that is 1 inside the format's agents, where such a plan does nothing. */
  readonly idleInside?: string;
  /** Its plan is a list of batches, which `--split` and `--streams` split in two. */
  readonly hasBatches?: true;
  /** It is what `--from-todo` reads. */
  readonly isTodoList?: true;
  /** The file that is run where no plan is named. */
  readonly usualFile?: string;
  readonly leftover?: Leftover;
  readonly promptFiles?: PromptFiles;
}

/** The state that the format's own tool leaves beside a plan. */
export interface Leftover {
  readonly tool: string;
  /** `stem` is the name of the plan's file without its extension. */
  fileFor(stem: string): string;
  /** The ids of completed tasks; null if the text is not understood. */
  completedIn(text: string): readonly string[] | null;
}

/** Prompts that are files beside the plan, with sections that agents rely on. */
export interface PromptFiles {
  lacksOf(prompt: string): readonly Lack[];
  /** Prompts generated from the task files, by path from the plan's folder. */
  made(input: PlanInput): ReadonlyMap<string, string>;
}

export interface Lack {
  readonly what: string;
  readonly critical: boolean;
}
