/**
 * runAgent: runs an agent to its end, a program or a function, and turns what it says into facts
 * and chatter. Facts are reported as they become true: a session id is known before it is needed.
 * The verdict is judged in order: stopped by us, out of time, the agent's own result, its exit.
 */

import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Agent, AgentOutcome, CommandLine, Job, Parser } from '../agents/agent.ts';
import { type ToolCall, whatOf } from '../agents/denial.ts';
import {
  type AnyAgent,
  type CustomEvent,
  customOutcome,
  type FunctionAgent,
  isFunctionAgent,
} from '../agents/function-agent.ts';
import { namedByPatterns } from '../agents/outcome.ts';
import { messageOf, rethrowBug } from '../base/errors.ts';
import { type Exit, exitCode } from '../base/exit.ts';
import { graceAfter } from '../base/pause.ts';
import type { Suspension } from '../base/suspension.ts';
import type { AgentEvent } from '../model/agent-event.ts';
import type { Chatter, Emit } from '../model/effect.ts';
import type { Denial, Event } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import type { FailurePattern, TaskSpec } from '../model/plan.ts';
import { CUT_NOTE, WAS_CUT } from '../process/lines.ts';
import { MARK_VARIABLE, markFor } from '../process/process-list.ts';
import { type Input, type Run, run } from '../process/run.ts';
import { giveScratch, takeScratch } from '../process/scratch.ts';
import { SpawnError } from '../process/spawn.ts';
import { Tail } from '../workspace/check.ts';
import { allowedEnv, type Environment } from './environment.ts';
import { type Ended, Watchdog } from './watchdog.ts';

