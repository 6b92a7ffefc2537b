/** `landfast run`: a plan file becomes a run. */

import { existsSync } from 'node:fs';
import { OperationalError, UserError } from '../../base/errors.ts';
import { identityProblem } from '../../git/identity.ts';
import { readRef } from '../../git/refs.ts';
import type { Repository } from '../../git/repository.ts';
import { signingProblem } from '../../git/signing.ts';
import { openDatabase } from '../../journal/database.ts';
import { isClaimed } from '../../journal/lease.ts';
import { newestRunOf } from '../../journal/log.ts';
import type { Event } from '../../model/event.ts';
import type { Plan, Sha } from '../../model/plan.ts';
import type { Config } from '../../plan/config/schema.ts';
import { dryRunText } from '../../report/plan-text.ts';
import { resultsSummary, skippedResults } from '../../report/task-results.ts';
import { adjust, type PlanFlags } from '../adjust.ts';
import { isCoding, requireAbilities } from '../agents.ts';
import { agreed } from '../ask.ts';
import { requireFreeBranches } from '../branches.ts';
import { findConfig } from '../config-files.ts';
import { checkHow, execute, type HowToRun } from '../execute.ts';
import { asksGit, type LoadedPlan, loadPlan } from '../load-plan.ts';
import { EXIT, showError } from '../main.ts';
import { newRunId } from '../names.ts';
import { findPlace, type Place } from '../place.ts';
import { leftState } from '../po-state.ts';
import { remoteBase, withKnownRemote } from '../remote-base.ts';
import { withoutSecrets } from '../secrets.ts';
import { branchBehind, targetIn } from '../target.ts';
import { formatOf, type WishFlags, wishesOf } from '../wishes.ts';
import { resume as resumeNewest } from './resume.ts';

export interface RunFlags extends PlanFlags, HowToRun, WishFlags {
  readonly resume?: boolean;
  readonly dryRun?: boolean;
  readonly format?: string;
  /** The plan once more, as claude-code-orchestrator's users name it. */
  readonly config?: string;
  /** Whether a todo list is run without asking. */
  readonly execute?: boolean;
  readonly yolo?: boolean;
}

/** Runs a plan, or goes on with its last run. */
export async function run(named: string | undefined, flags: RunFlags): Promise<number> {
  const path = planPath(named, flags);
  if (path === null) return resumeNewest(undefined, flags);
  const signal = new AbortController().signal;
  const place = await findPlace(flags.projectDir, signal);
  const format = formatOf(flags);
  const config = await findConfig(place, signal, { asksGit: asksGit(path, format) });
  if (config === null) return EXIT.usage;
  const from = {
    root: place.dir,
    format,
    config,
    wishes: wishesOf(flags),
  };
  const loaded = loadPlan(path, from);
  if (loaded.plan === null) return loaded.exit;
  try {
    const isAsked = flags.fromTodo !== undefined && !wantsExecution(flags, config);
    return await runLoaded({ ...loaded, path }, place, { ...flags, isAsked }, signal);
  } catch (error) {
    if (!(error instanceof OperationalError)) throw error;
    showError(error);
    return loaded.refusalExit;
  }
}

function wantsExecution({ execute, yolo }: RunFlags, { workflow }: Config): boolean {
  return execute === true || yolo === true || workflow?.mode === 'yolo';
}

async function runLoaded(
  loaded: LoadedPlan & { readonly path: string },
  place: Place,
  flags: RunFlags & { readonly isAsked: boolean },
  signal: AbortSignal,
): Promise<number> {
  const plan = adjust(loaded.plan, flags, isCoding);
  tellUnknown(loaded.plan, flags);
  if (plan.tasks.length === 0) return EXIT.ok;
  requireAbilities(plan);
  if (flags.dryRun === true) {
    tellDryRun(plan, loaded);
    return EXIT.ok;
  }
  if (flags.isAsked && flags.resume !== true) {
    tellDryRun(plan, loaded);
    if (!(await agreed(signal))) return EXIT.ok;
  }
  checkHow(plan, flags);
  if (flags.resume === true) {
    refuseChanges(flags);
    const last = lastRunOf(place, loaded.hash);
    const going = { source: loaded.plan, retry: null };
    if (last !== null) return resumeNewest(last, flags, going);
    console.error('landfast: there is no run of this plan, unchanged, to resume; it starts anew.');
    const left = loaded.format === 'po-manifest' ? leftState(loaded.path) : null;
    if (left !== null) console.error(left);
  }
  return startRun({ ...loaded, plan }, place, flags, signal);
}

const USUAL_PLAN = 'task_config.yaml';

