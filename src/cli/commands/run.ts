/** `landfast run`: a plan file becomes a run. */

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename } from 'node:path';
import { Option } from 'commander';
import { isCoding, requireAbilities } from '../../app/agents.ts';
import { type LoadedPlan, leftoverState, planFile, readPlan } from '../../app/load-plan.ts';
import type { Place } from '../../app/place.ts';
import {
  adjust,
  formatOf,
  type PlanChanges,
  type ReadFlags,
  readOptionsOf,
  USUAL_PLAN,
} from '../../app/plan-flags.ts';
import { lastRunOf } from '../../app/runs.ts';
import { OperationalError, UserError } from '../../base/errors.ts';
import type { Plan } from '../../model/plan.ts';
import { dryRunResults, executionSummary } from '../../report/execution-summary.ts';
import { dryRunText } from '../../report/plan-text.ts';
import { EXIT, showError } from '../exit.ts';
import {
  digits,
  howToRun,
  limitsFrom,
  list,
  optionNames,
  type Program,
  two,
  type Wrap,
} from '../options.ts';
import { isYes } from '../terminal/ask.ts';
import { type HowToRun, startRun } from '../terminal/drive.ts';
import { NEVER, placeAt } from '../terminal/host.ts';
import { resume as resumeNewest } from './resume.ts';

export function describe(program: Program, wrap: Wrap): void {
  const described = program
    .command('run')
    .argument('[plan]', 'the plan file, of any known format, or a folder with a manifest.json')
    .description('execute a plan: agents, gates, landing, publishing')
    .option('-c, --config <file>', `the plan, named by an option (default: ${USUAL_PLAN})`)
    .option('--resume', 'resume the last run of this plan instead of starting a new one');
  howToRun(described)
    .option('-y, --auto-approve', 'let agents do anything without asking')
    .option('--no-pr', 'do not ask agents to open pull requests')
    .option('-n, --dry-run', 'check the plan, show what would run, and stop')
    .option('--tasks <ids>', 'only these tasks, separated by commas', list)
    .option('--agent <name>', 'this agent for every task that has a coding agent')
    .option('--target <branch>', 'publish to this branch instead of the current one')
    .option('--format <name>', 'read the plan as this format instead of detecting it')
    .option(
      '--no-barriers',
      'start each task as soon as its dependencies are met, not wave by wave',
    )
    .addOption(
      new Option('--on-conflict <who>', 'who resolves a conflict').choices(['agent', 'fail']),
    )
    .option('-t, --from-todo <file>', 'run the open items of a todo list instead of a plan')
    .option('-e, --execute', 'run the items of a todo list without asking')
    .option('--yolo', 'the same')
    .option(
      '--split <n>',
      'run a dispatch plan as two streams, split after this many batches',
      digits,
    )
    .option('--streams <n>', 'run a dispatch plan as two streams, split in the middle', two)
    .action(wrap((plan, _, command: Program) => run(plan, command.optsWithGlobals())));
}

interface RunFlags extends PlanChanges, HowToRun, ReadFlags {
  readonly resume?: boolean;
  readonly dryRun?: boolean;
  readonly format?: string;
  /** The plan once more, as claude-code-orchestrator's users name it. */
  readonly config?: string;
  /** Whether a todo list is run without asking. */
  readonly execute?: boolean;
  readonly yolo?: boolean;
}

export async function run(named: string | undefined, flags: RunFlags): Promise<number> {
  const path = planPath(named, flags);
  if (path === null) return resumeNewest(undefined, flags);
  if (lacksTaskFile(path, flags)) return EXIT.failed;
  const place = await placeAt(flags.projectDir, NEVER);
  const reading = { format: formatOf(flags), options: readOptionsOf(flags) };
  const loaded = await readPlan(path, place, reading, NEVER);
  if (loaded === null) return EXIT.ok;
  try {
    const isAsked = flags.fromTodo !== undefined && !wantsExecution(flags, loaded);
    return await runLoaded({ ...loaded, path }, place, { ...flags, isAsked });
  } catch (error) {
    if (!(error instanceof OperationalError)) throw error;
    showError(error);
    return loaded.refusalExit;
  }
}

function wantsExecution({ execute, yolo }: RunFlags, { config }: LoadedPlan): boolean {
  const { mode, stop_after_generate: stops = true } = config.workflow ?? {};
  return execute === true || yolo === true || mode === 'yolo' || !stops;
}

