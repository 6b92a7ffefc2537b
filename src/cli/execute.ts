/**
 * execute: one run in this process, from its first fact to its summary. `run`, `resume` and `demo`
 * all come here; what differs is only how they got a plan.
 */

import { assert } from '../base/assert.ts';
import { messageOf } from '../base/errors.ts';
import { Suspension } from '../base/suspension.ts';
import { drive, takeOver } from '../engine/drive.ts';
import { whileHolding } from '../engine/hold.ts';
import type { World } from '../engine/world.ts';
import { closeGitShells, openGitShells } from '../git/git.ts';
import { closeLongLived, openLongLived } from '../git/long-lived.ts';
import type { Database } from '../journal/database.ts';
import { assertLease, type Lease, LeaseLostError } from '../journal/lease.ts';
import { masker } from '../journal/mask.ts';
import { Resolutions } from '../journal/resolutions.ts';
import { readTail } from '../journal/tail.ts';
import { attemptFiles, attemptsDir, Transcripts } from '../journal/transcript.ts';
import { Verdicts } from '../journal/verdicts.ts';
import { closeRunBranch } from '../merge/run-branch.ts';
import type { Command } from '../model/command.ts';
import type { Entry, Event } from '../model/event.ts';
import type { FailureKind } from '../model/failure.ts';
import type { Plan, TaskSpec } from '../model/plan.ts';
import type { RunState } from '../model/state.ts';
import { killMarked } from '../process/reap.ts';
import { closeScratch } from '../process/scratch.ts';
import { clean } from '../report/clean.ts';
import { summaryLines } from '../report/lines.ts';
import type { ReportInfo } from '../report/remedy.ts';
import { streamLines } from '../report/stream-lines.ts';
import { exitCodeOf, summaryText } from '../report/summary.ts';
import { resultsOf, resultsSummary } from '../report/task-results.ts';
import type { Totals } from '../report/trace.ts';
import { inkOf, wantsColor } from '../ui/color.ts';
import type { Site } from '../worker/attempt.ts';
import { allowedEnv, secretsOf } from '../worker/environment.ts';
import type { Ground } from '../workspace/ground.ts';
import { watchWork } from '../workspace/radar/radar.ts';
import { letGo } from '../workspace/remove.ts';
import { agentNamed, executable, requireAgents } from './agents.ts';
import { checkDetach, detach } from './detach.ts';
import { whileExecuting } from './executing.ts';
import { type FenceFor, fenceOf, resolveDir } from './fencing.ts';
import { keepsWorkspaces, keptLines } from './keeping.ts';
import { type LimitFlags, limitsFrom } from './limits.ts';
import { ignoreOwnFiles, logOptions, writeOwnReports } from './log-files.ts';
import { notifierOf, webhooksOf } from './notifying.ts';
import type { Place } from './place.ts';
import { poolOf, seedsOf } from './pooling.ts';
import { checkProfile, openProfile } from './profiling.ts';
import { checkReport, writeReport } from './report-file.ts';
import { writeResultLogs } from './result-logs.ts';
import { Room } from './room.ts';
import { openScreen, type Screen } from './screen.ts';
import { Signals } from './signals.ts';

/** How a run is executed and shown: the flags that `run` and `resume` share. */
export interface HowToRun extends LimitFlags {
  readonly projectDir: string;
  readonly claudeExe?: string;
  readonly keepWorktrees?: boolean;
  readonly report?: string;
  readonly profile?: string;
  readonly dashboard?: boolean;
  readonly events?: boolean;
  readonly quiet?: boolean;
  readonly logDir?: string;
  readonly detach?: boolean;
  /** False for `--no-log`. */
  readonly log: boolean;
}

export interface Execution {
  readonly place: Place;
  readonly db: Database;
  readonly run: string;
  readonly plan: Plan;
  readonly started: (Event & { type: 'run.started' }) | null;
  readonly before: RunState | null;
  readonly how: HowToRun;
  /** For a run that goes on: the only tasks that get a new chance. */
  readonly retry?: (Command & { kind: 'retry' }) | null;
}

const TIDY_LIMIT_MS = 60_000;

/** Everything that can be refused before a run begins. */
export function checkHow(plan: Plan, how: HowToRun): void {
  checkDetach(how);
  checkReport(how.report);
  checkProfile(how.profile);
  requireAgents(plan, (name) => executableOf(name, how));
}

/** Executes the run and answers with the exit code. */
export async function execute(execution: Execution): Promise<number> {
  if (execution.how.detach === true) return detach(execution);
  const never = new AbortController().signal;
  const work = (lease: Lease, held: AbortSignal) => executeHolding(execution, lease, held);
  return whileExecuting(() => whileHolding(execution, work, never));
}

