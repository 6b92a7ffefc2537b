/**
 * attempt: one try at a task by one agent process, in one workspace, from order to verdict.
 *
 *   A1. Judged by layers, never by the exit code alone: process, the agent's own result, changes
 *       exist, the diff stays in its scope, the task's checks pass, the commit is made.
 *   A2. Whatever fails, the work stays where it is. Nothing is removed here.
 *   A3. The last fact is `attempt.finished` or `attempt.failed`, and there is exactly one.
 */

import { join, resolve } from 'node:path';
import type { Agent } from '../agents/agent.ts';
import { attemptPrompt } from '../agents/prompt.ts';
import { assert } from '../base/assert.ts';
import { explained } from '../base/errors.ts';
import type { Suspension } from '../base/suspension.ts';
import { timed } from '../base/timing.ts';
import { doneBy } from '../model/doer.ts';
import type { AttemptEffect, Emit } from '../model/effect.ts';
import type { AttemptStart, Event, SelfReport } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import type { FailurePattern, Sha, TaskSpec } from '../model/plan.ts';
import type { Prepared } from '../workspace/bring.ts';
import { fingerprint, fingerprintBefore, strayed } from '../workspace/checkout.ts';
import { checkedOutIn, showToPeople } from '../workspace/cone.ts';
import { createWorkspace } from '../workspace/create.ts';
import type { Ground } from '../workspace/ground.ts';
import { type Judged, judgeWork, lostLink, runChecks } from '../workspace/judge.ts';
import { failedByWord, selfReportOf } from './answer.ts';
import { allowedEnv, attemptEnv } from './environment.ts';
import { type Fence, type Spoken, speak, stopped } from './speak.ts';

/** Where attempts are made. */
export interface Site {
  /** Null where there is no repository: read tasks then run in place, too. */
  readonly ground: Ground | null;
  readonly run: string;
  readonly tasks: readonly TaskSpec[];
  readonly failures: readonly FailurePattern[];
  /** What relative working folders start from when there is no repository. */
  readonly dir: string;
  readonly userEnv: Readonly<Record<string, string | undefined>>;
  agentNamed(name: string): Agent;
  /** A folder that the plan names, as an absolute path. */
  resolveDir(dir: string): string;
  /** The fence around what runs in a workspace; null where the plan wants none. */
  fenceFor(workspace: string, task: TaskSpec): Fence | null;
  /** Halts every attempt of the run, and its time. */
  readonly suspension: Suspension;
  /** The program a user named for an agent. */
  executableOf(agent: string): string | null;
}

interface End {
  readonly failure: Failure | null;
  readonly exitCode: number | null;
  readonly text: string;
  readonly status: SelfReport | null;
  readonly structured?: unknown;
  readonly judged: Judged & { kind: 'good' };
}

/** For a look that must happen although the attempt was stopped. */
const LOOK_LIMIT_MS = 30_000;

const NOTHING: Judged & { kind: 'good' } = { kind: 'good', commit: null, files: [], outside: [] };

/** Performs an attempt effect. */
export async function attempt(
  site: Site,
  effect: AttemptEffect,
  emit: Emit,
  signal: AbortSignal,
): Promise<void> {
  const end = await tryTask(site, effect, emit, signal).catch((error: unknown) =>
    failed(signal.aborted ? stopped(signal.reason) : unexpected(error)),
  );
  const { task, attempt } = effect;
  const { failure, exitCode, text, judged } = end;
  if (failure !== null && site.ground !== null) {
    await showToPeople(site.ground, task, AbortSignal.timeout(LOOK_LIMIT_MS));
  }
  const status = end.status === null ? {} : { status: end.status };
  if (failure !== null) {
    const event = { type: 'attempt.failed', task, attempt, failure, exitCode, ...status } as const;
    return emit({ kind: 'fact', event });
  }
  const { commit, files, outside } = judged;
  const answer = end.structured === undefined ? {} : { structured: end.structured };
  const rest = { commit, files, outside, exitCode, text, ...answer, ...status };
  emit({ kind: 'fact', event: { type: 'attempt.finished', task, attempt, ...rest } });
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
  const task = doneBy(planned, effect.by);
  const agent = site.agentNamed(task.agent);
  const mark = `${site.run}/${task.id}.${effect.attempt}`;
  const span = (kind: string) => ({ kind, of: task.id, name: kind });
  const place = await timed(span('workspace'), () =>
    placeOf(site, { effect, task, agent, mark }, signal),
  );
  if (place.kind === 'stopped') return failed(stopped(signal.reason));
  if (place.kind === 'failed') return failed({ kind: 'workspace-failed', message: place.message });
  if (place.setup != null) emit({ kind: 'fact', event: prepared(effect, place.setup) });
  const order = { effect, task, agent, mark, place, index };
  const spoken = await timed(span('agent'), () => speakWatched(site, order, emit, signal));
  const { outcome, exitCode } = spoken;
  const lost = site.ground && place.root ? lostLink(site.ground, place.root) : null;
  if (!outcome.ok) return { ...failed(outcome.failure), exitCode };
  if (lost !== null) return { ...failed(lost), exitCode };
  const status = selfReportOf(task.answer, outcome.text);
  const said = status === null ? null : failedByWord(status);
  if (said !== null) return { ...failed(said), exitCode: 1, status };
  const { text, structured } = outcome;
  const end = { exitCode, text, status, ...(structured === undefined ? {} : { structured }) };
  if (site.ground === null || place.root === null) {
    const around = { env: allowedEnv(site.userEnv, []), suspension: site.suspension };
    const checked = { task, dir: place.dir, mark };
    const red = task.mode === 'here' ? await runChecks(around, checked, signal) : null;
    return { ...failed(red), ...end };
  }
  const base = effect.base;
  assert(base !== null, 'a workspace has a base');
  const mended = effect.start.kind !== 'fresh';
  const work = { task, dir: place.root, base, mark, mended };
  const { ground } = site;
  const judged = await timed(span('commit'), () => judgeWork(ground, work, signal));
  if (judged.kind === 'bad') return { ...end, failure: judged.failure, judged: NOTHING };
  ground.pool.coming.add(place.root);
  return { ...end, failure: null, judged };
}

