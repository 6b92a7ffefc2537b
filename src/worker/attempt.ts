/**
 * One try at a task by one agent, in one workspace, from order to verdict. It is judged by layers,
 * never by the exit code alone: process, the agent's own result, changes exist, the diff stays in
 * its scope, the task's checks pass, the commit is made. Whatever fails, the work stays where it
 * is. The last fact is `attempt.finished` or `attempt.failed`, and there is exactly one.
 */

import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { AnyAgent } from '../agents/function-agent.ts';
import { attemptPrompt } from '../agents/prompt.ts';
import { assert } from '../base/assert.ts';
import { explained, otherwise, rethrowBug } from '../base/errors.ts';
import type { Suspensions } from '../base/suspension.ts';
import { timed } from '../base/timing.ts';
import type { AroundName, AttemptEffect, Emit } from '../model/effect.ts';
import type { AttemptStart, Event, SelfReport } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import {
  assignedTo,
  type FailurePattern,
  type Sha,
  type TaskId,
  type TaskSpec,
  usesCheckout,
} from '../model/plan.ts';
import type { Transport } from '../transport/transport.ts';
import {
  type Created,
  createWorkspace,
  type Kept,
  type WorkspaceOrder,
} from '../workspace/create.ts';
import {
  type Judged,
  judgeWork,
  leavesOnlyEmptyFiles,
  lostLink,
  runChecks,
} from '../workspace/judge.ts';
import type { SetupDone } from '../workspace/prepare.ts';
import { branchTip, type RunContext } from '../workspace/run-context.ts';
import { checkedOutIn, showHiddenWrites } from '../workspace/sparse-checkout.ts';
import { changedBetween } from '../workspace/user-checkout.ts';
import { allowedEnv, attemptEnv } from './environment.ts';
import { type AgentReport, type Fence, runAgent, stopped } from './run-agent.ts';
import { reportedFailure, selfReportOf } from './self-report.ts';

export interface Site {
  /** Null where there is no repository: read tasks then run in place, too. */
  readonly context: RunContext | null;
  /** How commits get to workspaces and back; null where there is no repository. */
  readonly transport: Transport | null;
  readonly run: string;
  readonly tasks: readonly TaskSpec[];
  readonly failures: readonly FailurePattern[];
  /** What relative working folders start from when there is no repository. */
  readonly dir: string;
  readonly userEnv: Readonly<Record<string, string | undefined>>;
  agentNamed(name: string): AnyAgent;
  /** A folder that the plan names, as an absolute path. */
  resolveDir(dir: string): string;
  /** The fence around what runs in a workspace; null where the plan wants none. */
  fenceFor(workspace: string, task: TaskSpec): Fence | null;
  /** Halt the attempts of tasks, and their time. */
  readonly suspensions: Suspensions;
  /** The program a user named for an agent. */
  executableOf(agent: string): string | null;
}

interface End {
  readonly failure: Failure | null;
  readonly exitCode: number | null;
  readonly text: string;
  readonly status: SelfReport | null;
  readonly structured?: unknown;
  readonly empty?: boolean;
  readonly judged: Judged & { kind: 'good' };
}

/** For what must happen although the attempt was stopped. */
const LOOK_LIMIT_MS = 30_000;

const NOTHING: Judged & { kind: 'good' } = { kind: 'good', commit: null, files: [], outside: [] };

export async function attempt(
  site: Site,
  effect: AttemptEffect,
  emit: Emit,
  signal: AbortSignal,
): Promise<void> {
  const end = await tryTask(haltable(site, effect.task), effect, emit, signal).catch(
    (error: unknown) => {
      rethrowBug(error);
      return failed(
        signal.aborted
          ? stopped(signal.reason)
          : { kind: 'workspace-failed', message: explained(error) },
      );
    },
  );
  const { task, attempt } = effect;
  const { failure, exitCode, text, judged } = end;
  const status = end.status === null ? {} : { status: end.status };
  if (failure !== null) {
    const tip = site.context === null ? {} : await leaveForPerson(site.context, task);
    const event = { type: 'attempt.failed', task, attempt, failure, exitCode } as const;
    return emit({ kind: 'fact', event: { ...event, ...status, ...tip } });
  }
  const { commit, files, outside } = judged;
  const answer = end.structured === undefined ? {} : { structured: end.structured };
  const empty = end.empty === true ? { empty: true as const } : {};
  const rest = { commit, files, outside, ...empty, exitCode, text, ...answer, ...status };
  emit({ kind: 'fact', event: { type: 'attempt.finished', task, attempt, ...rest } });
}

/** The site with the task's own suspension: its set-up and checks are halted with its agent. */
function haltable(site: Site, task: TaskId): Site {
  if (site.context === null) return site;
  return { ...site, context: { ...site.context, suspension: site.suspensions.of(task) } };
}