/** Does again what an engine that was killed at the very end of its run did not come to. */
export async function closeAgain(execution: Execution): Promise<void> {
  const { before } = execution;
  assert(before !== null, 'a run that is closed again has a state');
  const close = async (lease: Lease, held: AbortSignal): Promise<void> => {
    const site = siteOf(execution, lease, () => null);
    await takeOver(site, held);
    await tidy(site.ground, before);
  };
  await whileHolding(execution, close, new AbortController().signal);
}

async function executeHolding(
  execution: Execution,
  lease: Lease,
  held: AbortSignal,
): Promise<number> {
  const { run, how, before, place, plan } = execution;
  const never = new AbortController().signal;
  await ignoreOwnFiles(plan, place, never);
  const fencing = await fenceOf(plan, place, { run, signal: never });
  const { events = false, quiet = false } = how;
  const dashboard = how.dashboard ?? (process.stderr.isTTY === true && !quiet);
  const screen = openScreen({ run, before, dashboard, events, quiet });
  using signals = new Signals((text) => screen.say(text));
  signals.force.addEventListener('abort', () => killMarked(`${run}/`));
  const site = siteOf(execution, lease, fencing.fenceFor);
  const secrets = secretsIn(plan);
  const notifier = notifierOf(execution, {
    mask: masker(secrets),
    warn: (text) => screen.say(text),
  });
  const recorded = (entries: readonly Entry[]): void => {
    screen.recorded(entries);
    notifier.recorded(entries);
  };
  using profile = openProfile(how.profile);
  openGitShells(run);
  if (place.repository !== null) openLongLived(place.repository);
  try {
    const order = { site, screen, signals, secrets, recorded, lease, held };
    const driven = driveRun(execution, order).finally(screen.close);
    const state = await whileOurs(site.ground, driven, held);
    try {
      await tell(execution, state, profile.close(run));
      for (const line of keptLines(site.ground, state, how)) console.error(line);
    } finally {
      await tidy(site.ground, state);
      await notifier.settle(signals.force);
    }
    const ended = state.outcome === 'interrupted' || state.outcome === null;
    return signals.exitCode !== null && ended ? signals.exitCode : exitCodeOf(state);
  } finally {
    await closeScratch(run);
    await closeGit(site.ground);
    await fencing.close();
  }
}

/** Of a run that another engine has taken over nothing is told, and little is tidied up. */
async function whileOurs(
  ground: Ground | null,
  driven: Promise<RunState>,
  held: AbortSignal,
): Promise<RunState> {
  try {
    const state = await driven;
    held.throwIfAborted();
    return state;
  } catch (error) {
    const isLost = error instanceof LeaseLostError && ground !== null;
    if (isLost) await letGo(ground, AbortSignal.timeout(TIDY_LIMIT_MS)).catch(() => undefined);
    throw error;
  }
}

/** However a run ended: a git that waits for more would keep this process from ending. */
async function closeGit(ground: Ground | null): Promise<void> {
  if (ground !== null) await closeLongLived(ground.repository.commonDir);
  await closeGitShells();
}

async function driveRun(
  { place, db, run, plan, started, how, retry = null }: Execution,
  {
    site,
    screen,
    signals,
    secrets,
    recorded,
    lease,
    held,
  }: {
    readonly site: Site;
    readonly screen: Screen;
    readonly signals: Signals;
    readonly secrets: readonly string[];
    readonly recorded: (entries: readonly Entry[]) => void;
    readonly lease: Lease;
    readonly held: AbortSignal;
  },
): Promise<RunState> {
  const transcripts = new Transcripts({
    dir: attemptsDir(place.stateDir, run),
    secrets,
    ...logOptions(plan, how, place),
    onWarning: (text) => screen.say(text),
  });
  const world = {
    site,
    transcripts,
    keepWorkspaces: keepsWorkspaces(plan, how),
    mask: masker(secrets),
    recorded,
    observe: observerOf(site),
    heard: screen.heard,
  };
  const { diskBytes: most = null } = plan.limits;
  const { stateDir, dir } = place;
  const say = (text: string): void => screen.say(text);
  const room = new Room({ run, ground: site.ground, db, stateDir, dir, most, say });
  const changed = limitsFrom(how);
  const { machine } = await room.open();
  const order = {
    ...{ db, started, retry, changed, signals: () => signals.take() },
    world: { ...world, machine },
  };
  return drive(order, lease, AbortSignal.any([held, signals.force])).finally(() => room.close());
}

