/**
 * The report as JSON. Keys up to `skipped`, and a task's up to `failure_category`, are
 * parallel-orchestra's, so that readers of its reports keep working. Texts are exact; `jsonText`
 * escapes control characters without losing any.
 */

import type { Failure } from '../model/failure.ts';
import { runBranch } from '../model/names.ts';
import type { Attempt, GateRun, RunState, TaskState } from '../model/state.ts';
import { costOf, isGood, taskCost } from '../model/state.ts';
import { denialsOf, doubtOf } from './denied.ts';
import { failedCommand } from './failed-command.ts';
import { dollars, isoTime, seconds } from './format.ts';
import { brokenJson, unreliableGates } from './gate-problems.ts';
import {
  assigneeOf,
  countReported,
  failureOf,
  isUnpublished,
  reportedResultOf,
  retriesOf,
  workMs,
} from './outcome.ts';
import { foreseenClashes } from './radar.ts';
import { branchOf, hasKeptWork, type ReportInfo, remedyOf } from './remedy.ts';
import { categoryOf } from './summary-lines.ts';

/** The report of a run as plain JSON. An unfinished run ends with its last entry. */
export function reportJson(state: RunState, info: ReportInfo) {
  const tasks = [...state.tasks.values()];
  return {
    manifest: state.plan.name,
    started_at: isoTime(state.startedAt),
    finished_at: isoTime(state.finishedAt),
    duration_sec: seconds((state.finishedAt ?? state.at) - state.startedAt),
    total: tasks.length,
    ...countReported(state),
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
    broken_gate: brokenJson(state),
    unreliable_gates: unreliableGates(state),
    foreseen: foreseenClashes(state).map(({ isOpen: open, ...rest }) => ({ ...rest, open })),
    ...(info.profile === undefined ? {} : { profile: info.profile }),
    tasks: tasks.map((task) => taskJson(state, task, info)),
  };
}

/** Indented JSON with a final newline and without live control characters. */
export function jsonText(value: unknown): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return `${JSON.stringify(value, null, 2).replace(LIVE, escaped)}\n`;
}

/** JSON.stringify escapes C0 and lone surrogates by itself. */
const LIVE = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

function taskJson(state: RunState, task: TaskState, info: ReportInfo) {
  const failure = failureOf(task);
  return {
    id: task.spec.id,
    agent: assigneeOf(task),
    status: reportedResultOf(state, task),
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
    failed: failedCommand(failure, task.spec.id),
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
    denied: denialsOf(task),
    doubt: doubtOf(state, task),
    outside: task.attempts.at(-1)?.outside ?? [],
    workspace: {
      state: task.workspace,
      kept_why: task.keptWhy,
      branch: hasKeptWork(state, task) ? branchOf(state, task, info) : null,
    },
  };
}

function gateJson({ gate, ok, ms, tree, output, spared, by, quarantined, on }: GateRun) {
  const why = { spared: spared ?? null, by: by ?? null, quarantined: quarantined === true };
  return { gate, ok, ms, tree, on: on ?? 'candidate', output, ...why };
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
    denied: attempt.denied.map(({ tool }) => tool),
    text: attempt.text,
    status: attempt.status,
  };
}

function tokensOf(attempts: readonly Attempt[]) {
  const sum = (key: 'inputTokens' | 'outputTokens') =>
    attempts.reduce((total, attempt) => total + attempt[key], 0);
  return { input: sum('inputTokens'), output: sum('outputTokens') };
}

/** A failure in snake_case, with times as text. */
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
