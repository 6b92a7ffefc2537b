/** Flags that change how a plan's text is read; what they mean is the format's business. */

import type { Wishes } from '../plan/formats/format.ts';

export interface WishFlags {
  /** False for `--no-barriers`. */
  readonly barriers?: boolean;
}

/** What the flags ask of the format. */
export function wishesOf({ barriers }: WishFlags): Wishes {
  return barriers === false ? { barriers } : {};
}
