/**
 * speak: run an agent's process and listen to it: lines in, facts and chatter out, one verdict.
 *
 *   K1. Facts are reported as they become true: a session id is known before it is needed.
 *   K2. The verdict is judged in order: stopped by us, out of time, the agent's own result, its exit.
 */

import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Agent, AgentOutcome, CommandLine, Job, Parser } from '../agents/agent.ts';
import { namedByPatterns } from '../agents/patterns.ts';
import { messageOf } from '../base/errors.ts';
import { type Exit, exitCode } from '../base/exit.ts';
import type { Suspension } from '../base/suspension.ts';
import type { AgentEvent } from '../model/agent-event.ts';
import type { Chatter, Emit } from '../model/effect.ts';
import type { Event } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import type { FailurePattern, TaskSpec } from '../model/plan.ts';
import { CUT_NOTE, WAS_CUT } from '../process/lines.ts';
import { type Input, type Run, run } from '../process/run.ts';
import { giveScratch, takeScratch } from '../process/scratch.ts';
import { SpawnError } from '../process/spawn.ts';
import { Tail } from '../workspace/check.ts';
import { allowedEnv, type Environment } from './environment.ts';
import { type Ended, Watch } from './watch.ts';

export interface Speech {
  readonly agent: Agent;
  readonly task: TaskSpec;
  readonly run: string;
  readonly attempt: number;
  readonly prompt: string;
  readonly session: string | null;
  /** Whether that session is left as it is, and a new one begins with its history. */
  readonly fork: boolean;
  readonly budgetUsd: number | null;
  readonly executable: string | null;
  readonly dir: string;
  readonly mark: string;
  /** The user's environment, before the allow-list. */
  readonly userEnv: Readonly<Record<string, string | undefined>>;
  readonly extraEnv: Environment;
  /** A folder that the plan names, as an absolute path. */
  readonly resolve: (dir: string) => string;
  /** Wraps the program so that it can write only where it may; null where there is no fence. */
  readonly fence: Fence | null;
  /** Halts the agent and its time, together with the others of the run. */
  readonly suspension: Suspension;
  /** What the user knows of this agent's failures. */
  readonly failures: readonly FailurePattern[];
}

/** A program as it is started inside of a fence; `temp` is a folder it may write to as well. */
export type Fence = (program: Bare, temp: string) => Bare;

interface Bare {
  readonly file: string;
  readonly args: readonly string[];
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
  const job = jobOf(speech);
  const idleMs = agent.can.prose ? task.idleMs : Number.POSITIVE_INFINITY;
  using watch = new Watch({ timeoutMs: task.timeoutMs, idleMs });
  using _ = speech.suspension.join(watch);
  const listener = new Listener({ speech, job, watch }, emit);
  const temp = takeScratch(speech.run);
  try {
    const program = await programOf(speech, agent.command(job), temp);
    const exit = await run(
      {
        ...program,
        cwd: speech.dir,
        graceMs: GRACE_MS,
        mark: speech.mark,
        suspension: speech.suspension,
        onStart: (input) => listener.begin(input),
        onLine: (line, from, cut) => listener.line(line, from, cut),
      },
      AbortSignal.any([signal, watch.signal]),
    );
    return { outcome: listener.outcome(exit, signal), exitCode: exitCode(exit) };
  } catch (error) {
    return { outcome: { ok: false, failure: notStarted(error) }, exitCode: null };
  } finally {
    await giveScratch(speech.run, temp);
  }
}

/** What other agents hold now is free again once they end; all else would be the same next time. */
function notStarted(error: unknown): Failure {
  const message = messageOf(error);
  const isShort = error instanceof SpawnError && error.problem === 'no-resources';
  return isShort
    ? { kind: 'transient', message: `${message}. ${error.remedy}` }
    : { kind: 'permanent', message };
}

