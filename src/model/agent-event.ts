/**
 * What an agent's output means, the same for every agent: one line of a transcript. A parser never
 * throws and never invents: an unknown line is `activity`. The last `result` before the exit
 * counts.
 */

import type { Failure } from './failure.ts';

export type AgentEvent =
  | {
      readonly type: 'session';
      readonly id: string;
      readonly model?: string;
      readonly cwd?: string;
    }
  | { readonly type: 'text'; readonly text: string; readonly delta?: boolean }
  | { readonly type: 'thinking' }
  | {
      readonly type: 'tool.start';
      readonly id: string;
      readonly name: string;
      readonly input: unknown;
    }
  | {
      readonly type: 'tool.end';
      readonly id: string;
      readonly ok: boolean;
      readonly output: string;
    }
  /** The CLI waits before asking the service again. */
  | {
      readonly type: 'retry';
      readonly attempt: number;
      readonly max: number;
      readonly delayMs: number;
      readonly failure: Failure;
    }
  | {
      readonly type: 'limit';
      readonly status: 'allowed' | 'warning' | 'rejected';
      readonly resetsAt?: number;
    }
  /** `id`: the call of that tool, where its start was told. */
  | { readonly type: 'denied'; readonly tool: string; readonly id?: string }
  | { readonly type: 'usage'; readonly usage: Usage }
  | { readonly type: 'warning'; readonly text: string }
  /** A mere sign of life. `background`: how many tasks run behind the turn. */
  | { readonly type: 'activity'; readonly what: string; readonly background?: number }
  | {
      readonly type: 'result';
      readonly ok: boolean;
      readonly text: string;
      /** The answer in the form of the job's schema. */
      readonly structured?: unknown;
      readonly failure?: Failure;
      readonly usage?: Usage;
      readonly turns?: number;
    };

/** What one attempt has used; never cumulative over a session. */
export interface Usage {
  readonly costUsd: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}