/** A missing task file is what the exit code 1 means to those who have them; others say 2. */
function lacksTaskFile(path: string, { config }: RunFlags): boolean {
  const isTaskFile = config !== undefined || basename(path) === USUAL_PLAN;
  if (!isTaskFile || existsSync(planFile(path, { home: homedir() }))) return false;
  showError(new UserError(`There is no task file ${path}.`, 'Check the path, or name a plan.'));
  return true;
}

async function runLoaded(
  loaded: LoadedPlan & { readonly path: string },
  place: Place,
  flags: RunFlags & { readonly isAsked: boolean },
): Promise<number> {
  const plan = adjust(loaded.plan, { ...flags, limits: limitsFrom(flags) }, isCoding);
  tellUnknown(loaded.plan, flags);
  if (plan.tasks.length === 0) return EXIT.ok;
  requireAbilities(plan, place.host);
  if (flags.dryRun === true) {
    tellDryRun(plan, loaded);
    return EXIT.ok;
  }
  if (flags.isAsked && flags.resume !== true) {
    tellDryRun(plan, loaded);
    if (!(await isAgreed())) return EXIT.ok;
  }
  if (flags.resume === true) {
    refuseChanges(flags);
    const last = lastRunOf(place, loaded.hash);
    const going = { source: loaded.plan, retry: null };
    if (last !== null) return resumeNewest(last, flags, going);
    console.error('landfast: no earlier run of this exact plan; starting a new one.');
    const leftover = leftoverState(loaded.format, loaded.path);
    if (leftover !== null) console.error(leftover);
  }
  return startRun({ ...loaded, plan }, place, flags, NEVER);
}

/** Whether the person accepts the plan on the screen; false without a terminal. */
async function isAgreed(): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    console.error('landfast: nothing was started. Add --execute to run this plan.');
    return false;
  }
  const isWanted = await isYes('Run this plan?');
  if (!isWanted) console.error('landfast: nothing was started.');
  return isWanted;
}

/** The plan to run; null when a run is resumed. */
function planPath(named: string | undefined, flags: RunFlags): string | null {
  const { config, resume, fromTodo } = flags;
  if (fromTodo !== undefined) {
    if (named === undefined && config === undefined) return fromTodo;
    throw new UserError('Both a plan and a todo list are given.', 'Leave out one of them.');
  }
  if (named !== undefined && config !== undefined) {
    throw new UserError('Two plans are given.', `Leave out ${named} or --config ${config}.`);
  }
  const path = named ?? config;
  if (path !== undefined) return path;
  if (resume === true) return null;
  if (!existsSync(USUAL_PLAN)) {
    throw new UserError(
      'No plan given.',
      'landfast run PLAN, or landfast resume for the last run.',
    );
  }
  console.error(`landfast: no plan given; running ${USUAL_PLAN}.`);
  return USUAL_PLAN;
}

/** Where it is no mistake that there is nothing to do, it is said. */
function tellUnknown({ tasks }: Plan, flags: RunFlags): void {
  const known = new Set(tasks.map(({ id }) => id));
  const unknown = (flags.tasks ?? []).filter((id) => !known.has(id));
  if (unknown.length > 0) console.error(`landfast: there is no task ${unknown.join(', ')} to run.`);
  if (tasks.length === 0) console.error('landfast: the plan has no tasks; nothing to do.');
}

function tellDryRun(plan: Plan, { format, preview }: LoadedPlan): void {
  const { workers } = plan.limits;
  process.stdout.write(dryRunText(plan, { format, maxWorkers: workers }));
  const lines = preview.map((line) => `${line}\n`);
  if (lines.length > 0) process.stdout.write(`\n${lines.join('')}`);
  if (plan.conventions.summary !== 'results') return;
  process.stdout.write(`\n${executionSummary(dryRunResults(plan))}`);
}

const CHANGES = [
  'tasks',
  'agent',
  'target',
  'split',
  'streams',
  'onConflict',
  'autoApprove',
] as const;

/** A resumed run keeps its plan. */
function refuseChanges(flags: RunFlags): void {
  const given = optionNames(CHANGES.filter((key) => flags[key] !== undefined));
  const names = flags.barriers === false ? [...given, '--no-barriers'] : given;
  if (names.length === 0) return;
  throw new UserError(
    `A resumed run keeps its plan: ${names.join(', ')} cannot be changed.`,
    'Leave it out, or start a new run without --resume.',
  );
}
