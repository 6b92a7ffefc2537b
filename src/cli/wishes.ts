/** Flags that change how a plan is read, in the words that formats know. Pure. */

import { UserError } from '../base/errors.ts';
import type { Wishes } from '../plan/formats/format.ts';

export interface WishFlags {
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
export function wishesOf(flags: WishFlags): Wishes {
  const { barriers, target, split, streams, pr, autoApprove } = flags;
  const isCut = split !== undefined || streams !== undefined;
  return {
    ...(barriers === false ? { barriers } : {}),
    ...(target === undefined ? {} : { target }),
    ...(pr === false ? { pr } : {}),
    ...(autoApprove === true ? { autoApprove } : {}),
    ...(isCut ? { split: split ?? null } : {}),
  };
}

/** Only lists of batches can be cut. */
const CUTTABLE = 'cast-dispatch';

/** The format that the flags name, or mean; null where it is to be found out. */
export function formatOf(flags: WishFlags & { readonly format?: string }): string | null {
  const { split, streams, format } = flags;
  if (flags.fromTodo !== undefined) return todoFormat(flags);
  if (split === undefined && streams === undefined) return format ?? null;
  if (format === undefined || format === CUTTABLE) return CUTTABLE;
  const flag = split === undefined ? '--streams' : '--split';
  throw new UserError(`${flag} is for plans of the format ${CUTTABLE}, not ${format}.`);
}

const LIST = 'todo';

function todoFormat({ format, split, streams }: WishFlags & { readonly format?: string }): string {
  const isOther = format !== undefined && format !== LIST;
  if (!isOther && split === undefined && streams === undefined) return LIST;
  const flag = isOther ? '--format' : split === undefined ? '--streams' : '--split';
  throw new UserError(`--from-todo reads a todo list, so ${flag} has no place.`);
}
