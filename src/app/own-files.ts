/**
 * The files that a plan's users look for in their checkout: each task's log, and what is written when
 * the run ends. Git ignores them, so that no checkout looks changed because of them.
 */

import { join, relative, resolve, sep } from 'node:path';
import { EventFormatter } from '../agents/log-formatter.ts';
import { messageOf } from '../base/errors.ts';
import { writeWhole } from '../base/write-whole.ts';
import { addExcludes, literalPattern } from '../git/exclude.ts';
import { readTail } from '../journal/tail.ts';
import {
  attemptFiles,
  attemptsDir,
  fileName,
  type TranscriptOptions,
} from '../journal/transcript.ts';
import type { Plan, ReportSpec } from '../model/plan.ts';
import { type RunState, type TaskState, taskCost } from '../model/state.ts';
import { stateFileText } from '../report/execution-summary.ts';
import { jsonText } from '../report/json.ts';
import { wavesJson, wavesMarkdown } from '../report/waves.ts';
import { agentNamed } from './agents.ts';
import type { RunOptions } from './execute.ts';
import type { Host, Place } from './place.ts';

/** Where and how each task's output is written besides the run's own folder. */
export function logOptions(
  plan: Plan,
  { logDir, log }: Pick<RunOptions, 'logDir' | 'log'>,
  { dir, host }: Place,
): Pick<TranscriptOptions, 'logDir' | 'formatted' | 'rawLogs'> {
  const { logs } = plan.conventions;
  const rawLogs = log ? 'kept' : 'none';
  const isLive = logs !== undefined && logs.style !== 'result'; // Those are written at the end.
  const named = logDir ?? (isLive ? resolve(dir, logs.dir) : undefined);
  const folder = named === undefined || !log ? null : resolve(named);
  if (logs?.style !== 'story' || folder === null)
    return { rawLogs, logDir: folder, formatted: null };
  const agents = new Map(plan.tasks.map(({ id, agent }) => [id, agentNamed(agent, host)]));
  const formatterFor = (task: string) => {
    const agent = agents.get(task);
    const own = agent !== undefined && 'formatter' in agent ? agent.formatter?.() : undefined;
    return own ?? new EventFormatter({ plain: agent?.can.plain === true });
  };
  return { rawLogs, logDir: null, formatted: { dir: folder, formatterFor } };
}

/** Makes git ignore what the plan's conventions write into the checkout. */
export async function ignoreOwnFiles(plan: Plan, place: Place, signal: AbortSignal): Promise<void> {
  if (place.repository === null) return;
  const { logs, reports } = plan.conventions;
  const { dir } = plan.workspace;
  const paths = [logs?.dir, dir, ...reports.map(({ path }) => path)];
  const patterns = paths.flatMap((path) => {
    const inside = path === undefined ? '' : relative(place.dir, resolve(place.dir, path));
    const isInside = inside !== '' && inside.split(sep)[0] !== '..' && resolve(inside) !== inside;
    return isInside ? [literalPattern(inside.split(sep).join('/'))] : [];
  });
  if (patterns.length > 0) await addExcludes(place.repository.commonDir, patterns, signal);
}

export function writeOwnReports(state: RunState, run: string, { dir, host }: Place): void {
  for (const report of state.plan.conventions.reports) {
    const path = resolve(dir, report.path);
    try {
      writeWhole(path, reportText(report, state, run));
    } catch (error) {
      host.warn(`${path} could not be written: ${messageOf(error)}`);
    }
  }
}

function reportText(report: ReportSpec, state: RunState, run: string): string {
  const about = { run, subject: report.subject ?? state.plan.name };
  switch (report.style) {
    case 'results':
      return stateFileText(state, run, localTime(new Date()));
    case 'waves-json':
      return jsonText(wavesJson(state, about));
    case 'waves-text':
      return wavesMarkdown(state, about);
  }
}

/** Such as 2026-07-01T14:03:09.120: the clock on the user's wall, without a zone. */
function localTime(now: Date): string {
  const shifted = new Date(now.getTime() - now.getTimezoneOffset() * 60_000);
  return shifted.toISOString().replace('Z', '');
}

/** `PO_KEEP_WORKTREE=1` is how users of parallel-orchestra ask for `--keep-worktrees`. */
export function keepsWorkspaces(plan: Plan, options: RunOptions, { env }: Host): boolean {
  if (options.keepWorkspaces || plan.workspace.keep === true) return true;
  return env.PO_KEEP_WORKTREE === '1';
}

/** More than that of one attempt is only in the run's own folder. */
const MOST_BYTES = 16 * 1024 * 1024;

/** Writes the logs of every task that began, where the plan's users look for them. */
export async function writeResultLogs(
  state: RunState,
  run: string,
  { dir, stateDir, host }: Place,
  signal: AbortSignal,
): Promise<void> {
  const { logs } = state.plan.conventions;
  if (logs?.style !== 'result') return;
  const folder = resolve(dir, logs.dir);
  const attempts = attemptsDir(stateDir, run);
  try {
    for (const task of state.tasks.values()) {
      if (task.attempts.length === 0) continue;
      const { spec } = task;
      const files = attemptFiles(attempts, spec.id, task.attempts.length);
      const { lines } = await readTail(files.stdout, MOST_BYTES, signal);
      const errors = await readTail(files.stderr, MOST_BYTES, signal);
      const path = join(folder, `${fileName(spec.id)}.log`);
      writeWhole(path, [...lines, ...errors.lines].map((line) => `${line}\n`).join(''));
      writeWhole(`${path}.json`, jsonText(resultIn(lines) ?? resultOf(task)));
    }
  } catch (error) {
    host.warn(`Not all logs could be written to ${folder}: ${messageOf(error)}`);
  }
}

/** The last result that the agent printed itself, as Claude Code prints it. */
function resultIn(lines: readonly string[]): unknown {
  const line = lines.findLast((text) => /^\{.*"type"\s*:\s*"result"/.test(text));
  if (line === undefined) return null;
  try {
    return JSON.parse(line);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return null;
  }
}

/** The same for agents that print none, from what is known. */
function resultOf(task: TaskState): unknown {
  const last = task.attempts.at(-1);
  const failure = last?.failure ?? null;
  return {
    type: 'result',
    subtype: failure === null ? 'success' : 'error',
    is_error: failure !== null,
    duration_ms: last?.endedAt == null ? null : last.endedAt - last.startedAt,
    result: failure?.message ?? last?.text ?? '',
    session_id: task.session,
    total_cost_usd: taskCost(task),
  };
}
