/**
 * The library: what other programs import (src/index.ts). Several repositories and runs live in one
 * process. A failed task is data; promises reject for wrong input and for an engine that broke.
 * Nothing is printed, no signal is caught, the process never exits, no folder is changed.
 */

import { createHash } from 'node:crypto';
import { functionAgent } from '../agents/function-agent.ts';
import { UserError } from '../base/errors.ts';
import { Runtime } from '../base/runtime.ts';
import { openForReading } from '../journal/database.ts';
import { follow } from '../journal/follow.ts';
import { listRuns } from '../journal/journal.ts';
import type { Command, ReopeningCommand } from '../model/command.ts';
import type { Entry, ReviewComment } from '../model/event.ts';
import { inProcessGate } from '../model/gate.ts';
import type { LimitChanges, Plan } from '../model/plan.ts';
import { costOf, isGood, type RunState, type TaskState, taskCost } from '../model/state.ts';
import type { NativePlan } from '../plan/formats/native/native-plan.ts';
import { parsePlanObject } from '../plan/parse.ts';
import { simulate as play } from '../schedule/simulate.ts';
import { agentsKnown } from './agents.ts';
import type {
  CheckedPlan,
  EventsOptions,
  LandOptions,
  OpenOptions,
  PauseOptions,
  PlanOptions,
  Repository,
  ResumeOptions,
  RetryOptions,
  Run,
  RunResult,
  RunSettings,
  RunSummary,
  SimulatedRun,
  SimulateOptions,
  TaskResult,
} from './api.ts';
import { findConfig } from './config-files.ts';
import { type Attendant, type Execution, execute, type RunOptions } from './execute.ts';
import { GATE_LIMIT_MS, gateFrom, planLanding } from './land-branches.ts';
import { inputAround, readPlan } from './load-plan.ts';
import { findPlace, type Host, type Place, requireRepository } from './place.ts';
import { ProblemsError } from './problems.ts';
import { leftRun, resumedRun } from './resume-run.ts';
import { isLive, noSuchRun, type RunView, runNamed, viewRun } from './runs.ts';
import { newRun } from './start-run.ts';
import { requireLive, send } from './steer.ts';

/** Opens the repository of a folder; `process` stands for what the caller did not say. */
export async function openHosted(
  dir: string,
  host: Host,
  signal: AbortSignal,
): Promise<Repository> {
  const place = await inRuntime(host, () => findPlace(dir, host, signal));
  requireRepository(place);
  return new OpenedRepository(place);
}

/** What the caller said, over what this process is. */
export function hostFor(
  options: OpenOptions,
  own: Pick<Host, 'env' | 'home' | 'platform' | 'cwd'>,
): Host {
  const { env = own.env, onWarning = () => undefined } = options;
  return {
    ...own,
    env,
    attended: false,
    agents: [],
    gates: new Map(),
    warn: onWarning,
    problem: () => undefined,
  };
}

/** Everything that starts git runs with the environment that was given, not that of the process. */
async function inRuntime<T>({ env }: Host, work: () => Promise<T>): Promise<T> {
  await using runtime = new Runtime({ env });
  return await runtime.enter(work);
}

class OpenedRepository implements Repository {
  readonly #place: Place;

  constructor(place: Place) {
    this.#place = place;
  }

  get dir(): string {
    return this.#place.dir;
  }