/** The command line with its files written, its own temp folder, and the fence around it. */
async function programOf(
  speech: Speech,
  command: CommandLine,
  temp: string,
): Promise<Pick<Run, 'file' | 'args' | 'env' | 'stdin' | 'keepsInput'>> {
  const here = (text: string): string => text.replaceAll('{temp}', temp);
  for (const [name, text] of Object.entries(command.files ?? {})) {
    await writeFile(join(temp, name), text, { mode: 0o600 });
  }
  const own = Object.entries(command.env).map(([name, value]) => [name, here(value)]);
  const inherit = [...command.inherit, ...speech.task.options.passEnv];
  const env = {
    ...allowedEnv(speech.userEnv, inherit),
    TMPDIR: temp,
    ...Object.fromEntries(own),
    ...speech.extraEnv,
  };
  const bare = { file: command.file, args: command.args.map(here) };
  const { file, args } = speech.fence === null ? bare : speech.fence(bare, temp);
  return { file, args, env, stdin: command.stdin, keepsInput: command.dialogue === true };
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
    budgetUsd: leastOf(speech.budgetUsd, task.options.budgetUsd),
    fork: speech.fork && speech.session !== null,
    options: { ...task.options, dirs: task.options.dirs.map((dir) => speech.resolve(dir)) },
    cwd: speech.dir,
  };
}

function leastOf(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}

/** Hears the lines of one process. */
class Listener {
  readonly #speech: Speech;
  readonly #job: Job;
  readonly #watch: Watch;
  readonly #emit: Emit;
  readonly #parser: Parser;
  #input: Input | null = null;
  readonly #stdout = new Tail(TAIL_CHARS);
  readonly #stderr = new Tail(TAIL_CHARS);
  #result: (AgentEvent & { type: 'result' }) | null = null;
  #session: string | null = null;
  #spoke = false;

  constructor(
    { speech, job, watch }: { readonly speech: Speech; readonly job: Job; readonly watch: Watch },
    emit: Emit,
  ) {
    this.#speech = speech;
    this.#job = job;
    this.#watch = watch;
    this.#emit = emit;
    this.#parser = speech.agent.parser(job);
  }

  /** In a dialogue the parser has the first word. */
  begin(input: Input): void {
    this.#input = input;
    this.#reply();
  }

  line(text: string, from: 'stdout' | 'stderr', cut: boolean): void {
    this.#watch.alive();
    this.#chatter({ from, text });
    const events = from === 'stdout' ? this.#parser.stdout(text) : this.#parser.stderr(text);
    if (events.length === 0) (from === 'stdout' ? this.#stdout : this.#stderr).add(text);
    for (const event of events) this.#hear(event);
    if (cut) this.#tellCut(from);
    this.#reply();
  }

  /** Said beside the line, and among what the output meant: a result may have been in it. */
  #tellCut(from: 'stdout' | 'stderr'): void {
    this.#chatter({ from, text: CUT_NOTE });
    (from === 'stdout' ? this.#stdout : this.#stderr).add(CUT_NOTE);
    const text = `A line of ${from} ${WAS_CUT}`;
    this.#chatter({ from: 'agent', event: { type: 'warning', text } });
  }

  outcome(exit: Exit, signal: AbortSignal): AgentOutcome {
    if (signal.aborted) return { ok: false, failure: stopped(signal.reason) };
    const ended = this.#watch.signal.aborted ? (this.#watch.signal.reason as Ended) : null;
    if (ended !== null && 'failure' in ended) return { ok: false, failure: ended.failure };
    const end = {
      exit,
      job: this.#job,
      result: this.#result,
      spoke: this.#spoke,
      stdoutTail: this.#stdout.text,
      stderrTail: this.#stderr.text,
    };
    const outcome = this.#speech.agent.outcome(end);
    if (outcome.ok) return outcome;
    // Interrupted is what we did to it; an agent that stops by itself has failed like any other.
    const isOwn = outcome.failure.kind === 'interrupted';
    const { message } = outcome.failure;
    const failure = isOwn ? ({ kind: 'transient', message } as const) : outcome.failure;
    return { ok: false, failure: namedByPatterns(failure, end, this.#speech.failures) };
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

  #reply(): void {
    for (const line of this.#parser.replies?.() ?? []) this.#input?.write(`${line}\n`);
    if (this.#parser.isOver?.() === true) this.#input?.end();
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