/** The session an attempt goes on with, or begins from. */
function sessionOf(start: AttemptStart): string | null {
  return start.kind === 'fresh' ? (start.fork ?? null) : start.session;
}

interface Order {
  readonly effect: AttemptEffect;
  readonly task: TaskSpec;
  readonly agent: Agent;
  readonly mark: string;
}

/** Lets the agent speak, with an eye on the user's own checkout. */
async function speakWatched(
  site: Site,
  order: Order & { readonly place: Place & { kind: 'ready' }; readonly index: number },
  emit: Emit,
  signal: AbortSignal,
): Promise<Spoken> {
  const { effect, task, agent, mark, place } = order;
  const { attempt } = effect;
  // What a task does in the user's checkout is meant, and nobody can tell whose change it is.
  const isMeant = site.tasks.some(({ mode }) => mode === 'here');
  const watched = agent.can.prose && !isMeant ? site.ground : null;
  const before = watched && (await fingerprintBefore(watched));
  const ids = { run: site.run, task: task.id, attempt, index: order.index };
  const here = checkedOutIn(place.root ?? place.dir, { ...site.userEnv, ...task.env });
  const spoken = await speak(
    {
      agent,
      task,
      run: site.run,
      attempt,
      prompt: attemptPrompt(task, {
        ...effect,
        prose: agent.can.prose,
        ...(here.cone === null ? {} : { cone: here.cone }),
      }),
      session: sessionOf(effect.start),
      fork: effect.start.kind === 'fresh',
      budgetUsd: effect.budgetUsd,
      executable: site.executableOf(agent.name),
      dir: place.dir,
      mark,
      userEnv: site.userEnv,
      extraEnv: { ...task.env, ...attemptEnv(ids), ...here.env },
      resolve: site.resolveDir,
      suspension: site.suspension,
      failures: site.failures.filter((each) => (each.agent ?? agent.name) === agent.name),
      fence: place.root === null ? null : site.fenceFor(place.root, task),
    },
    emit,
    signal,
  );
  if (watched === null || before === null) return spoken;
  const files = strayed(before, await fingerprint(watched));
  const event = { type: 'attempt.strayed', task: task.id, attempt, files } as const;
  if (files.length > 0) emit({ kind: 'fact', event });
  return spoken;
}

type Place =
  /** `root` is the workspace's top folder; null where the task runs in place. */
  | {
      readonly kind: 'ready';
      readonly dir: string;
      readonly root: string | null;
      readonly setup?: Prepared | null;
    }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'stopped' };

async function placeOf(site: Site, order: Order, signal: AbortSignal): Promise<Place> {
  const { effect, task, agent, mark } = order;
  const cwd = task.cwd ?? '';
  if (site.ground === null || task.mode === 'here') {
    return { kind: 'ready', dir: resolve(site.dir, cwd), root: null };
  }
  const base: Sha | null = effect.base;
  assert(base !== null, 'an attempt in a repository has a base');
  // A script that did not land is simply run again on the new head; only prose can resolve a merge.
  const again = effect.start.kind === 'rework' && !agent.can.prose;
  const start = again ? ({ kind: 'fresh' } as const) : effect.start;
  const wanted = { task: task.id, attempt: effect.attempt, base, start, mark };
  const created = await createWorkspace(site.ground, wanted, signal);
  if (created.kind !== 'ready') return created;
  const isOutside = cwd === '..' || cwd.startsWith('../');
  const dir = isOutside ? resolve(site.ground.repository.dir, cwd) : join(created.dir, cwd);
  return { kind: 'ready', dir, root: created.dir, setup: created.setup };
}

function prepared({ task, attempt }: AttemptEffect, { how, ...rest }: Prepared): Event {
  return { type: 'attempt.prepared', task, attempt, setup: how, ...rest };
}

function failed(failure: Failure | null): End {
  return { failure, exitCode: null, text: '', status: null, judged: NOTHING };
}

function unexpected(error: unknown): Failure {
  return { kind: 'workspace-failed', message: explained(error) };
}
