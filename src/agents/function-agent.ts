/**
 * An agent that is a function of the caller. It runs in the caller's process, beside the drivers
 * that are command lines.
 *
 *   F1. The workspace, the prompt, the time limits, the checks and the commit are those of any agent.
 *   F2. A function cannot be killed, halted or fenced. It stops by itself when `signal` aborts; one
 *       that does not is left behind, and its task is not tried again beside it.
 *   F3. A function that throws has failed like a program that crashed: the attempt is retried.
 */

import type { AgentEvent } from '../model/agent-event.ts';
import { type Abilities, type Agent, type AgentOutcome, NO_ABILITIES } from './agent.ts';

/** What the caller gives. */
export interface CustomAgent {
  /** Plans name it `function:NAME`: letters, digits, `_` and `-`. */
  readonly name: string;
  /** Whether it can continue a session that it emitted in an earlier attempt. */
  readonly resumes?: boolean;
  run(job: CustomJob, context: CustomContext): Promise<CustomResult>;
}

/** One attempt, as the function gets it. */
export interface CustomJob {
  readonly run: string;
  readonly task: string;
  /** From 1. */
  readonly attempt: number;
  /** The folder to work in: the task's workspace, or `cwd` in it. */
  readonly dir: string;
  readonly prompt: string;
  /** The session to continue; null to begin a new one. */
  readonly session: string | null;
  readonly model: string | null;
  /** A read task: its changes are discarded. */
  readonly readOnly: boolean;
  /**
   * What a program of this attempt would get: allowed variables, the task's own, `LANDFAST_*`, and a
   * temporary folder as TMPDIR. Programs started with it are found and ended after a crash.
   */
  readonly env: Readonly<Record<string, string>>;
}

export interface CustomContext {
  /** Reports what happens. Counts as a sign of life; ignored once the attempt is over. */
  emit(event: CustomEvent): void;
  /** Aborts when the task is cancelled, the run stops or a time limit is reached. */
  readonly signal: AbortSignal;
}

/** `usage` is the whole of the attempt so far: each one replaces the one before. */
export type CustomEvent = Extract<
  AgentEvent,
  { type: 'text' | 'usage' | 'session' | 'tool.start' | 'tool.end' | 'activity' }
>;

export type CustomResult =
  | { readonly ok: true; readonly text?: string; readonly structured?: unknown }
  | { readonly ok: false; readonly failure: CustomFailure };

export interface CustomFailure {
  readonly kind: (typeof FAILURE_KINDS)[number];
  readonly message: string;
  /** With `rate-limited`: when the limit resets, in milliseconds since 1970. */
  readonly retryAt?: number;
}

const FAILURE_KINDS = [
  'transient',
  'rate-limited',
  'auth',
  'billing',
  'budget',
  'turns',
  'permanent',
  'session-lost',
] as const;

/** A custom agent with what it can do. */
export interface FunctionAgent extends CustomAgent {
  readonly can: Abilities;
}

/** Whatever a task may name. */
export type AnyAgent = Agent | FunctionAgent;

/** Makes an agent of a function; the prefix keeps its name apart from those of the drivers. */
export function functionAgent(custom: CustomAgent): FunctionAgent {
  return {
    name: `function:${custom.name}`,
    can: {
      ...NO_ABILITIES,
      resume: custom.resumes === true,
      prose: true,
      model: true,
      // The modes that do not promise to hold the function back from anything.
      permissions: ['default', 'acceptEdits', 'bypassPermissions'],
    },
    run: (job, context) => custom.run(job, context),
  };
}

export function isFunctionAgent(agent: AnyAgent): agent is FunctionAgent {
  return 'run' in agent;
}

/** The verdict on what a function returned, which types alone cannot guarantee. */
export function customOutcome(name: string, result: CustomResult): AgentOutcome {
  if (result?.ok === true) {
    const { text = '', structured } = result;
    return { ok: true, text, ...(structured === undefined ? {} : { structured }) };
  }
  const failure: CustomFailure | undefined = result?.failure;
  if (failure === undefined || !FAILURE_KINDS.includes(failure.kind)) {
    const known = FAILURE_KINDS.join(', ');
    const message = `Agent ${name} returned neither { ok: true } nor a failure of a known kind (${known}).`;
    return { ok: false, failure: { kind: 'permanent', message } };
  }
  const { kind, message, retryAt } = failure;
  const until = kind === 'rate-limited' && retryAt !== undefined ? { retryAt } : {};
  return { ok: false, failure: { kind, message, ...until } };
}