  plan(source: string | NativePlan, { format }: PlanOptions = {}): Promise<CheckedPlan> {
    return inRuntime(this.#place.host, () => check(source, format ?? null, this.#place));
  }

  async start(plan: string | NativePlan | CheckedPlan, settings: RunSettings = {}): Promise<Run> {
    const checked = isChecked(plan) ? plan : await this.plan(plan);
    return await this.#begin(checked, settings);
  }

  async resume(run?: string, settings: ResumeOptions = {}): Promise<Run> {
    settings.signal?.throwIfAborted();
    const place = placeFor(this.#place, settings);
    const left = leftRun(place, run);
    if (left === null) throw noSuchRun(run ?? '');
    const continuation = { source: null, retry: reopening(settings) };
    return drive(resumedRun(left, optionsFor(settings), continuation), settings);
  }

  async land(branches: readonly string[], settings: LandOptions = {}): Promise<RunResult> {
    const { gates = [], verify, strategy, target, agent = null, ...rest } = settings;
    const place = placeFor(this.#place, rest);
    const wish = { branches, target, gates: gates.map(gateFrom), verify, strategy, agent };
    const landing = await inRuntime(place.host, () =>
      planLanding(wish, place, settings.signal ?? NEVER),
    );
    if (landing.plan === null) {
      throw new UserError(`${landing.target} already holds these branches.`);
    }
    const run = await this.#begin(checkedPlan(landing.plan, landing.hash, []), rest);
    return run.result();
  }

  async run(id?: string): Promise<Run> {
    using db = openForReading(this.#place.stateDir);
    const run = runNamed(db, id, this.#place);
    if (run === null) throw noSuchRun(id ?? '');
    return new FollowedRun(this.#place, run);
  }

  async runs(): Promise<readonly RunSummary[]> {
    using db = openForReading(this.#place.stateDir);
    if (db === null) return [];
    return listRuns(db).map(({ run, planName: plan, outcome }) => {
      return { run, plan, outcome, live: isLive(db, run) };
    });
  }

  async #begin(checked: CheckedPlan, settings: RunSettings): Promise<Run> {
    settings.signal?.throwIfAborted();
    const place = placeFor(this.#place, settings);
    const options = optionsFor(settings);
    const limits = { ...checked.plan.limits, ...options.limits };
    const added = Object.keys(settings.gates ?? {}).map((name) =>
      inProcessGate({ name, timeoutMs: GATE_LIMIT_MS }),
    );
    const plan = { ...checked.plan, limits, gates: [...checked.plan.gates, ...added] };
    const execution = await inRuntime(place.host, () =>
      newRun({ plan, hash: checked.hash }, place, options, settings.signal ?? NEVER),
    );
    return drive(execution, settings);
  }
}

const NEVER = new AbortController().signal;

async function check(
  source: string | NativePlan,
  format: string | null,
  place: Place,
): Promise<CheckedPlan> {
  const { dir: root, host } = place;
  if (typeof source === 'string') {
    const loaded = await readPlan(source, place, { format }, NEVER);
    if (loaded === null) throw new UserError(`${source} is not started by one of its own agents.`);
    return checkedPlan(loaded.plan, loaded.hash, loaded.problems);
  }
  const config = await findConfig(place, NEVER);
  const around = inputAround(root, { root, host, format: null, config });
  const { plan, problems } = parsePlanObject(source, 'plan', around);
  if (plan === null) throw new ProblemsError(problems);
  return checkedPlan(plan, hashOf(source), problems);
}

function checkedPlan(plan: Plan, hash: string, problems: CheckedPlan['problems']): CheckedPlan {
  return { name: plan.name, tasks: plan.tasks.map(({ id }) => id), problems, plan, hash };
}

function isChecked(plan: string | NativePlan | CheckedPlan): plan is CheckedPlan {
  return typeof plan === 'object' && 'hash' in plan;
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

function placeFor(place: Place, { agents = [], gates = {}, attended = false }: RunSettings): Place {
  const functions = { agents: agents.map(functionAgent), gates: new Map(Object.entries(gates)) };
  return { ...place, host: { ...place.host, ...functions, attended } };
}

/** What a run is taken up for; null to give all failed tasks a new chance. */
function reopening({ retry: tasks, publish }: ResumeOptions): ReopeningCommand | null {
  if (tasks !== undefined && publish !== undefined) {
    throw new UserError('A run is resumed either to retry tasks or to answer `land.publish: ask`.');
  }
  if (publish !== undefined) return { kind: 'approve', publish };
  return tasks === undefined ? null : { kind: 'retry', tasks, fresh: false };
}

function optionsFor(settings: RunSettings): RunOptions {
  const { workers, budgetUsd, programs = {}, keepWorkspaces = false } = settings;
  const limits: LimitChanges = {
    ...(workers === undefined ? {} : { workers }),
    ...(budgetUsd === undefined ? {} : { budgetUsd }),
  };
  return { limits, programs, keepWorkspaces, log: true };
}

/** Starts the engine of a run in this process; the run is in the journal once this resolves. */
async function drive(execution: Execution, { signal }: RunSettings): Promise<Run> {
  const { place, run } = execution;
  const recorded = Promise.withResolvers<void>();
  const stops: Command[] = [];
  const stop = (): void => {
    stops.push({ kind: 'stop', mode: 'end', why: 'The program that drives it asked to stop.' });
  };
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted) stop();
  const attendant: Attendant = {
    recorded: () => recorded.resolve(),
    heard: () => undefined,
    say: (text) => place.host.warn(text),
    commands: () => stops.splice(0),
    force: NEVER,
    bell: null,
    onSpan: null,
    ended: async () => undefined,
  };
  const ended = execute(execution, attendant)
    .then((state) => resultOf(state, run))
    .finally(() => signal?.removeEventListener('abort', stop));
  // A failure before the first entry rejects here, a later one rejects `result`.
  await Promise.race([recorded.promise, ended]);
  return new FollowedRun(place, run, ended);
}

/** A run as its journal tells it, in this process or another. */
class FollowedRun implements Run {
  readonly id: string;
  readonly #place: Place;
  /** The end of a run that is driven here. */
  readonly #ended: Promise<RunResult> | null;

  constructor(place: Place, id: string, ended: Promise<RunResult> | null = null) {
    this.id = id;
    this.#place = place;
    this.#ended = ended;
  }

  async *events({ after = 0, signal }: EventsOptions = {}): AsyncGenerator<Entry, void, undefined> {
    const over = new AbortController();
    const until = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]);
    this.#ended?.catch((error: unknown) => over.abort(error));
    const { stateDir } = this.#place;
    const followed = follow(stateDir, this.id, after, until, { endsWithEngine: true });
    for await (const entries of followed) yield* entries;
  }

  async result(): Promise<RunResult> {
    if (this.#ended !== null) return this.#ended;
    for await (const _ of this.events()); // Until there are no more.
    return resultOf(this.#view().state, this.id);
  }

  cancel(task?: string): Promise<void> {
    if (task !== undefined) return this.#send({ kind: 'cancel-task', task });
    return this.#send({ kind: 'stop', mode: 'cancel', why: 'Cancelled by a program.' });
  }

  pause({ suspend = false, tasks }: PauseOptions = {}): Promise<void> {
    if (tasks !== undefined) return this.#send({ kind: 'pause-tasks', tasks });
    return this.#send({ kind: 'pause', suspend });
  }

  continue({ tasks }: { readonly tasks?: readonly string[] } = {}): Promise<void> {
    if (tasks !== undefined) return this.#send({ kind: 'continue-tasks', tasks });
    return this.#send({ kind: 'continue' });
  }

  retry(tasks: readonly string[], { fresh = false, note }: RetryOptions = {}): Promise<void> {
    return this.#send({ kind: 'retry', tasks, fresh, ...(note === undefined ? {} : { note }) });
  }

  comment(task: string, comments: readonly ReviewComment[]): Promise<void> {
    return this.#send({ kind: 'comment', task, comments });
  }

  limit(limits: Parameters<Run['limit']>[0]): Promise<void> {
    return this.#send({ kind: 'limit', limits });
  }

  approve({ publish = true }: { readonly publish?: boolean } = {}): Promise<void> {
    return this.#send({ kind: 'approve', publish });
  }

  skip(
    tasks: readonly string[],
    { satisfied = false }: { readonly satisfied?: boolean } = {},
  ): Promise<void> {
    return this.#send({ kind: 'skip', tasks, satisfied });
  }

  async #send(command: Command): Promise<void> {
    const view = this.#view();
    requireLive(view);
    await send(view, command);
  }

  #view(): RunView {
    const view = viewRun(this.#place, this.id);
    if (view === null) throw noSuchRun(this.id);
    return view;
  }
}

function resultOf(state: RunState, run: string): RunResult {
  const { outcome, tasks, landed, publish, startedAt, finishedAt, at } = state;
  const published = publish.kind === 'finished' ? publish : null;
  return {
    run,
    outcome: outcome ?? 'interrupted',
    tasks: Object.fromEntries([...tasks].map(([id, task]) => [id, taskResult(state, task)])),
    landed: landed.map(({ task, commit }) => ({ task, commit })),
    published:
      published === null || state.target === null
        ? null
        : { target: state.target, commit: published.commit },
    costUsd: costOf(state),
    startedAt,
    finishedAt: finishedAt ?? at,
  };
}

function taskResult({ landed }: RunState, task: TaskState): TaskResult {
  const { status, attempts, spec } = task;
  const last = attempts.at(-1);
  const failure = status.kind === 'failed' || status.kind === 'stopped' ? status.failure : null;
  return {
    status: statusOf(task),
    landed: landed.find((landing) => landing.task === spec.id)?.commit ?? null,
    attempts: attempts.length,
    costUsd: taskCost(task),
    failure: failure && { kind: failure.kind, message: failure.message },
    text: last?.text ?? '',
    structured: last?.structured ?? null,
  };
}

function statusOf(task: TaskState): TaskResult['status'] {
  if (isGood(task)) return 'succeeded';
  if (task.skipped !== null) return 'skipped';
  return task.status.kind === 'failed' ? 'failed' : 'unfinished';
}

/** When a checked plan would be done. Pure: nothing runs. */
export function simulatePlan(checked: CheckedPlan, options: SimulateOptions): SimulatedRun {
  const { durations, gatesMs = 0, workers = checked.plan.limits.workers } = options;
  const known = Object.values(durations);
  const average = known.reduce((sum, ms) => sum + ms, 0) / Math.max(1, known.length);
  const { budgetUsd: _, ...limits } = checked.plan.limits;
  const plan = { ...checked.plan, limits: { ...limits, workers } };
  const task = (id: string): number => durations[id] ?? average;
  const { endMs, tasks } = play(plan, { task, gates: gatesMs }, agentsKnown);
  return { endMs, tasks: Object.fromEntries(tasks) };
}
