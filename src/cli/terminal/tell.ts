/** The end of a run as its plan's users know it, on the terminal. */

import { lastLines } from '../../app/logs.ts';
import type { Place } from '../../app/place.ts';
import type { FailureKind } from '../../model/failure.ts';
import type { RunState } from '../../model/state.ts';
import type { Totals } from '../../report/chrome-trace.ts';
import { deniedLines } from '../../report/denied.ts';
import { executionResults, executionSummary } from '../../report/execution-summary.ts';
import type { ReportInfo } from '../../report/remedy.ts';
import { clean } from '../../report/sanitize.ts';
import { streamLines } from '../../report/stream-lines.ts';
import { exitCodeOf, summaryText } from '../../report/summary.ts';
import { summaryLines } from '../../report/summary-lines.ts';
import { inkOf, wantsColor } from '../../tui/styled-text.ts';
import type { HowToRun } from './drive.ts';
import { writeReport } from './run-files.ts';

export interface Telling {
  readonly place: Place;
  readonly run: string;
  readonly how: Pick<HowToRun, 'events' | 'quiet' | 'report'>;
}

/** The end of a run as its plan's users know it; with `--events` on standard error. */
export async function tell(execution: Telling, state: RunState, profile?: Totals): Promise<void> {
  const { run, how } = execution;
  const info: ReportInfo = { run, ...(profile === undefined ? {} : { profile }) };
  if (how.report !== undefined) writeReport(how.report, state, info);
  const { quiet = false, report } = how;
  const out = how.events === true ? process.stderr : process.stdout;
  const { summary } = state.plan.conventions;
  const isTold = exitCodeOf(state) !== 0 || (summary === 'report' && !quiet);
  for (const line of isTold ? [] : deniedLines(state)) console.error(line);
  if (summary === 'lines') {
    for (const line of summaryLines(state, { quiet })) out.write(`${line}\n`);
    await tellTails(execution, state, ['total-timeout']);
    if (exitCodeOf(state) === 0) return;
  }
  if (summary === 'streams') {
    const { good, bad } = streamLines(state);
    for (const line of quiet ? [] : good) out.write(`${line}\n`);
    for (const line of bad) console.error(line);
    await tellTails(execution, state, null);
    if (exitCodeOf(state) === 0) return;
  }
  if (summary === 'results') {
    if (!quiet) out.write(executionSummary(executionResults(state, run)));
    if (exitCodeOf(state) === 0) return;
  }
  if (quiet && exitCodeOf(state) === 0) return;
  const ink = inkOf(wantsColor(process.env, out.isTTY === true));
  const text = summaryText(state, { ...info, ink, ...(report === undefined ? {} : { report }) });
  (summary === 'report' ? out : process.stderr).write(text);
}

const READ_LIMIT_MS = 60_000;
const TAIL_LINES = 20;

/** What tasks that failed in one of these ways, or in any, had printed last. */
async function tellTails(
  { place, run }: Telling,
  state: RunState,
  kinds: readonly FailureKind[] | null,
): Promise<void> {
  for (const task of state.tasks.values()) {
    const { spec, status } = task;
    if (status.kind !== 'failed') continue;
    if (kinds !== null && !kinds.includes(status.failure.kind)) continue;
    const limit = AbortSignal.timeout(READ_LIMIT_MS);
    const lines = await lastLines(place, run, task, TAIL_LINES, limit);
    if (lines.length === 0) continue;
    console.error(`The last lines of ${spec.id}:`);
    for (const line of lines) console.error(`  > ${clean(line)}`);
  }
}
