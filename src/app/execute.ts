/**
 * One run in this process, from its first fact to the end of its tidying: new, resumed or the demo.
 */

import { assert } from '../base/assert.ts';
import { messageOf, otherwise } from '../base/errors.ts';
import { Runtime } from '../base/runtime.ts';
import { Suspensions } from '../base/suspension.ts';
import type { Span } from '../base/timing.ts';
import { drive, takeOver } from '../engine/drive.ts';
import type { EditedPlan } from '../engine/recover.ts';
import { withLease } from '../engine/with-lease.ts';
import type { World } from '../engine/world.ts';
import { type Database, openDatabase } from '../journal/database.ts';
import { openGateLogs } from '../journal/gate-log.ts';
import { readEntries } from '../journal/journal.ts';
import { assertLease, type Lease, LeaseLostError } from '../journal/lease.ts';
import { masker } from '../journal/mask.ts';
import { resolutionsIn, verdictsIn } from '../journal/memory.ts';
import { attemptsDir, Transcripts } from '../journal/transcript.ts';
import { closeRunBranch } from '../merge/run-branch.ts';
import type { Command, ReopeningCommand } from '../model/command.ts';
import type { Chatter } from '../model/effect.ts';
import type { Entry, Event } from '../model/event.ts';
import { fold } from '../model/fold.ts';
import {
  type LimitChanges,
  type Plan,
  type TaskId,
  type TaskSpec,
  usesCheckout,
} from '../model/plan.ts';
import type { RunState } from '../model/state.ts';
import { Notifier } from '../notify/notifier.ts';
import { killMarked } from '../process/process-tree.ts';
import { requireTempFolder } from '../process/scratch.ts';
import { sameRepository } from '../transport/transport.ts';
import type { Site } from '../worker/attempt.ts';
import { allowedEnv, secretsOf } from '../worker/environment.ts';
import { localWorker } from '../worker/worker.ts';
import { requireWorkspacesFolder, workspaceDir } from '../workspace/folders.ts';
import { watchWork } from '../workspace/radar/radar.ts';
import { sweepFolders } from '../workspace/remove.ts';
import { type RunContext, runContext } from '../workspace/run-context.ts';
import { agentNamed, executable, requireAgents } from './agents.ts';
import { type FenceFor, fenceOf, resolveDir } from './fencing.ts';
import {
  ignoreOwnFiles,
  keepsWorkspaces,
  logOptions,
  writeOwnReports,
  writeResultLogs,
} from './own-files.ts';
import { type Place, requireRepository } from './place.ts';
import { poolOf, seedsOf } from './pooling.ts';
import { Room } from './room.ts';

/** How a run is executed. Plain JSON: a detached engine gets it from the command that started it. */
export interface RunOptions {
  /** Limits that differ from the plan's. */
  readonly limits: LimitChanges;
  /** Programs to use for agents, by the agent's name. */
  readonly programs: Readonly<Record<string, string>>;
  readonly keepWorkspaces: boolean;
  /** Whether the raw output of agents and gates is kept. */
  readonly log: boolean;
  /** Where each task's output is written as well. */
  readonly logDir?: string;
}

/** A run that is ready to be driven. Driving it closes `db`. */
export interface Execution {
  readonly place: Place;
  readonly db: Database;
  readonly run: string;
  readonly plan: Plan;
  /** The first fact of a new run; null for one that is resumed. */
  readonly started: (Event & { type: 'run.started' }) | null;
  readonly before: RunState | null;
  readonly options: RunOptions;
  /** For a resumed run: what it is taken up for. */
  readonly retry?: ReopeningCommand | null;
  /** For a resumed run: an edited plan. */
  readonly next?: EditedPlan | null;
}

/** The face that shows a run while this process executes it, and passes on what its user asks for. */
export interface Attendant {
  recorded(entries: readonly Entry[]): void;
  heard(task: TaskId, line: Chatter): void;
  /** Shows a sentence without disturbing the rest. */
  say(text: string): void;
  /** Commands from this process since the last call. */
  commands(): readonly Command[];
  /** Ends the engine at once. */
  readonly force: AbortSignal;
  readonly bell: (() => void) | null;
  /** Gets every measured span; null unless the run is profiled. */
  readonly onSpan: ((span: Span) => void) | null;
  /** The run is over, its lease is still held. `kept`: workspaces that stay to be looked at. */
  ended(state: RunState, kept: readonly KeptWorkspace[]): Promise<void>;
}

/** The workspace of a task that the user wants to look at. */
export interface KeptWorkspace {
  readonly task: TaskId;
  readonly path: string;
}

const TIDY_LIMIT_MS = 60_000;

