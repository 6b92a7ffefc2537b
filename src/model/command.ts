/** Wishes of a user interface. The engine turns them into events, or refuses them with a reason. */

import type { StopMode } from './event.ts';
import type { TaskId } from './plan.ts';

export type Command =
  /** Ends one task; its work is kept. */
  | { readonly kind: 'cancel-task'; readonly task: TaskId }
  /** No new attempts; with `suspend` those that run are halted where they are. */
  | { readonly kind: 'pause'; readonly suspend: boolean }
  /** Goes on after a pause, with the same processes. */
  | { readonly kind: 'continue' }
  /** A new chance for failed tasks and those that failed because of them; no more waiting. */
  | { readonly kind: 'retry'; readonly tasks: readonly TaskId[]; readonly fresh: boolean }
  /** Gives tasks up. `satisfied`: what needs them may go on as if they had succeeded. */
  | { readonly kind: 'skip'; readonly tasks: readonly TaskId[]; readonly satisfied: boolean }
  /** Ends the run, more or less at once: what a signal or `landfast cancel` asks for. */
  | { readonly kind: 'stop'; readonly mode: StopMode; readonly why: string };

/** What the engine says to a wish. */
export type Answer =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly why: string };
