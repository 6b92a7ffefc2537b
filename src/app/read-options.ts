/** Flags that change how a plan is read, in the words that formats know. Pure. */

import { UserError } from '../base/errors.ts';
import type { PlanFormat, ReadOptions } from '../plan/formats/format.ts';
import { FORMATS } from '../plan/formats/index.ts';

/** The file that one of the formats is usually in. */
export const USUAL_PLAN = FORMATS.flatMap(({ usualFile }) => usualFile ?? [])[0]!;

export interface ReadFlags {
  /** False for `--no-barriers`. */
  readonly barriers?: boolean;
  readonly target?: string;
  /** False for `--no-pr`. */
  readonly pr?: boolean;
  readonly autoApprove?: boolean;
  /** Cut a list of batches in two streams after so many, or in the middle. */
  readonly split?: number;
  readonly streams?: number;
  /** A todo list in the place of a plan. */
  readonly fromTodo?: string;
}

/** What the flags ask of the format. */
export function readOptionsOf(flags: ReadFlags): ReadOptions {
  const { barriers, target, split, streams, pr, autoApprove } = flags;
  const isSplit = split !== undefined || streams !== undefined;
  return {
    ...(barriers === false ? { barriers } : {}),
    ...(target === undefined ? {} : { target }),
    ...(pr === false ? { pr } : {}),
    ...(autoApprove === true ? { autoApprove } : {}),
    ...(isSplit ? { split: split ?? null } : {}),
  };
}

/** The format that the flags name or imply; null where the text decides. */
export function formatOf(flags: ReadFlags & { readonly format?: string }): string | null {
  const { split, streams, format, fromTodo } = flags;
  const splitFlag = split !== undefined ? '--split' : streams !== undefined ? '--streams' : null;
  if (fromTodo !== undefined) {
    const list = nameOf(({ isTodoList }) => isTodoList === true);
    const flag = format !== undefined && format !== list ? '--format' : splitFlag;
    if (flag === null) return list;
    throw new UserError(`--from-todo reads a todo list, so ${flag} has no effect.`);
  }
  if (splitFlag === null) return format ?? null;
  const batches = nameOf(({ hasBatches }) => hasBatches === true);
  if (format === undefined || format === batches) return batches;
  throw new UserError(`${splitFlag} is for plans of the format ${batches}, not ${format}.`);
}

function nameOf(isMeant: (format: PlanFormat) => boolean): string {
  return FORMATS.find(isMeant)!.name;
}
