/**
 * The files that a plan's users look for in their checkout: each task's log, and what is written
 * when the run ends. Git ignores them, so that no checkout looks changed because of them.
 */

import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import { EventTeller } from '../agents/story.ts';
import { messageOf } from '../base/errors.ts';
import { addExcludes, literalPattern } from '../git/exclude.ts';
import type { TranscriptOptions } from '../journal/transcript.ts';
import type { Plan, ReportSpec } from '../model/plan.ts';
import type { RunState } from '../model/state.ts';
import { resultsText } from '../report/task-results.ts';
import { agentNamed } from './agents.ts';
import type { Place } from './place.ts';

export interface LogWishes {
  readonly logDir?: string;
  readonly log: boolean;
}

/** Where and how each task's output is written besides the run's own folder. */
export function logOptions(
  plan: Plan,
  { logDir, log }: LogWishes,
  { dir }: Place,
): Pick<TranscriptOptions, 'logDir' | 'stories' | 'rawLogs'> {
  const { logs } = plan.conventions;
  const rawLogs = log ? 'kept' : 'none';
  const named = logDir ?? (logs === undefined ? undefined : resolve(dir, logs.dir));
  const folder = named === undefined || !log ? null : resolve(named);
  if (logs?.style !== 'story' || folder === null) return { rawLogs, logDir: folder, stories: null };
  const agents = new Map(plan.tasks.map(({ id, agent }) => [id, agentNamed(agent)]));
  const tellerOf = (task: string) => {
    const agent = agents.get(task);
    return agent?.teller?.() ?? new EventTeller({ plain: agent?.can.plain === true });
  };
  return { rawLogs, logDir: null, stories: { dir: folder, tellerOf } };
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
export function writeOwnReports(state: RunState, run: string, { dir }: Place): void {
  for (const report of state.plan.conventions.reports) {
    const text = reportText(report, state, run);
    if (text === null) continue;
    const path = resolve(dir, report.path);
    try {
      writeWhole(path, text);
    } catch (error) {
      console.error(`landfast: ${path} could not be written: ${messageOf(error)}`);
    }
  }
}

function reportText({ style }: ReportSpec, state: RunState, run: string): string | null {
  switch (style) {
    case 'results':
      return resultsText(state, run, localTime(new Date()));
    default:
      return null;
  }
}

/** Whoever reads it finds the old content or the new one, never half of it. */
function writeWhole(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const part = `${path}.${process.pid}.part`;
  try {
    writeFileSync(part, text, { flag: 'wx' });
    renameSync(part, path);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}

/** Such as 2026-07-01T14:03:09.120: the clock on the user's wall, without a zone. */
function localTime(now: Date): string {
  const shifted = new Date(now.getTime() - now.getTimezoneOffset() * 60_000);
  return shifted.toISOString().replace('Z', '');
}