/** The plan to run; null where none is needed because a run goes on. */
function planPath(named: string | undefined, flags: RunFlags): string | null {
  const { config, resume, fromTodo } = flags;
  if (fromTodo !== undefined) {
    if (named === undefined && config === undefined) return fromTodo;
    throw new UserError('A plan and a todo list are named.', 'Leave out one of them.');
  }
  if (named !== undefined && config !== undefined) {
    throw new UserError('Two plans are named.', `Leave out ${named} or --config ${config}.`);
  }
  const path = named ?? config;
  if (path !== undefined) return path;
  if (resume === true) return null;
  if (!existsSync(USUAL_PLAN)) {
    throw new UserError('Which plan?', 'landfast run PLAN, or landfast resume for the last run.');
  }
  console.error(`landfast: no plan is named: ${USUAL_PLAN} is run.`);
  return USUAL_PLAN;
}

/** Where it is no mistake that there is nothing to do, it is said. */
function tellUnknown({ tasks }: Plan, flags: RunFlags): void {
  const known = new Set(tasks.map(({ id }) => id));
  const unknown = (flags.tasks ?? []).filter((id) => !known.has(id));
  if (unknown.length > 0) console.error(`landfast: there is no task ${unknown.join(', ')} to run.`);
  if (tasks.length === 0) console.error('landfast: the plan has no tasks: there is nothing to do.');
}

function tellDryRun(plan: Plan, { format, preview }: LoadedPlan): void {
  const { workers } = plan.limits;
  process.stdout.write(dryRunText(plan, { format, maxWorkers: workers }));
  const lines = preview.map((line) => `${line}\n`);
  if (lines.length > 0) process.stdout.write(`\n${lines.join('')}`);
  if (plan.conventions.summary !== 'results') return;
  process.stdout.write(`\n${resultsSummary(skippedResults(plan))}`);
}

const CHANGES = [
  ['tasks', '--tasks'],
  ['agent', '--agent'],
  ['target', '--target'],
  ['split', '--split'],
  ['streams', '--streams'],
  ['onConflict', '--on-conflict'],
  ['autoApprove', '--auto-approve'],
] as const;

/** A run goes on with the plan it began with. */
function refuseChanges(flags: RunFlags): void {
  const given = CHANGES.filter(([key]) => flags[key] !== undefined).map(([, name]) => name);
  const names = flags.barriers === false ? [...given, '--no-barriers'] : given;
  if (names.length === 0) return;
  throw new UserError(
    `A run that goes on keeps its plan: ${names.join(', ')} cannot be changed.`,
    'Leave it out, or start a new run without --resume.',
  );
}

/** Starts a new run of a plan. */
export async function startRun(
  { plan: given, hash }: Pick<LoadedPlan, 'plan' | 'hash'>,
  place: Place,
  how: HowToRun,
  signal: AbortSignal,
): Promise<number> {
  const plan = await withKnownRemote(given, place, signal);
  const from = await startingPoint(plan, place, signal);
  using db = openDatabase(place.stateDir);
  const id = newRunId(new Date(), (each) => isClaimed(db, each));
  if (place.repository !== null && from.base !== null) {
    await requireFreeBranches(plan, { dir: place.dir, run: id, base: from.base }, signal);
  }
  const started: Event & { type: 'run.started' } = {
    type: 'run.started',
    plan: withoutSecrets(plan),
    planHash: hash,
    ...from,
  };
  return await execute({ place, db, run: id, plan, started, before: null, how });
}

/** The commit a run starts from and the branch it will publish to. */
async function startingPoint(
  plan: Plan,
  { repository, dir }: Place,
  signal: AbortSignal,
): Promise<{ readonly base: Sha | null; readonly target: string | null }> {
  const nowhere = { base: null, target: null };
  if (plan.tasks.every(({ mode }) => mode === 'here')) return nowhere;
  if (repository === null) {
    if (plan.tasks.every(({ mode }) => mode !== 'write')) return nowhere;
    throw new OperationalError(`${dir} is not in a git repository.`, {
      remedy: 'Tasks that write need one: git init, and a first commit; or use -C DIR.',
    });
  }
  const problem = await identityProblem(repository.commonDir, signal);
  if (problem !== null) throw new OperationalError(problem.message, { remedy: problem.remedy });
  if (plan.tasks.some(({ mode }) => mode === 'write')) await requireSignatures(repository, signal);
  if ((await readRef(repository.commonDir, 'refs/heads/landfast', signal)) !== null) {
    throw new OperationalError(
      'There is a branch called landfast, so there can be no landfast/….',
      {
        remedy: 'Rename it: git branch -m landfast landfast-old',
      },
    );
  }
  if (plan.base !== undefined) {
    const base = await remoteBase(repository, plan.base, signal);
    const target = await branchBehind(repository, plan.target ?? plan.base, signal);
    return { base, target };
  }
  return targetIn(repository, plan.target, signal);
}

/** Throws where commits are to be signed and cannot be: nothing would land. */
export async function requireSignatures(
  { commonDir }: Repository,
  signal: AbortSignal,
): Promise<void> {
  const problem = await signingProblem(commonDir, signal);
  if (problem !== null) throw new OperationalError(problem.message, { remedy: problem.remedy });
}

function lastRunOf(place: Place, hash: string): string | null {
  using db = openDatabase(place.stateDir);
  return newestRunOf(db, hash);
}