/** Makes failed work ready for a person: all of its files, and where its branch is now. */
async function leaveForPerson(context: RunContext, task: TaskId): Promise<{ readonly tip?: Sha }> {
  const limit = AbortSignal.timeout(LOOK_LIMIT_MS);
  await showHiddenWrites(context, task, limit);
  const tip = await branchTip(context, task, limit).catch(otherwise(null));
  return tip === null ? {} : { tip };
}

async function tryTask(
  site: Site,
  effect: AttemptEffect,
  emit: Emit,
  signal: AbortSignal,
): Promise<End> {
  const index = site.tasks.findIndex(({ id }) => id === effect.task);
  const planned = site.tasks[index];
  assert(planned !== undefined, `no task ${effect.task} in the plan`);
  const task = assignedTo(planned, effect.by);
  const agent = site.agentNamed(task.agent);
  const mark = `${site.run}/${task.id}.${effect.attempt}`;
  const span = (kind: string) => ({ kind, of: task.id, name: kind });
  const chatterFrom = (from: AroundName) => (text: string) => {
    emit({ kind: 'chatter', task: task.id, attempt: effect.attempt, line: { from, text } });
  };
  const kept = (what: Kept): void => {
    const { attempt } = effect;
    emit({ kind: 'fact', event: { type: 'work.kept', task: task.id, attempt, ...what } });
  };
  const place = await timed(span('workspace'), () =>
    placeOf(site, { effect, task, agent, mark, onLine: chatterFrom('setup'), kept }, signal),
  );
  if (place.kind === 'stopped') return failed(stopped(signal.reason));
  if (place.kind === 'failed') return failed({ ...place, kind: 'workspace-failed' });
  if (place.setup != null) emit({ kind: 'fact', event: prepared(effect, place.setup) });
  // An earlier attempt may have left one.
  if (task.answer === 'marker') await rm(markerOf(place), { force: true });
  const order = { effect, task, agent, mark, place, index };
  const { report, checkoutSeen } = await timed(span('agent'), () =>
    runAgentWatched(site, order, emit, signal),
  );
  const done = { ...order, report, onLine: chatterFrom('checks') };
  const judging = timed(span('commit'), () => judgeReport(site, done, signal));
  await Promise.allSettled([judging, checkoutSeen]); // No fact comes after the last one.
  const [end] = await Promise.all([judging, checkoutSeen]);
  return end;
}

async function judgeReport(
  site: Site,
  { effect, task, mark, place, report, onLine }: Done,
  signal: AbortSignal,
): Promise<End> {
  const { outcome, exitCode } = report;
  const lost = site.context && place.root ? lostLink(site.context, place.root) : null;
  if (!outcome.ok) return { ...failed(outcome.failure), exitCode };
  if (lost !== null) return { ...failed(lost), exitCode };
  const status = selfReportOf(task.answer, outcome.text);
  const isUnmarked = task.answer === 'marker' && !existsSync(markerOf(place));
  if (status === null && isUnmarked) return { ...failed(INCOMPLETE), exitCode };
  const said = status === null ? null : reportedFailure(status);
  if (said !== null) return { ...failed(said), exitCode: 1, status };
  const { text, structured } = outcome;
  const end = { exitCode, text, status, ...(structured === undefined ? {} : { structured }) };
  if (site.context === null || place.root === null) {
    const around = { env: allowedEnv(site.userEnv, []), suspension: site.suspensions.of(task.id) };
    const checked = { task, dir: place.dir, mark, onLine };
    const red = task.mode === 'here' ? await runChecks(around, checked, signal) : null;
    return { ...failed(red), ...end };
  }
  const base = effect.base;
  assert(base !== null, 'a workspace has a base');
  const mended = effect.start.kind !== 'fresh';
  const work = { task, dir: place.root, base, mark, mended, onLine };
  const { context } = site;
  const judged = await judgeWork(context, work, signal);
  if (judged.kind === 'bad') return { ...end, failure: judged.failure, judged: NOTHING };
  context.pool.pending.add(place.root);
  const { commit } = judged;
  if (commit !== null) await site.transport?.receive(commit, signal);
  const empty =
    report.denied &&
    commit !== null &&
    (await leavesOnlyEmptyFiles(context, { base, commit }, signal));
  return { ...end, failure: null, judged, empty };
}

/** The session an attempt continues or forks. */
function sessionOf(start: AttemptStart): string | null {
  return start.kind === 'fresh' ? (start.fork ?? null) : start.session;
}

interface Order {
  readonly effect: AttemptEffect;
  readonly task: TaskSpec;
  readonly agent: AnyAgent;
  readonly mark: string;
}

