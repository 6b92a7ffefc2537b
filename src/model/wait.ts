/** Why a task has not begun (again). Found by schedule/start.ts, told by report/wait.ts. */

import type { Shortage } from './machine.ts';
import type { TaskId } from './plan.ts';

export type Wait =
  | { readonly kind: 'stopping' | 'paused' }
  /** Tasks it needs that have not landed. */
  | { readonly kind: 'needs'; readonly tasks: readonly TaskId[] }
  /** Its old workspace is on its way out. */
  | { readonly kind: 'workspace' }
  /** The pause before another attempt. */
  | { readonly kind: 'retry'; readonly until: number }
  /** The agent is at its limit. */
  | { readonly kind: 'limit'; readonly agent: string; readonly until: number }
  /** The agent was at its limit, and one attempt finds out whether it still is. */
  | { readonly kind: 'probe'; readonly agent: string; readonly task: TaskId }
  /** The agent has no login or no credit; somebody has to look after it. */
  | { readonly kind: 'refusal'; readonly agent: string; readonly why: 'auth' | 'billing' }
  | { readonly kind: 'slot'; readonly workers: number }
  | {
      readonly kind: 'group';
      readonly group: string;
      readonly busy: number;
      readonly limit: number;
    }
  /** Another task works in the user's checkout. */
  | { readonly kind: 'checkout'; readonly task: TaskId }
  /** Another task's work, whose scope meets its own, has not landed. */
  | { readonly kind: 'scope'; readonly task: TaskId }
  /** The machine has too little of something. */
  | { readonly kind: 'room'; readonly of: Shortage; readonly why: string }
  /** All of the run's money is spent or reserved. */
  | { readonly kind: 'money' }
  /** It is finished: its work waits to land. */
  | { readonly kind: 'queue' }
  /** It is given up: that has yet to be recorded. */
  | { readonly kind: 'end' };
