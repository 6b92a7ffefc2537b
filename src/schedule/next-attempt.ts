/**
 * What comes next for a task that does not run: an attempt, by which agent, when and from where; or
 * none.
 *
 * - Only failures that the task is to blame for, or that may go away, use up `retries`. Being
 *   interrupted and waiting for a limit to reset never do.
 * - A session is resumed where the agent can, as it keeps what the agent has learned; after it
 *   fails twice in the same way, the work continues in a new one. An agent that cannot resume
 *   starts afresh; a ref keeps what it left behind.
 * - A waiting retry holds no slot: it is a time, not a running thing. Its pause is spread by up to
 *   a quarter, by task and attempt alone, so that tasks which failed together do not return
 *   together.
 * - When an assignee's retries are used up, or it cannot or may not work, the task's next fallback
 *   continues the work, in a session and with retries of its own.
 */

import { unreachable } from '../base/assert.ts';
import { fnv1a } from '../base/fnv1a.ts';
import type { AttemptStart } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import {
  type Assignee,
  assigneesOf,
  firstAssignee,
  isSameAssignee,
  type LandingSpec,
  type Sha,
  type TaskSpec,
} from '../model/plan.ts';
import { isTheirs, type RunState, type Status, type TaskState } from '../model/state.ts';
import { refusalOf } from './parking.ts';

/** What an agent can do, as far as policy needs to know. */
export interface Capabilities {
  readonly resume: boolean;
  /** It reads prose, so it can learn what went wrong; a script can only run again. */
  readonly prose: boolean;
}

/** What the policy knows of the agents. */
export type AgentsKnown = (agent: string) => Capabilities;

export type Next =
  | NextAttempt
  /** The finished work was never judged: it queues again. */
  | { readonly kind: 'queue' }
  | { readonly kind: 'give-up' };

export interface NextAttempt {
  readonly kind: 'attempt';
  readonly at: number;
  readonly start: AttemptStart;
  readonly by: Assignee;
}

type Stopped = Status & { kind: 'stopped' };

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const LONGEST_PAUSE = 5 * MINUTE;
const MOST_LIMIT_WAITS = 20;

/**
 * The attempt that a person asked for: at once, whatever the policy says of its stop. Work that did
 * not land goes back to the agent that made it; all else begins with the first choice again.
 */
function retriedAttempt(
  task: TaskState,
  { failure, work }: Stopped,
  agents: AgentsKnown,
): Omit<NextAttempt, 'at'> {
  const last = lastAssignee(task);
  const own = firstAssignee(task.spec);
  const agent = agents(last.agent);
  if (task.retried?.fresh === true) return { kind: 'attempt', start: { kind: 'fresh' }, by: own };
  if (failure.kind === 'revision') {
    return { kind: 'attempt', start: revisionStart(task, agent), by: last };
  }
  if (work !== null) return { kind: 'attempt', start: reworkStart(task, work, agent), by: last };
  // Its own last failure counts: being given up says nothing of the session.
  const start = startAgain(task, task.attempts.at(-1)?.failure ?? failure, agent);
  return { kind: 'attempt', start: isSameAssignee(own, last) ? start : handedOver(start), by: own };
}

/** The same start for another agent, which has no session yet. */
export function handedOver(start: AttemptStart): AttemptStart {
  return start.kind === 'fresh' ? { kind: 'fresh' } : { ...start, session: null };
}

function lastAssignee(task: TaskState): Assignee {
  return task.attempts.at(-1)?.by ?? firstAssignee(task.spec);
}

/** Decides what comes after a stop. */
export function nextAfter(
  task: TaskState,
  stopped: Stopped,
  landing: LandingSpec,
  agents: AgentsKnown,
): Next {
  const { failure, at, work } = stopped;
  const by = lastAssignee(task);
  const agent = agents(by.agent);
  if (work !== null) return afterRejection(task, stopped, landing, agent);
  const again = (pauseMs: number): Next => ({
    kind: 'attempt',
    at: at + pauseMs,
    start: startAgain(task, failure, agent),
    by,
  });
  const passOn = (): Next | null => {
    const assignees = assigneesOf(task.spec);
    const next = assignees[assignees.findIndex((each) => isSameAssignee(each, by)) + 1];
    if (next === undefined) return null;
    return { kind: 'attempt', at, start: { kind: 'continue', session: null }, by: next };
  };
  switch (rule(failure, agent, task.spec)) {
    case 'never':
      return { kind: 'give-up' };
    case 'replaced':
      return passOn() ?? { kind: 'give-up' };
    case 'refused':
      return passOn() ?? again(0);
    case 'always':
      return again(0);
    case 'limit':
      return limitWaits(task) > MOST_LIMIT_WAITS ? (passOn() ?? { kind: 'give-up' }) : again(0);
    case 'counted': {
      const used = countedFailures(task, agent);
      if (used > task.spec.retries) return passOn() ?? { kind: 'give-up' };
      return again(spread(pauseBefore(used, task.spec), task));
    }
  }
}