export interface AgentOrder<A extends AnyAgent = AnyAgent> {
  readonly agent: A;
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
export type Fence = (program: Unfenced, temp: string) => Unfenced;

type Unfenced = Pick<CommandLine, 'file' | 'args'>;

export interface AgentReport {
  readonly outcome: AgentOutcome;
  /** Null for a function, and where the program did not start. */
  readonly exitCode: number | null;
  /** Whether it was refused a tool. */
  readonly denied: boolean;
}

const TAIL_CHARS = 16_000;
const GRACE_MS = 5_000;
/** The calls of tools that are remembered, in case one is refused. */
const MOST_CALLS = 500;

export async function runAgent(
  order: AgentOrder,
  emit: Emit,
  signal: AbortSignal,
): Promise<AgentReport> {
  const { agent, task } = order;
  const idleMs = agent.can.prose ? task.idleMs : Number.POSITIVE_INFINITY;
  using watchdog = new Watchdog({ timeoutMs: task.timeoutMs, idleMs });
  using _ = order.suspension.join(watchdog);
  const temp = takeScratch(order.run);
  const running = { temp, watchdog, emit, signal };
  try {
    return await (isFunctionAgent(agent)
      ? runFunction({ ...order, agent }, running)
      : runProgram({ ...order, agent }, running));
  } catch (error) {
    rethrowBug(error);
    return { outcome: { ok: false, failure: notStarted(error) }, exitCode: null, denied: false };
  } finally {
    await giveScratch(temp);
  }
}

interface Running {
  /** A folder of its own. */
  readonly temp: string;
  readonly watchdog: Watchdog;
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

async function runProgram(order: AgentOrder<Agent>, running: Running): Promise<AgentReport> {
  const { signal, watchdog, temp } = running;
  const job = jobOf(order);
  const reader = new OutputReader(order, job, running);
  const program = await programOf(order, order.agent.command(job), temp);
  const exit = await run(
    {
      ...program,
      cwd: order.dir,
      graceMs: GRACE_MS,
      mark: order.mark,
      suspension: order.suspension,
      onStart: (input) => reader.begin(input),
      onLine: (line, from, cut) => reader.line(line, from, cut),
    },
    AbortSignal.any([signal, watchdog.signal]),
  );
  const { denied } = reader.listener;
  const outcome = stoppedOutcome(running) ?? reader.outcome(exit);
  return { outcome, exitCode: exitCode(exit), denied };
}

async function runFunction(
  order: AgentOrder<FunctionAgent>,
  running: Running,
): Promise<AgentReport> {
  const { agent, task } = order;
  const { signal, watchdog, temp } = running;
  const report = (outcome: AgentOutcome) => ({ outcome, exitCode: null, denied: false });
  const stop = AbortSignal.any([signal, watchdog.signal]);
  if (stop.aborted) return report({ ok: false, failure: stopped(signal.reason) });
  if (order.fence !== null) return report({ ok: false, failure: unfenceable(agent.name) });
  const listener = new Listener(order, running);
  let isOver = false;
  const emit = (event: CustomEvent): void => {
    if (!isOver) listener.hear(event);
  };
  const job = {
    run: order.run,
    task: task.id,
    attempt: order.attempt,
    dir: order.dir,
    prompt: order.prompt,
    session: order.session,
    model: task.model ?? null,
    readOnly: task.mode === 'read',
    env: { ...envOf(order, temp, [], {}), [MARK_VARIABLE]: markFor(order.mark) },
  };
  const settled = new AbortController();
  const outcome = await Promise.race([
    outcomeOf(order, () => agent.run(job, { emit, signal: stop })),
    graceAfter(stop, GRACE_MS, settled.signal),
  ]).finally(() => {
    isOver = true;
    settled.abort();
  });
  const ended = stoppedOutcome(running);
  return report(outcome === null ? leftBehind(agent.name, ended) : (ended ?? outcome));
}

async function outcomeOf(
  { agent, failures }: AgentOrder<FunctionAgent>,
  call: () => ReturnType<FunctionAgent['run']>,
): Promise<AgentOutcome> {
  try {
    return customOutcome(agent.name, await call());
  } catch (error) {
    rethrowBug(error);
    const message = `Agent ${agent.name} threw an error: ${messageOf(error)}`;
    const end = { result: null, stdoutTail: '', stderrTail: '' };
    return { ok: false, failure: namedByPatterns({ kind: 'transient', message }, end, failures) };
  }
}

/** A second attempt would work in the same folder: only a stop that ends the task may be reported. */
function leftBehind(name: string, stopped: AgentOutcome | null): AgentOutcome {
  const failure = stopped?.ok === false ? stopped.failure : null;
  if (stopped !== null && (failure?.kind === 'cancelled' || failure?.kind === 'interrupted')) {
    return stopped;
  }
  const rest = `Agent ${name} did not stop within ${GRACE_MS / 1000} s, so it is not tried again.`;
  const message = `${failure?.message ?? ''} ${rest}`.trim();
  return { ok: false, failure: { kind: 'permanent', message } };
}

function unfenceable(name: string): Failure {
  const message = `Agent ${name} is a function of this process, which no sandbox can hold. Turn the sandbox off for its plan.`;
  return { kind: 'permanent', message };
}

/** Resources that other agents hold become free again; everything else would fail the same way. */
function notStarted(error: unknown): Failure {
  const message = messageOf(error);
  const isShort = error instanceof SpawnError && error.problem === 'no-resources';
  return isShort
    ? { kind: 'transient', message: `${message}. ${error.remedy}` }
    : { kind: 'permanent', message };
}

/** The command line with its files written, its own temp folder, and the fence around it. */
async function programOf(
  order: AgentOrder,
  command: CommandLine,
  temp: string,
): Promise<Pick<Run, 'file' | 'args' | 'env' | 'stdin' | 'keepsInput'>> {
  const inTemp = (text: string): string => text.replaceAll('{temp}', temp);
  for (const [name, text] of Object.entries(command.files ?? {})) {
    await writeFile(join(temp, name), text, { mode: 0o600 });
  }
  const own = Object.entries(command.env).map(([name, value]) => [name, inTemp(value)]);
  const env = envOf(order, temp, command.inherit, Object.fromEntries(own));
  const unfenced = { file: command.file, args: command.args.map(inTemp) };
  const { file, args } = order.fence === null ? unfenced : order.fence(unfenced, temp);
  return { file, args, env, stdin: command.stdin, keepsInput: command.dialogue === true };
}

function envOf(
  { userEnv, task, extraEnv }: AgentOrder,
  temp: string,
  inherit: readonly string[],
  own: Environment,
): Environment {
  const allowed = allowedEnv(userEnv, [...inherit, ...task.options.passEnv]);
  return { ...allowed, TMPDIR: temp, ...own, ...extraEnv };
}

function jobOf(order: AgentOrder): Job {
  const { task } = order;
  return {
    prompt: order.prompt,
    executable: order.executable,
    newSession: randomUUID(),
    resume: order.session,
    role: task.role ?? null,
    model: task.model ?? null,
    permissions: task.permissions,
    readOnly: task.mode === 'read',
    budgetUsd: leastOf(order.budgetUsd, task.options.budgetUsd),
    fork: order.fork && order.session !== null,
    options: { ...task.options, dirs: task.options.dirs.map((dir) => order.resolve(dir)) },
    cwd: order.dir,
  };
}

function leastOf(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}

/** Why the agent was ended from outside; null where it ended by itself. */
function stoppedOutcome({ signal, watchdog }: Running): AgentOutcome | null {
  if (signal.aborted) return { ok: false, failure: stopped(signal.reason) };
  const ended = watchdog.signal.aborted ? (watchdog.signal.reason as Ended) : null;
  return ended !== null && 'failure' in ended ? { ok: false, failure: ended.failure } : null;
}

class Listener {
  readonly #order: AgentOrder;
  readonly #running: Running;
  readonly #allow: (call: ToolCall) => string | null;
  readonly #calls = new Map<string, ToolCall>();
  #session: string | null = null;
  denied = false;

