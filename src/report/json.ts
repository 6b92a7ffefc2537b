/**
 * The report as JSON, for programs.
 *
 *   J1. The keys up to `skipped`, and a task's up to `failure_category`, are parallel-orchestra's,
 *       so that readers of its reports go on working; everything else is added beside them.
 *   J2. Texts are exact here. `jsonText` escapes what a terminal would obey, and loses nothing.
 */

import type { Failure } from '../model/failure.ts';
import { runBranch } from '../model/names.ts';
import type { Attempt, GateRun, RunState, TaskState } from '../model/state.ts';
import { costOf, isGood, taskCost } from '../model/state.ts';
import { dollars, isoTime, seconds } from './format.ts';
import { categoryOf } from './lines.ts';
import {
  countTold,
  deniedTools,
  doerOf,
  failureOf,
  isUnpublished,
  retriesOf,
  toldOf,
  workMs,
} from './outcome.ts';
import type { ReportInfo } from './remedy.ts';
import { branchOf, hasKeptWork, remedyOf } from './remedy.ts';
import { unreliableGates } from './unreliable.ts';

/** Everything a run has to tell, as plain JSON. A run that is not over ends with its last entry. */
export function reportJson(state: RunState, info: ReportInfo) {
  const tasks = [...state.tasks.values()];
  return {
    manifest: state.plan.name,
    started_at: isoTime(state.startedAt),
    finished_at: isoTime(state.finishedAt),
    duration_sec: seconds((state.finishedAt ?? state.at) - state.startedAt),
    total: tasks.length,
    ...countTold(state),
    run: info.run,
    outcome: state.outcome,
    target: state.target,
    base: state.base,
    head: state.head,
    branch: state.base === null ? null : runBranch(info.run),
    cost_usd: dollars(costOf(state)),
    tokens: tokensOf(tasks.flatMap(({ attempts }) => attempts)),
    landed: state.landed.map((landing, index) => ({
      order: index + 1,
      task: landing.task,
      onto: landing.onto,
      commit: landing.commit,
      work: state.tasks.get(landing.task)?.work ?? null,
      at: isoTime(landing.at),
    })),
    publish: publishJson(state),
    unreliable_gates: unreliableGates(state),
    ...(info.profile === undefined ? {} : { profile: info.profile }),
    tasks: tasks.map((task) => taskJson(state, task, info)),
  };
}

/** A value as it is written to a file or a terminal: indented, one line end, no live controls. */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value, null, 2);
  return `${text.replace(LIVE, escapeUnit)}\n`;
}

/** JSON.stringify escapes C0 and lone surrogates by itself. */
const LIVE = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function taskJson(state: RunState, task: TaskState, info: ReportInfo) {
  const failure = failureOf(task);
  return {
    id: task.spec.id,
    agent: doerOf(task),
    status: toldOf(state, task),
    duration_sec: seconds(workMs(task, state.at)),
    retry_count: retriesOf(task),
    failure_category: categoryOf(failure?.kind ?? null),
    resumed: task.carried,
    program: task.attempts.at(-1)?.by.agent ?? task.spec.agent,
    mode: task.spec.mode,
    needs: task.spec.needs,
    state: task.status.kind,
    commit: 'commit' in task.status && isGood(task) ? task.status.commit : null,
    branch: task.status.kind === 'delivered' ? task.status.branch : null,
    pushed: task.status.kind === 'delivered' ? task.status.pushed : null,
    cost_usd: dollars(taskCost(task)),
    tokens: tokensOf(task.attempts),
    session: task.session,
    reworks: task.reworks,
    failure: failure && failureJson(failure),
    remedy: remedyOf(state, task, info),
    attempts: task.attempts.map(attemptJson),
    rejections: task.rejections.map(({ attempt, onto, failure, at }) => ({
      attempt,
      onto,
      at: isoTime(at),
      ...failureJson(failure),
    })),
    proved: task.proved,
    settled: task.settled,
    gates: task.gates.map(gateJson),
    denied: [...deniedTools(task)].map(([tool, times]) => ({ tool, times })),
    outside: task.attempts.at(-1)?.outside ?? [],
    workspace: {
      state: task.workspace,
      kept_why: task.keptWhy,
      branch: hasKeptWork(state, task) ? branchOf(state, task, info) : null,
    },
  };
}

function gateJson({ gate, ok, ms, tree, output, spared, by, quarantined }: GateRun) {
  const why = { spared: spared ?? null, by: by ?? null, quarantined: quarantined === true };
  return { gate, ok, ms, tree, output, ...why };
}

function attemptJson(attempt: Attempt) {
  const { startedAt, endedAt } = attempt;
  return {
    attempt: attempt.attempt,
    start: attempt.start.kind,
    base: attempt.base,
    started_at: isoTime(startedAt),
    finished_at: isoTime(endedAt),
    duration_sec: endedAt === null ? null : seconds(endedAt - startedAt),
    exit_code: attempt.exitCode,
    failure: attempt.failure && failureJson(attempt.failure),
    cost_usd: attempt.costUsd,
    tokens: tokensOf([attempt]),
    files: attempt.files,
    outside: attempt.outside,
    strayed: attempt.strayed,
    structured: attempt.structured ?? null,
    denied: attempt.denied,
    text: attempt.text,
    status: attempt.status,
  };
}

function tokensOf(attempts: readonly Attempt[]) {
  const sum = (key: 'inputTokens' | 'outputTokens') =>
    attempts.reduce((total, attempt) => total + attempt[key], 0);
  return { input: sum('inputTokens'), output: sum('outputTokens') };
}

/** The fields of a failure in this report's spelling; times as texts. */
function failureJson(failure: Failure): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(failure).map(([key, value]) => [
      key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      key === 'retryAt' ? isoTime(value as number) : value,
    ]),
  );
}

function publishJson(state: RunState) {
  const { kind, ...rest } = state.publish;
  const { early: _, ...told } = { early: false, ...rest };
  return { state: kind, pending: isUnpublished(state), ...told };
}