/**
 *   never     no further attempt
 *   replaced  this assignee does not, its fallback does
 *   refused   the agent is parked (parking.ts) until a person has fixed that
 *   limit     the agent is parked until its limit allows more
 */
type Rule = 'never' | 'replaced' | 'refused' | 'always' | 'counted' | 'limit';

/** What each kind means for trying again. */
function rule(failure: Failure, agent: Capabilities, { retry }: Pick<TaskSpec, 'retry'>): Rule {
  switch (failure.kind) {
    case 'total-timeout':
      return retry?.afterTimeout === true ? 'counted' : 'never';
    case 'interrupted':
    case 'revision':
      return 'always';
    case 'rate-limited':
      return failure.guessed === true ? 'counted' : 'limit';
    case 'transient':
    case 'exit-code':
    case 'idle-timeout':
    case 'workspace-failed':
    case 'checks-failed':
    case 'stuck':
    case 'session-lost':
      return 'counted';
    case 'no-change':
    case 'out-of-scope':
      return agent.prose ? 'counted' : 'never'; // A script would do the same thing again.
    case 'auth':
    case 'billing':
      return 'refused';
    case 'permanent':
      return 'replaced';
    case 'budget':
    case 'turns':
    case 'schema':
    case 'cancelled':
    case 'skipped':
    case 'commit-failed':
    case 'gate-failed':
    case 'semantic':
    case 'conflict':
    case 'push-failed':
    case 'dependency-failed':
      return 'never';
    default:
      return unreachable(failure);
  }
}

/** How many attempts of the present assignee since the last resume have used up a retry. */
function countedFailures(task: TaskState, agent: Capabilities): number {
  return failuresSince(task).filter((each) => rule(each, agent, task.spec) === 'counted').length;
}

/** How many attempts of the present assignee since the last resume met a limit. */
function limitWaits(task: TaskState): number {
  return failuresSince(task).filter(({ kind }) => kind === 'rate-limited').length;
}

function failuresSince(task: TaskState): readonly Failure[] {
  const by = lastAssignee(task);
  const since = task.attempts.slice(task.forgiven).filter((each) => isSameAssignee(each.by, by));
  return since.flatMap(({ failure }) => failure ?? []);
}

/**
 * 1, 2, 4 … seconds, or as the plan says: growing to LONGEST_PAUSE at most, unless the plan begins
 * with a longer one.
 */
function pauseBefore(retry: number, { retry: wish }: TaskSpec): number {
  const { pauseMs, factor = 1 } = wish ?? { pauseMs: SECOND, factor: 2 };
  return Math.min(pauseMs * factor ** (retry - 1), Math.max(LONGEST_PAUSE, pauseMs));
}

/** A pause made longer by up to a quarter of itself. */
function spread(pauseMs: number, task: TaskState): number {
  const share = fnv1a(`${task.spec.id}#${task.attempts.length}`) / 2 ** 32;
  return pauseMs + Math.floor((pauseMs / 4) * share);
}

/** Work that did not land: back to its agent, or for a script once more on the new head. */
function afterRejection(
  task: TaskState,
  { failure, at, work }: Stopped,
  landing: LandingSpec,
  agent: Capabilities,
): Next {
  if (failure.kind === 'interrupted') return { kind: 'queue' };
  if (failure.kind === 'revision') {
    return { kind: 'attempt', at, start: revisionStart(task, agent), by: lastAssignee(task) };
  }
  const allowed =
    (failure.kind === 'conflict' && landing.onConflict === 'agent') ||
    (failure.kind === 'gate-failed' && landing.onGateFailure === 'agent') ||
    (failure.kind === 'semantic' && landing.onSemantic === 'agent');
  if (!allowed || task.reworks >= landing.reworks || work === null) return { kind: 'give-up' };
  // A script can do its own work again, but not mend another's.
  if (isTheirs(task) && !agent.prose) return { kind: 'give-up' };
  return { kind: 'attempt', at, start: reworkStart(task, work, agent), by: lastAssignee(task) };
}

