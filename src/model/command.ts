/** Wishes of a user interface. The engine turns them into events, or refuses them with a reason. */

import type { TaskId } from './plan.ts';

export type Command =
  /** Ends one task, or without `task` the whole run; work is kept. */
  | { readonly kind: 'cancel'; readonly task?: TaskId }
  /** What a signal asks for. */
  | { readonly kind: 'stop'; readonly mode: 'drain' | 'end'; readonly why: string };
