/**
 * The files that a plan's users look for in their checkout: each task's log, and what is written
 * when the run ends. Git ignores them, so that no checkout looks changed because of them.
 */

import { relative, resolve, sep } from 'node:path';
import { EventFormatter } from '../agents/log-formatter.ts';
import { messageOf } from '../base/errors.ts';
import { addExcludes, literalPattern } from '../git/exclude.ts';
import type { TranscriptOptions } from '../journal/transcript.ts';
import type { Plan, ReportSpec } from '../model/plan.ts';
import type { RunState } from '../model/state.ts';
import { stateFileText } from '../report/execution-summary.ts';
import { jsonText } from '../report/json.ts';
import { wavesJson, wavesMarkdown } from '../report/waves.ts';
import { agentNamed } from './agents.ts';
import type { RunOptions } from './execute.ts';
import type { Host } from './host.ts';
import type { Place } from './place.ts';
import { writeWhole } from './write-whole.ts';

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

/** Writes the files that the plan's users look for when a run is over. */
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
