/**
 * speak: run an agent's process and listen to it: lines in, facts and chatter out, one verdict.
 *
 *   K1. Facts are reported as they become true: a session id is known before it is needed.
 *   K2. The verdict is judged in order: stopped by us, out of time, the agent's own result, its exit.
 */

import { randomUUID } from 'node:crypto';
import type { Agent, AgentOutcome, Job } from '../agents/agent.ts';
import { messageOf } from '../base/errors.ts';
import { type Exit, exitCode } from '../base/exit.ts';
import type { AgentEvent } from '../model/agent-event.ts';
import type { Chatter, Emit } from '../model/effect.ts';
import type { Event } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import type { TaskSpec } from '../model/plan.ts';
import { run } from '../process/run.ts';
import { Tail } from '../workspace/check.ts';
import { allowedEnv, type Environment } from './environment.ts';
import { type Ended, Watch } from './watch.ts';

export interface Speech {
  readonly agent: Agent;
  readonly task: TaskSpec;
  readonly attempt: number;
  readonly prompt: string;
  readonly session: string | null;
  readonly budgetUsd: number | null;
  readonly executable: string | null;
  readonly dir: string;
  readonly mark: string;
  /** The user's environment, before the allow-list. */
  readonly userEnv: Readonly<Record<string, string | undefined>>;
  readonly extraEnv: Environment;
}

export interface Spoken {
  readonly outcome: AgentOutcome;
  readonly exitCode: number | null;
}

const TAIL_CHARS = 16_000;
const GRACE_MS = 5_000;

/** Runs the agent to its end. */
export async function speak(speech: Speech, emit: Emit, signal: AbortSignal): Promise<Spoken> {
  const { agent, task } = speech;
  const command = agent.command(jobOf(speech));
  const idleMs = agent.can.prose ? task.idleMs : Number.POSITIVE_INFINITY;
  using watch = new Watch({ timeoutMs: task.timeoutMs, idleMs });
  const listener = new Listener(speech, watch, emit);
  try {
    const exit = await run(
      {
        file: command.file,
        args: command.args,
        cwd: speech.dir,
        env: { ...allowedEnv(speech.userEnv, command.inherit), ...command.env, ...speech.extraEnv },
        stdin: command.stdin,
        graceMs: GRACE_MS,
        mark: speech.mark,
        onLine: (line, from) => listener.line(line, from),
      },
      AbortSignal.any([signal, watch.signal]),
    );
    return { outcome: listener.outcome(exit, signal), exitCode: exitCode(exit) };
  } catch (error) {
    const failure: Failure = { kind: 'permanent', message: messageOf(error) };
    return { outcome: { ok: false, failure }, exitCode: null };
  }
}

function jobOf(speech: Speech): Job {
  const { task } = speech;
  return {
    prompt: speech.prompt,
    executable: speech.executable,
    newSession: randomUUID(),
    resume: speech.session,
    role: task.role ?? null,
    model: task.model ?? null,
    permissions: task.permissions,
    readOnly: task.mode === 'read',
    budgetUsd: speech.budgetUsd,
  };
}

/** Hears the lines of one process. */
class Listener {
  readonly #speech: Speech;
  readonly #watch: Watch;
  readonly #emit: Emit;
  readonly #parser;
  readonly #stdout = new Tail(TAIL_CHARS);
  readonly #stderr = new Tail(TAIL_CHARS);
  #result: (AgentEvent & { type: 'result' }) | null = null;
  #session: string | null = null;
  #spoke = false;

  constructor(speech: Speech, watch: Watch, emit: Emit) {
    this.#speech = speech;
    this.#watch = watch;
    this.#emit = emit;
    this.#parser = speech.agent.parser();
  }

  line(text: string, from: 'stdout' | 'stderr'): void {
    this.#watch.alive();
    this.#chatter({ from, text });
    const events = from === 'stdout' ? this.#parser.stdout(text) : this.#parser.stderr(text);
    if (events.length === 0) (from === 'stdout' ? this.#stdout : this.#stderr).add(text);
    for (const event of events) this.#hear(event);
  }

  outcome(exit: Exit, signal: AbortSignal): AgentOutcome {
    if (signal.aborted) return { ok: false, failure: stopped(signal.reason) };
    const ended = this.#watch.signal.aborted ? (this.#watch.signal.reason as Ended) : null;
    if (ended !== null && 'failure' in ended) return { ok: false, failure: ended.failure };
    return this.#speech.agent.outcome({
      exit,
      result: this.#result,
      spoke: this.#spoke,
      stdoutTail: this.#stdout.text,
      stderrTail: this.#stderr.text,
    });
  }

  #hear(event: AgentEvent): void {
    this.#spoke = true;
    this.#watch.saw(event);
    this.#chatter({ from: 'agent', event });
    const { attempt } = this.#speech;
    const task = this.#speech.task.id;
    if (event.type === 'session' && event.id !== this.#session) {
      this.#session = event.id;
      const model = event.model === undefined ? {} : { model: event.model };
      this.#fact({ type: 'attempt.session', task, attempt, session: event.id, ...model });
    }
    if (event.type === 'denied') {
      this.#fact({ type: 'attempt.denied', task, attempt, tool: event.tool });
    }
    const usage = event.type === 'usage' || event.type === 'result' ? event.usage : undefined;
    if (usage !== undefined) this.#fact({ type: 'attempt.usage', task, attempt, ...usage });
    if (event.type === 'result') this.#result = event;
  }

  #fact(event: Event): void {
    this.#emit({ kind: 'fact', event });
  }

  #chatter(line: Chatter): void {
    const { task, attempt } = this.#speech;
    this.#emit({ kind: 'chatter', task: task.id, attempt, line });
  }
}

/** The failure of work that we ended ourselves; the reason says why. */
export function stopped(reason: unknown): Failure {
  return reason === 'cancelled'
    ? { kind: 'cancelled', message: 'Cancelled; its work so far is kept.' }
    : { kind: 'interrupted', message: 'Interrupted; its work so far is kept.' };
}