/** Refuses, before anything starts, what could only fail later. */
export function checkExecution(plan: Plan, options: RunOptions, place: Place): void {
  if (plan.tasks.some(({ mode }) => mode === 'write')) requireRepository(place);
  requireTempFolder();
  requireAgents(plan, (name) => executable(options.programs[name]), place.host);
  if (place.repository !== null && !plan.tasks.every(usesCheckout)) {
    requireWorkspacesFolder({ repository: place.repository, plan });
  }
}

/** Executes the run to its end; failed tasks are part of the state, not errors. */
export async function execute(execution: Execution, attendant: Attendant): Promise<RunState> {
  const never = new AbortController().signal;
  using _db = execution.db;
  const { run, place } = execution;
  const { repository, host } = place;
  const { onSpan } = attendant;
  const work = async (lease: Lease, held: AbortSignal): Promise<RunState> => {
    await using runtime = new Runtime({ env: host.env, run, repository, onSpan });
    return await runtime.enter(() => executeHolding(execution, attendant, lease, held));
  };
  return await withLease(execution, work, never);
}

/** Tidies up again after an engine that was killed at the very end of its run. */
export async function closeAgain(ended: Omit<Execution, 'db'>): Promise<void> {
  const { before, place } = ended;
  assert(before !== null, 'a run that is closed again has a state');
  using db = openDatabase(place.stateDir);
  const execution = { ...ended, db };
  const close = async (lease: Lease, held: AbortSignal): Promise<void> => {
    const site = siteOf(execution, lease, { fenceFor: () => null, secrets: [] });
    await takeOver(site, held);
    await tidy(site.context, before, (text) => place.host.warn(text));
  };
  await withLease(execution, close, new AbortController().signal);
}

async function executeHolding(
  execution: Execution,
  attendant: Attendant,
  lease: Lease,
  held: AbortSignal,
): Promise<RunState> {
  const { run, place, plan } = execution;
  const never = new AbortController().signal;
  await ignoreOwnFiles(plan, place, never);
  const fencing = await fenceOf(plan, place, { run, signal: never });
  const onForce = (): void => killMarked(`${run}/`);
  attendant.force.addEventListener('abort', onForce);
  const secrets = secretsIn(plan, place);
  const site = siteOf(execution, lease, { fenceFor: fencing.fenceFor, secrets });
  const say = (text: string): void => attendant.say(text);
  const { bell } = attendant;
  const notifier = notifierOf(execution, { mask: masker(secrets), warn: say, bell });
  const recorded = (entries: readonly Entry[]): void => {
    attendant.recorded(entries);
    notifier.recorded(entries);
  };
  try {
    const order = { site, attendant, secrets, recorded, lease, held };
    const state = await whileOurs(site.context, driveRun(execution, order), held);
    try {
      writeOwnReports(state, run, place);
      const limit = AbortSignal.timeout(TIDY_LIMIT_MS);
      if (execution.options.log) await writeResultLogs(state, run, place, limit);
      await attendant.ended(state, keptWorkspaces(site.context, state, execution));
    } finally {
      await tidy(site.context, state, say);
      await notifier.settle(attendant.force);
    }
    return state;
  } finally {
    attendant.force.removeEventListener('abort', onForce);
    await fencing.close();
  }
}

/** A run that another engine has taken over is left alone, but for what this engine holds. */
async function whileOurs(
  context: RunContext | null,
  driven: Promise<RunState>,
  held: AbortSignal,
): Promise<RunState> {
  try {
    const state = await driven;
    held.throwIfAborted();
    return state;
  } catch (error) {
    const isLost = error instanceof LeaseLostError && context !== null;
    if (isLost)
      await sweepFolders(context, AbortSignal.timeout(TIDY_LIMIT_MS)).catch(otherwise(null));
    throw error;
  }
}

async function driveRun(
  { place, db, run, plan, started, options, retry = null, next = null }: Execution,
  order: {
    readonly site: Site;
    readonly attendant: Attendant;
    readonly secrets: readonly string[];
    readonly recorded: (entries: readonly Entry[]) => void;
    readonly lease: Lease;
    readonly held: AbortSignal;
  },
): Promise<RunState> {
  const { site, attendant, secrets, recorded, lease, held } = order;
  const say = (text: string): void => attendant.say(text);
  const transcripts = new Transcripts({
    dir: attemptsDir(place.stateDir, run),
    secrets,
    ...logOptions(plan, options, place),
    onWarning: say,
  });
  const { diskBytes: most = null } = plan.limits;
  const { stateDir, dir } = place;
  const room = new Room({ run, context: site.context, db, stateDir, dir, most, say });
  const { machine } = await room.open();
  const world = {
    site,
    worker: localWorker(site),
    transcripts,
    keepWorkspaces: keepsWorkspaces(plan, options, place.host),
    recorded,
    observe: observerOf(site),
    heard: (task: TaskId, line: Chatter) => attendant.heard(task, line),
    machine,
  };
  const signals = () => attendant.commands();
  const mask = masker(secrets);
  const { attended } = place.host;
  const given = { started, retry, changed: options.limits, next, attended };
  const drives = { mask, db, ...given, signals, world };
  const signal = AbortSignal.any([held, attendant.force]);
  return drive(drives, lease, signal).finally(() => room.close());
}

