/** Wishes of a user interface. The engine turns them into events, or refuses them with a reason. */

import type { StopMode } from './event.ts';
import type { TaskId } from './plan.ts';

export type Command =
  /** Ends one task; its work is kept. */
  | { readonly kind: 'cancel-task'; readonly task: TaskId }
  /** Ends the run, more or less at once: what a signal or `landfast cancel` asks for. */
  | { readonly kind: 'stop'; readonly mode: StopMode; readonly why: string };
