/**
 * Journals built by hand for tests of what is read from them: one call is one fact, a second later.
 *
 *   const run = new JournalBuilder([{ id: 'users' }]);
 *   run.start('users').finish('users').land('users').end('succeeded');
 *   run.state();
 */

import type { Entry, Event, RunOutcome } from '../../src/model/event.ts';
import type { Failure } from '../../src/model/failure.ts';
import { fold } from '../../src/model/fold.ts';
import type { Plan, TaskId, TaskSpec } from '../../src/model/plan.ts';
import { NATIVE_CONVENTIONS, NO_OPTIONS, NO_SANDBOX } from '../../src/model/plan.ts';
import type { RunState } from '../../src/model/state.ts';

/** 2026-07-01T12:00:00Z */
export const START = Date.UTC(2026, 6, 1, 12);

export type TaskInput = Partial<TaskSpec> & { readonly id: TaskId };

/** A task with the defaults of a native plan. */
export function taskSpec(input: TaskInput): TaskSpec {
  return {
    prompt: `Do ${input.id}`,
    agent: 'claude',
    mode: 'write',
    needs: [],
    writes: [],
    outside: 'fail',
    forbids: [],
    checks: [],
    retries: 2,
    timeoutMs: 3_600_000,
    idleMs: 420_000,
    permissions: 'acceptEdits',
    allowEmpty: false,
    env: {},
    options: NO_OPTIONS,
    hears: [],
    answer: 'free',
    ...input,
  };
}

/** A plan of these tasks, with one gate. */
export function planOf(tasks: readonly TaskInput[], input: Partial<Plan> = {}): Plan {
  return {
    name: 'accounts',
    gates: [{ name: 'tests', run: 'npm test', timeoutMs: 600_000 }],
    workspace: { setup: [], setupKey: [], copy: [], inject: [] },
    landing: {
      strategy: 'merge',
      verify: 'each',
      onConflict: 'agent',
      onGateFailure: 'agent',
      onSemantic: 'agent',
      reworks: 2,
      publish: 'end',
    },
    limits: { workers: 4, gates: 2, groups: {} },
    sandbox: NO_SANDBOX,
    notify: [],
    conventions: NATIVE_CONVENTIONS,
    ...input,
    tasks: tasks.map(taskSpec),
  };
}

export class JournalBuilder {
  readonly entries: Entry[] = [];
  #at = START;
  #shas = 0;
  readonly #attempts = new Map<TaskId, number>();
  readonly #commits = new Map<TaskId, string>();
  #head: string;

  constructor(tasks: readonly TaskInput[], input: Partial<Plan> = {}) {
    this.#head = this.#sha();
    this.add({
      type: 'run.started',
      plan: planOf(tasks, input),
      planHash: 'f'.repeat(64),
      base: this.#head,
      target: 'main',
    });
  }