function keptWorkspaces(
  context: RunContext | null,
  state: RunState,
  { options, place }: Execution,
): readonly KeptWorkspace[] {
  if (context === null || !keepsWorkspaces(state.plan, options, place.host)) return [];
  const kept = [...state.tasks.values()].filter(({ workspace }) => workspace === 'kept');
  return kept.map(({ spec }) => ({ task: spec.id, path: workspaceDir(context, spec.id) }));
}

/** Without a repository there is nothing to foresee. */
function observerOf({ context }: Site): World['observe'] {
  if (context === null) return async () => {};
  return (look, report, signal) => watchWork(context, look, report, signal);
}

/** Values of the user's environment and of the plan that must not be written down. */
function secretsIn(plan: Plan, { host }: Place): readonly string[] {
  const ofGates = plan.gates.map(({ env = {} }) => env);
  const named = [host.env, ...plan.tasks.flatMap(envsOf), ...ofGates].flatMap(secretsOf);
  // The address of a webhook often is a secret as a whole.
  const webhooks = plan.notify.flatMap(({ to }) => (to.kind === 'webhook' ? [to.url] : []));
  return [...named, ...webhooks];
}

/** The environments that a task itself brings. */
function envsOf({ env, options }: TaskSpec): readonly Readonly<Record<string, string>>[] {
  const servers = Object.values(options.mcp).flatMap((server) =>
    'env' in server ? [server.env] : [],
  );
  return [env, ...servers];
}

function siteOf(
  { place, db, run, plan, options }: Execution,
  lease: Lease,
  { fenceFor, secrets }: { readonly fenceFor: FenceFor; readonly secrets: readonly string[] },
): Site {
  const { repository, dir, stateDir, host } = place;
  const onWarning = (text: string): void => host.warn(text);
  const gateLogs = options.log
    ? { gateLogs: openGateLogs({ stateDir, run, secrets, onWarning }) }
    : {};
  const parts = repository && {
    repository,
    pool: poolOf({ repository, plan, run }),
    ...seedsOf({ repository, plan }),
    run,
    plan,
    env: allowedEnv(host.env, []),
    assertHeld: () => assertLease(db, lease),
    attended: host.attended,
    verdicts: verdictsIn(db),
    resolutions: resolutionsIn(db),
    gateFunctions: host.gates,
    ...gateLogs,
  };
  const context = parts && runContext(parts);
  return {
    context,
    run,
    tasks: plan.tasks,
    failures: plan.failures ?? [],
    dir,
    userEnv: host.env,
    agentNamed: (name) => agentNamed(name, host),
    resolveDir: (folder) => resolveDir(folder, dir, host),
    suspensions: new Suspensions(),
    fenceFor,
    transport: repository && sameRepository(repository),
    executableOf: (name) => executable(options.programs[name]),
  };
}

/** Removes gate workspaces, and the run's branch once the target holds all of it. */
async function tidy(
  context: RunContext | null,
  state: RunState,
  say: (text: string) => void,
): Promise<void> {
  if (context === null || state.base === null) return;
  const close = () => closeRunBranch(context, state, AbortSignal.timeout(TIDY_LIMIT_MS));
  try {
    await close().catch(close); // A git that was killed leaves the rest to do.
  } catch (error) {
    say(`Cleanup was incomplete: ${messageOf(error)}`);
  }
}

/** Programs that show a note must find the user's session. */
const DESKTOP_ENV = ['DISPLAY', 'WAYLAND_DISPLAY', 'DBUS_SESSION_BUS_ADDRESS', 'XAUTHORITY'];

function notifierOf(
  { run, plan, place, db, started }: Execution,
  { mask, warn, bell }: Pick<ConstructorParameters<typeof Notifier>[0], 'mask' | 'warn' | 'bell'>,
): Notifier {
  return new Notifier({
    run,
    notify: plan.notify,
    before: started === null && plan.notify.length > 0 ? fold(readEntries(db, run, 0)) : null,
    mask,
    machine: {
      dir: place.dir,
      env: allowedEnv(place.host.env, DESKTOP_ENV),
      platform: place.host.platform,
    },
    network: null,
    bell,
    warn,
  });
}