/** An order whose agent has ended. */
interface Done extends Order {
  readonly place: Place & { kind: 'ready' };
  readonly report: AgentReport;
  readonly onLine: (line: string) => void;
}

/** Runs the agent; `checkoutSeen` resolves once changes in the user's own checkout are reported. */
async function runAgentWatched(
  site: Site,
  order: Order & { readonly place: Place & { kind: 'ready' }; readonly index: number },
  emit: Emit,
  signal: AbortSignal,
): Promise<{ readonly report: AgentReport; readonly checkoutSeen: Promise<void> }> {
  const { effect, task, agent, mark, place } = order;
  const { attempt } = effect;
  // A task that works there on purpose cannot be told apart from one that strays.
  const isMeant = site.tasks.some(({ mode }) => mode === 'here');
  const watched = agent.can.prose && !isMeant ? site.context : null;
  const before = watched && (await watched.session.checkout.before());
  const ids = { run: site.run, task: task.id, attempt, index: order.index };
  const here = checkedOutIn(place.root ?? place.dir, { ...site.userEnv, ...task.env });
  const cone = here.cone === null ? {} : { cone: here.cone };
  const prompt = attemptPrompt(task, { ...effect, prose: agent.can.prose, ...cone });
  emit({ kind: 'chatter', task: task.id, attempt, line: { from: 'prompt', text: prompt } });
  const report = await runAgent(
    {
      agent,
      task,
      run: site.run,
      attempt,
      prompt,
      session: sessionOf(effect.start),
      fork: effect.start.kind === 'fresh',
      budgetUsd: effect.budgetUsd,
      executable: site.executableOf(agent.name),
      dir: place.dir,
      mark,
      userEnv: site.userEnv,
      extraEnv: { ...task.env, ...attemptEnv(ids), ...here.env },
      resolve: site.resolveDir,
      suspension: site.suspensions.of(task.id),
      failures: site.failures.filter((each) => (each.agent ?? agent.name) === agent.name),
      fence: place.root === null ? null : site.fenceFor(place.root, task),
    },
    emit,
    signal,
  );
  if (watched === null || before === null) return { report, checkoutSeen: Promise.resolve() };
  const checkoutSeen = watched.session.checkout.now().then((after) => {
    const files = changedBetween(before, after);
    const event = { type: 'attempt.strayed', task: task.id, attempt, files } as const;
    if (files.length > 0) emit({ kind: 'fact', event });
  });
  return { report, checkoutSeen };
}

type Place =
  /** `root` is the workspace's top folder; null where the task runs in place. */
  | {
      readonly kind: 'ready';
      readonly dir: string;
      readonly root: string | null;
      readonly setup?: SetupDone | null;
    }
  | (Created & { kind: 'failed' | 'stopped' });

async function placeOf(
  site: Site,
  order: Order & Required<Pick<WorkspaceOrder, 'onLine' | 'kept'>>,
  signal: AbortSignal,
): Promise<Place> {
  const { effect, task, agent, mark, onLine, kept } = order;
  const cwd = task.cwd ?? '';
  if (site.context === null || usesCheckout(task)) {
    return { kind: 'ready', dir: resolve(site.dir, cwd), root: null };
  }
  const base: Sha | null = effect.base;
  assert(base !== null, 'an attempt in a repository has a base');
  await site.transport?.send(base, signal);
  // A script that did not land runs again on the new head; only prose can resolve a merge.
  const again = effect.start.kind === 'rework' && !agent.can.prose;
  const start = again ? ({ kind: 'fresh' } as const) : effect.start;
  const wanted = { task: task.id, attempt: effect.attempt, base, start, mark, onLine, kept };
  const created = await createWorkspace(site.context, wanted, signal);
  if (created.kind !== 'ready') return created;
  const isOutside = cwd === '..' || cwd.startsWith('../');
  const dir = isOutside ? resolve(site.context.repository.dir, cwd) : join(created.dir, cwd);
  return { kind: 'ready', dir, root: created.dir, setup: created.setup };
}

/** The file that says a task is done, where its prompt asks for one. */
const MARKER = '.claude-task-complete';

const INCOMPLETE: Failure = {
  kind: 'transient',
  message: `The agent ended without an answer that the task is complete, and without ${MARKER}.`,
};

function markerOf({ root, dir }: Place & { kind: 'ready' }): string {
  return join(root ?? dir, MARKER);
}

function prepared({ task, attempt }: AttemptEffect, { how, ...rest }: SetupDone): Event {
  return { type: 'attempt.prepared', task, attempt, setup: how, ...rest };
}

function failed(failure: Failure | null): End {
  return { failure, exitCode: null, text: '', status: null, judged: NOTHING };
}
