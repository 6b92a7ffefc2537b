/**
 * notice: which entries of a journal somebody should be told of. Pure.
 *
 *   N1. A notice is about one entry, told by the engine that recorded it. So nothing is told twice,
 *       whatever dies and is resumed; an engine that dies before it has told has told nothing.
 *   N2. `finished` comes before `failed`, as two notices of the same end. A run that was interrupted
 *       has not ended: whoever interrupted it knows.
 *   N3. Many tasks that meet the same limit, or the same refused login, are one notice, until an
 *       attempt of that agent has succeeded again.
 */

import type { Entry, Event } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import { apply } from '../model/fold.ts';
import type { Occasion, TaskId } from '../model/plan.ts';
import type { RunState } from '../model/state.ts';
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

/** Folds the entries of a run and says what is to be told after each. */
export class Notices {
  #state: RunState | null;
  /** What has been told and holds still: an agent's name with `limit` or `login`. */
  readonly #told = new Set<string>();

  /** `before` belongs to whoever folds it: it is changed here. */
  constructor(before: RunState | null) {
    this.#state = before;
  }

  /** What to tell after one more entry, with the run as it is then. */
  after(entry: Entry): { readonly notices: readonly Notice[]; readonly state: RunState } {
    const state = apply(this.#state, entry);
    this.#state = state;
    return { notices: this.#noticesOf(entry.event, state), state };
  }

  #noticesOf(event: Event, state: RunState): readonly Notice[] {
    switch (event.type) {
      case 'run.finished':
        return event.outcome === 'interrupted' ? [] : endOf(state);
      case 'run.held':
        return [
          {
            on: 'limit',
            text: `The run ${heldWord(state)}: ${event.why} ${EASED_BY[event.of]}`,
            detail: { short_of: event.of, why: event.why },
          },
        ];
      case 'publish.blocked':
        return [blocked(event, state)];
      case 'attempt.finished':
        for (const why of ['limit', 'login'])
          this.#told.delete(`${agentOf(state, event.task)} ${why}`);
        return [];
      case 'attempt.failed':
        return this.#once(event.task, event.failure, state);
      case 'workspace.kept':
        return needsSomebody(state, event.task) ? [kept(event, state)] : [];
      default:
        return [];
    }
  }

  /** A limit or a refused login, unless that agent's was told already. */
  #once(task: TaskId, failure: Failure, state: RunState): readonly Notice[] {
    const why = REASONS[failure.kind];
    if (why === undefined) return [];
    const agent = agentOf(state, task);
    const key = `${agent} ${why}`;
    if (this.#told.has(key)) return [];
    this.#told.add(key);
    const retryAt = failure.kind === 'rate-limited' ? failure.retryAt : undefined;
    return [
      {
        on: why === 'limit' ? 'limit' : 'person',
        text: `${agent} of task ${task}: ${failure.message}`,
        detail: {
          task,
          agent,
          failure: failure.kind,
          message: failure.message,
          ...(retryAt === undefined ? {} : { retry_at: new Date(retryAt).toISOString() }),
        },
      },
    ];
  }
}

const REASONS: Readonly<Partial<Record<Failure['kind'], 'limit' | 'login'>>> = {
  'rate-limited': 'limit',
  budget: 'limit',
  auth: 'login',
  billing: 'login',
};

/** No message needs more of them. */
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

function blocked(
  { why, remedy }: Event & { type: 'publish.blocked' },
  { target }: RunState,
): Notice {
  const text = `Publishing to ${target ?? 'the target'} needs you: ${why}`;
  return { on: 'person', text, detail: { why, remedy } };
}

/** A workspace that was kept because the user wished it needs nobody. */
function needsSomebody(state: RunState, task: TaskId): boolean {
  const { status } = state.tasks.get(task) ?? {};
  return status?.kind === 'failed' && status.failure.kind !== 'cancelled';
}

function kept({ task, why }: Event & { type: 'workspace.kept' }, state: RunState): Notice {
  const status = state.tasks.get(task)?.status;
  const failure = status?.kind === 'failed' ? status.failure.kind : null;
  const text = `The workspace of task ${task} is kept: ${why}`;
  return { on: 'person', text, detail: { task, why, failure } };
}

function agentOf(state: RunState, task: TaskId): string {
  const known = state.tasks.get(task);
  return known?.attempts.at(-1)?.by.agent ?? known?.spec.agent ?? '';
}