  /** Adds a fact one second after the one before. */
  add(event: Event): this {
    this.entries.push({ seq: this.entries.length + 1, at: this.#at, event });
    this.#at += 1000;
    return this;
  }

  /** Lets time pass before the next fact. */
  wait(ms: number): this {
    this.#at += ms;
    return this;
  }

  start(task: TaskId, kind: 'fresh' | 'continue' | 'rework' = 'fresh'): this {
    const attempt = this.#attempt(task) + 1;
    this.#attempts.set(task, attempt);
    const commit = this.#commits.get(task) ?? this.#head;
    const session = `session-of-${task}`;
    const start =
      kind === 'fresh'
        ? { kind }
        : kind === 'continue'
          ? { kind, session }
          : { kind, session, commit };
    return this.add({ type: 'attempt.started', task, attempt, base: this.#head, start });
  }

  use(task: TaskId, costUsd: number, inputTokens = 1000, outputTokens = 100): this {
    const attempt = this.#attempt(task);
    this.add({ type: 'attempt.session', task, attempt, session: `session-of-${task}` });
    return this.add({
      type: 'attempt.usage',
      task,
      attempt,
      costUsd,
      inputTokens,
      outputTokens,
    });
  }

  deny(task: TaskId, tool: string): this {
    return this.add({ type: 'attempt.denied', task, attempt: this.#attempt(task), tool });
  }

  finish(task: TaskId, more: Partial<Event & { type: 'attempt.finished' }> = {}): this {
    const commit = this.#sha();
    this.#commits.set(task, commit);
    return this.add({
      type: 'attempt.finished',
      task,
      attempt: this.#attempt(task),
      commit,
      files: [`src/${task}.ts`],
      outside: [],
      exitCode: 0,
      text: 'Done.',
      ...more,
    });
  }

  fail(
    task: TaskId,
    failure: Failure,
    more: Partial<Event & { type: 'attempt.failed' }> = {},
  ): this {
    const attempt = this.#attempt(task);
    return this.add({ type: 'attempt.failed', task, attempt, failure, exitCode: 1, ...more });
  }

  /** The work that the plan names is taken as finished. */
  adopt(task: TaskId, commit: string): this {
    this.#commits.set(task, commit);
    return this.add({ type: 'work.adopted', task, commit });
  }

  merge(task: TaskId): this {
    const commit = this.#commits.get(task) ?? this.#head;
    const attempt = this.#attempt(task);
    return this.add({ type: 'merge.started', task, attempt, commit, onto: this.#head });
  }

  gate(task: TaskId | null, ok: boolean, output = '', gate = 'tests'): this {
    const tree = this.#sha();
    const red = ok ? {} : { command: 'npm test', exitCode: 1 };
    return this.add({ type: 'gate.finished', task, gate, tree, ok, ms: 3200, output, ...red });
  }

  /** The gate is green on the work without what landed meanwhile. */
  greenAlone(task: TaskId): this {
    const green = { task, gate: 'tests', ok: true, ms: 1600, output: '', on: 'alone' } as const;
    return this.add({ type: 'gate.finished', tree: this.#sha(), ...green });
  }

  /** The whole way from finished work to the run's new head. */
  land(task: TaskId): this {
    this.merge(task).gate(task, true);
    const onto = this.#head;
    this.#head = this.#sha();
    return this.add({ type: 'merge.landed', task, onto, commit: this.#head });
  }

  /** The work stays on its branch. */
  deliver(task: TaskId, pushed: string | null): this {
    const commit = this.#commits.get(task) ?? this.#head;
    const branch = `landfast/r1.${task}`;
    return this.add({ type: 'work.delivered', task, commit, branch, pushed });
  }

  reject(task: TaskId, failure: Failure): this {
    return this.add({ type: 'merge.rejected', task, onto: this.#head, failure });
  }

  giveUp(task: TaskId, failure: Failure): this {
    return this.add({ type: 'task.failed', task, failure });
  }

  skip(task: TaskId, dependency: TaskId): this {
    const message = `Not started: it needs ${dependency}, which failed.`;
    return this.giveUp(task, { kind: 'dependency-failed', message, dependency });
  }

  keep(task: TaskId, why: string): this {
    this.add({ type: 'workspace.released', task });
    return this.add({ type: 'workspace.kept', task, why });
  }

  publish(): this {
    this.add({ type: 'publish.started', head: this.#head });
    const commit = this.#head;
    return this.add({ type: 'publish.finished', target: 'main', commit, checkout: 'followed' });
  }

  end(outcome: RunOutcome): this {
    return this.add({ type: 'run.finished', outcome });
  }

  state(): RunState {
    return fold(this.entries);
  }

  #attempt(task: TaskId): number {
    return this.#attempts.get(task) ?? 0;
  }

  /** Ids that can be told apart by their first characters. */
  #sha(): string {
    this.#shas += 1;
    return this.#shas.toString(16).padStart(4, '0').padEnd(40, 'c');
  }
}