  constructor(order: AgentOrder, running: Running, allow?: (call: ToolCall) => string | null) {
    this.#order = order;
    this.#running = running;
    this.#allow = allow ?? (() => null);
  }

  hear(event: AgentEvent): void {
    this.#running.watchdog.saw(event);
    this.chatter({ from: 'agent', event });
    const { attempt } = this.#order;
    const task = this.#order.task.id;
    if (event.type === 'session' && event.id !== this.#session) {
      this.#session = event.id;
      const model = event.model === undefined ? {} : { model: event.model };
      this.#fact({ type: 'attempt.session', task, attempt, session: event.id, ...model });
    }
    if (event.type === 'tool.start') this.#remember(event);
    if (event.type === 'denied') {
      this.denied = true;
      this.#fact({ type: 'attempt.denied', task, attempt, ...this.#denial(event) });
    }
    const usage = event.type === 'usage' || event.type === 'result' ? event.usage : undefined;
    if (usage !== undefined) this.#fact({ type: 'attempt.usage', task, attempt, ...usage });
  }

  chatter(line: Chatter): void {
    const { task, attempt } = this.#order;
    this.#running.emit({ kind: 'chatter', task: task.id, attempt, line });
  }

  /** A refusal names the call; some agents repeat all of them at the end. */
  #remember({ id, name, input }: AgentEvent & { type: 'tool.start' }): void {
    this.#calls.set(id, { tool: name, input });
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > MOST_CALLS && oldest !== undefined) this.#calls.delete(oldest);
  }

  #denial({ tool, id = '' }: AgentEvent & { type: 'denied' }): Denial {
    const call = this.#calls.get(id) ?? { tool, input: null };
    const what = whatOf(call.input);
    const allow = this.#allow(call);
    return { tool, ...(what === null ? {} : { what }), ...(allow === null ? {} : { allow }) };
  }

  #fact(event: Event): void {
    this.#running.emit({ kind: 'fact', event });
  }
}

class OutputReader {
  readonly listener: Listener;
  readonly #order: AgentOrder<Agent>;
  readonly #job: Job;
  readonly #watchdog: Watchdog;
  readonly #parser: Parser;
  readonly #tails = { stdout: new Tail(TAIL_CHARS), stderr: new Tail(TAIL_CHARS) };
  #input: Input | null = null;
  #result: (AgentEvent & { type: 'result' }) | null = null;
  #spoke = false;

  constructor(order: AgentOrder<Agent>, job: Job, running: Running) {
    const { agent } = order;
    this.#order = order;
    this.#job = job;
    this.#watchdog = running.watchdog;
    this.#parser = agent.parser(job);
    this.listener = new Listener(order, running, (call) => agent.allow?.(job, call) ?? null);
  }

  /** In a dialogue the parser has the first word. */
  begin(input: Input): void {
    this.#input = input;
    this.#reply();
  }

  line(text: string, from: 'stdout' | 'stderr', cut: boolean): void {
    this.#watchdog.alive();
    this.listener.chatter({ from, text });
    const events = from === 'stdout' ? this.#parser.stdout(text) : this.#parser.stderr(text);
    if (events.length === 0) this.#tails[from].add(text);
    for (const event of events) {
      this.#spoke = true;
      this.listener.hear(event);
      if (event.type === 'result') this.#result = event;
    }
    if (cut) this.#reportCut(from);
    this.#reply();
  }

  /** Beside the line, and among the events: a result may have been in it. */
  #reportCut(from: 'stdout' | 'stderr'): void {
    this.listener.chatter({ from, text: CUT_NOTE });
    this.#tails[from].add(CUT_NOTE);
    const text = `A line of ${from} ${WAS_CUT}`;
    this.listener.chatter({ from: 'agent', event: { type: 'warning', text } });
  }

  outcome(exit: Exit): AgentOutcome {
    const end = {
      exit,
      job: this.#job,
      result: this.#result,
      spoke: this.#spoke,
      stdoutTail: this.#tails.stdout.text,
      stderrTail: this.#tails.stderr.text,
    };
    const outcome = this.#order.agent.outcome(end);
    if (outcome.ok) return outcome;
    // Interrupted is what we do to it; an agent that stops by itself has failed like any other.
    const isOwn = outcome.failure.kind === 'interrupted';
    const { message } = outcome.failure;
    const failure = isOwn ? ({ kind: 'transient', message } as const) : outcome.failure;
    return { ok: false, failure: namedByPatterns(failure, end, this.#order.failures) };
  }

  #reply(): void {
    for (const line of this.#parser.replies?.() ?? []) this.#input?.write(`${line}\n`);
    if (this.#parser.isOver?.() === true) this.#input?.end();
  }
}

/** The failure of work that we ended ourselves; the reason says why. */
export function stopped(reason: unknown): Failure {
  return reason === 'cancelled'
    ? { kind: 'cancelled', message: 'Cancelled; its work so far is kept.' }
    : { kind: 'interrupted', message: 'Interrupted; its work so far is kept.' };
}