function reworkStart({ session }: TaskState, commit: Sha, { resume }: Capabilities): AttemptStart {
  return { kind: 'rework', session: resume ? session : null, commit };
}

/** In its session and its workspace, with work of others laid out in it. */
function revisionStart(task: TaskState, agent: Capabilities): AttemptStart {
  if (isTheirs(task) && task.work !== null) return reworkStart(task, task.work, agent);
  return { kind: 'continue', session: agent.resume ? task.session : null };
}

function startAgain(task: TaskState, failure: Failure, agent: Capabilities): AttemptStart {
  const newSession = { kind: 'continue', session: null } as const;
  // The session is gone, or unwanted, but not the work: a new session continues it.
  if (failure.kind === 'session-lost') return newSession;
  if (!agent.resume) return startAnew(task);
  if (task.session !== null && task.spec.retry?.session !== 'new' && !isWornOut(task)) {
    return { kind: 'continue', session: task.session };
  }
  const goesOn = task.session !== null || task.attempts.at(-1)?.start.kind === 'continue';
  return goesOn ? newSession : startAnew(task);
}

/** Kinds that say nothing of the session: it was not asked, or not to blame. */
const BLAMELESS: readonly Failure['kind'][] = ['interrupted', 'rate-limited', 'workspace-failed'];

/** Whether the last two attempts failed in the same way, the second one in a resumed session. */
function isWornOut({ attempts, forgiven }: TaskState): boolean {
  const [before, last] = attempts.slice(forgiven).slice(-2);
  if (before?.failure == null || last?.failure == null) return false;
  const isSame = before.failure.kind === last.failure.kind;
  if (!isSame || BLAMELESS.includes(last.failure.kind)) return false;
  return last.start.kind !== 'fresh' && last.start.session !== null;
}

/** From the base; but work that an agent has not made it could not make again. */
function startAnew(task: TaskState): AttemptStart {
  if (!isTheirs(task) || task.work === null) return { kind: 'fresh' };
  return { kind: 'rework', session: null, commit: task.work };
}

/** The task's first attempt, or what its stop allows; null while it runs or when it is over. */
export function nextOf(state: RunState, task: TaskState, agents: AgentsKnown): Next | null {
  const next = wished(state, task, agents);
  return next?.kind === 'attempt' ? withoutRefusal(state, task, next) : next;
}

/** Whether its finished work waits to land. */
export function isQueued(state: RunState, task: TaskState, agents: AgentsKnown): boolean {
  const { kind } = task.status;
  if (kind !== 'committed' && kind !== 'stopped') return false;
  if (task.cancelled || task.skipped !== null) return false;
  return kind === 'committed' || nextOf(state, task, agents)?.kind === 'queue';
}

function wished(state: RunState, task: TaskState, agents: AgentsKnown): Next | null {
  const { status, retried, spec } = task;
  if (status.kind === 'waiting') {
    return { kind: 'attempt', at: 0, start: firstStart(state, task), by: firstAssignee(spec) };
  }
  if (status.kind !== 'stopped') return null;
  if (retried !== null) return { ...retriedAttempt(task, status, agents), at: retried.at };
  return nextAfter(task, status, state.plan.landing, agents);
}

function firstStart(state: RunState, { spec }: TaskState): AttemptStart {
  const session = spec.forks === undefined ? null : (state.tasks.get(spec.forks)?.session ?? null);
  return session === null ? { kind: 'fresh' } : { kind: 'fresh', fork: session };
}

function withoutRefusal(state: RunState, { spec }: TaskState, next: NextAttempt): NextAttempt {
  if (refusalOf(state, next.by.agent) === null) return next;
  const assignees = assigneesOf(spec);
  const later = assignees.slice(assignees.findIndex((each) => isSameAssignee(each, next.by)) + 1);
  const by = later.find(({ agent }) => refusalOf(state, agent) === null);
  return by === undefined ? next : { ...next, start: handedOver(next.start), by };
}