/** Without a repository there is nothing to foresee. */
function observerOf({ ground }: Site): World['observe'] {
  if (ground === null) return async () => {};
  return (look, report, signal) => watchWork(ground, look, report, signal);
}

/** Values that must not be written down, of the user's environment and of the plan. */
function secretsIn(plan: Plan): readonly string[] {
  const ofGates = plan.gates.map(({ env = {} }) => env);
  const named = [process.env, ...plan.tasks.flatMap(envsOf), ...ofGates].flatMap(secretsOf);
  return [...named, ...webhooksOf(plan)];
}

/** The environments that a task itself brings. */
function envsOf({ env, options }: TaskSpec): readonly Readonly<Record<string, string>>[] {
  const servers = Object.values(options.mcp).flatMap((server) =>
    'env' in server ? [server.env] : [],
  );
  return [env, ...servers];
}

function siteOf({ place, db, run, plan, how }: Execution, lease: Lease, fenceFor: FenceFor): Site {
  const { repository, dir } = place;
  const env = allowedEnv(process.env, []);
  const suspension = new Suspension();
  const memory = { verdicts: new Verdicts(db), resolutions: new Resolutions(db) };
  const assertHeld = (): void => assertLease(db, lease);
  const parts = { run, plan, env, suspension, assertHeld, ...memory };
  const kept = repository && {
    pool: poolOf({ repository, plan, run }),
    ...seedsOf({ repository, plan }),
  };
  const ground = kept && { repository, ...kept, ...parts };
  return {
    ground,
    run,
    tasks: plan.tasks,
    failures: plan.failures ?? [],
    dir,
    userEnv: process.env,
    agentNamed,
    resolveDir: (folder) => resolveDir(folder, dir),
    suspension,
    fenceFor,
    executableOf: (name) => executableOf(name, how),
  };
}

function executableOf(agent: string, { claudeExe }: HowToRun): string | null {
  return agent === 'claude' ? executable(claudeExe) : null;
}

/** Gate workspaces go, and the run's branch once the target holds all of it. */
async function tidy(ground: Ground | null, state: RunState): Promise<void> {
  if (ground === null || state.base === null) return;
  const close = () => closeRunBranch(ground, state, AbortSignal.timeout(TIDY_LIMIT_MS));
  try {
    await close().catch(close); // A git that was killed leaves the rest to do.
  } catch (error) {
    console.error(`landfast: not everything could be tidied up: ${messageOf(error)}`);
  }
}

export type Telling = Pick<Execution, 'place' | 'run' | 'how'>;

/** The end of a run as its plan's users know it; with `--events` on standard error. */
export async function tell(execution: Telling, state: RunState, profile?: Totals): Promise<void> {
  const { run, how, place } = execution;
  const info: ReportInfo = { run, ...(profile === undefined ? {} : { profile }) };
  if (how.report !== undefined) writeReport(how.report, state, info);
  writeOwnReports(state, run, place);
  const limit = AbortSignal.timeout(TIDY_LIMIT_MS);
  if (how.log) await writeResultLogs(state, run, place, limit);
  const { quiet = false, report } = how;
  const out = how.events === true ? process.stderr : process.stdout;
  const { summary } = state.plan.conventions;
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
    if (!quiet) out.write(resultsSummary(resultsOf(state, run)));
    if (exitCodeOf(state) === 0) return;
  }
  if (quiet && exitCodeOf(state) === 0) return;
  const ink = inkOf(wantsColor(process.env, out.isTTY === true));
  const text = summaryText(state, { ...info, ink, ...(report === undefined ? {} : { report }) });
  (summary === 'report' ? out : process.stderr).write(text);
}

const TAIL_LINES = 20;
const TAIL_BYTES = 64 * 1024;

/** What tasks that failed in one of these ways, or in any, had printed last. */
async function tellTails(
  { place, run }: Telling,
  state: RunState,
  kinds: readonly FailureKind[] | null,
): Promise<void> {
  const dir = attemptsDir(place.stateDir, run);
  for (const { spec, status, attempts } of state.tasks.values()) {
    if (status.kind !== 'failed') continue;
    if (kinds !== null && !kinds.includes(status.failure.kind)) continue;
    const file = attemptFiles(dir, spec.id, attempts.length).stdout;
    const { lines } = await readTail(file, TAIL_BYTES, AbortSignal.timeout(TIDY_LIMIT_MS));
    if (lines.length === 0) continue;
    console.error(`The last lines of ${spec.id}:`);
    for (const line of lines.slice(-TAIL_LINES)) console.error(`  > ${clean(line)}`);
  }
}
