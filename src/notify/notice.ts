/**
 * Which entries of a journal make a notice, and its JSON for webhooks and commands. Pure.
 *
 *   N1. A notice is about one entry and is sent by the engine that recorded it: never twice, even if
 *       the run is resumed. An engine that dies before sending sends nothing.
 *   N2. `finished` comes before `failed`, as two notices of the same end. An interrupted run has not
 *       ended, so it makes none.
 *   N3. Many tasks that meet the same limit, or the same refused login, make one notice, until an
 *       attempt of that agent succeeds again.
 *   N4. In the JSON, keys up to `duration_sec` and words for `event` are parallel-orchestra's. Chat
 *       services show `text`. Every string is masked.
 */

import type { Entry, Event } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import { apply } from '../model/fold.ts';
import type { Occasion, TaskId } from '../model/plan.ts';
import type { RunState } from '../model/state.ts';
import { seconds } from '../report/format.ts';
import { brokenText } from '../report/gate-problems.ts';
import {
  countResults,
  EASED_BY,
  failureOf,
  heldWord,
  outcomeSentence,
  tasksWith,
} from '../report/outcome.ts';

export interface Notice {
  readonly on: Occasion;
  /** What happened, in one sentence. */
  readonly text: string;
  /** More of it for programs, as JSON. */
  readonly detail: Readonly<Record<string, unknown>>;
}

/** Folds the entries of a run and gives the notices after each. */
export class Notices {
  #state: RunState | null;
  /** Notices that still hold: an agent's name with `limit` or `login`. */
  readonly #sent = new Set<string>();

  /** `before` must not be used elsewhere: it is changed here. */
  constructor(before: RunState | null) {
    this.#state = before;
  }

  /** The notices after one more entry, and the state of the run then. */
  after(entry: Entry): { readonly notices: readonly Notice[]; readonly state: RunState } {
    const state = apply(this.#state, entry);
    this.#state = state;
    return { notices: this.#noticesOf(entry.event, state), state };
  }

  #noticesOf(event: Event, state: RunState): readonly Notice[] {
    const target = state.target ?? 'the target';
    switch (event.type) {
      case 'run.finished':
        return event.outcome === 'interrupted' ? [] : endOf(state);
      case 'run.held':
        return [held(event, state)];
      case 'publish.awaited': {
        const detail = { head: event.head, remedy: 'landfast approve' };
        return [{ on: 'person', text: `Publishing to ${target} waits for your approval.`, detail }];
      }
      case 'publish.blocked': {
        const { why, remedy } = event;
        const text = `Publishing to ${target} needs you: ${why}`;
        return [{ on: 'person', text, detail: { why, remedy } }];
      }
      case 'gate.broken':
        return [{ on: 'person', text: brokenText(event), detail: { gate: event.gate } }];
      case 'attempt.finished':
        for (const why of ['limit', 'login'])
          this.#sent.delete(`${agentOf(state, event.task)} ${why}`);
        return [];
      case 'attempt.failed':
        return this.#once(event.task, event.failure, state);
      case 'workspace.kept':
        return kept(event, state);
      default:
        return [];
    }
  }

  /** A limit or a refused login, unless that agent's was sent already. */
  #once(task: TaskId, failure: Failure, state: RunState): readonly Notice[] {
    const why = REASONS[failure.kind];
    if (why === undefined) return [];
    const agent = agentOf(state, task);
    const key = `${agent} ${why}`;
    if (this.#sent.has(key)) return [];
    this.#sent.add(key);
    const retryAt = failure.kind === 'rate-limited' ? failure.retryAt : undefined;
    const { kind, message } = failure;
    const reset = retryAt === undefined ? {} : { retry_at: new Date(retryAt).toISOString() };
    const detail = { task, agent, failure: kind, message, ...reset };
    const on = why === 'limit' ? 'limit' : 'person';
    return [{ on, text: `${agent} of task ${task}: ${message}`, detail }];
  }
}

const REASONS: Readonly<Partial<Record<Failure['kind'], 'limit' | 'login'>>> = {
  'rate-limited': 'limit',
  budget: 'limit',
  auth: 'login',
  billing: 'login',
};

const MOST_FAILED = 50;

function endOf(state: RunState): readonly Notice[] {
  const text = outcomeSentence(state);
  const failed = tasksWith(state, 'failed').slice(0, MOST_FAILED);
  const detail = {
    outcome: state.outcome,
    published: state.publish.kind === 'finished' ? state.publish.commit : null,
    failed_tasks: failed.map((task) => ({
      task: task.spec.id,
      failure: failureOf(task)?.kind ?? null,
      message: failureOf(task)?.message ?? '',
    })),
  };
  const finished: Notice = { on: 'finished', text, detail };
  return countResults(state).failed > 0 ? [finished, { ...finished, on: 'failed' }] : [finished];
}

function held({ of, why }: Event & { type: 'run.held' }, state: RunState): Notice {
  const text = `The run ${heldWord(state)}: ${why} ${EASED_BY[of]}`;
  return { on: 'limit', text, detail: { short_of: of, why } };
}

/** A workspace kept at the user's request needs no attention. */
function kept({ task, why }: Event & { type: 'workspace.kept' }, state: RunState) {
  const { status } = state.tasks.get(task) ?? {};
  if (status?.kind !== 'failed' || status.failure.kind === 'cancelled') return [];
  const text = `The workspace of task ${task} is kept: ${why}`;
  return [{ on: 'person', text, detail: { task, why, failure: status.failure.kind } }] as const;
}

function agentOf(state: RunState, task: TaskId): string {
  const known = state.tasks.get(task);
  return known?.attempts.at(-1)?.by.agent ?? known?.spec.agent ?? '';
}

const EVENTS: Readonly<Record<Occasion, string>> = {
  finished: 'complete',
  failed: 'failure',
  person: 'person',
  limit: 'limit',
};

export function payloadText(
  notice: Notice,
  state: RunState,
  { run, mask }: { readonly run: string; readonly mask: (text: string) => string },
): string {
  const { succeeded, failed, skipped, cancelled, unfinished } = countResults(state);
  const payload = {
    event: EVENTS[notice.on],
    manifest: state.plan.name,
    total: state.tasks.size,
    ...{ succeeded, failed, skipped },
    duration_sec: seconds((state.finishedAt ?? state.at) - state.startedAt),
    ...{ cancelled, unfinished },
    run,
    target: state.target,
    text: notice.text,
    detail: notice.detail,
  };
  return JSON.stringify(payload, (_key, value: unknown) =>
    typeof value === 'string' ? mask(value) : value,
  );
}
