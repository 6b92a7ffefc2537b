/** From a plan file to a Plan, or to all of its problems at once. */

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, relative, resolve, sep } from 'node:path';
import { rethrowBug, UserError } from '../base/errors.ts';
import type { Plan } from '../model/plan.ts';
import type { Config } from '../plan/config/schema.ts';
import type { PlanInput, ReadOptions } from '../plan/formats/format.ts';
import { formatNamed } from '../plan/formats/index.ts';
import { mayAskGit, parsePlan } from '../plan/parse.ts';
import { formatProblem, type Problem } from '../plan/problem.ts';
import { nameList } from '../report/format.ts';
import { brief } from '../report/sanitize.ts';
import { findConfig } from './config-files.ts';
import type { Host, Place } from './place.ts';
import { ProblemsError } from './problems.ts';

export interface LoadedPlan {
  readonly plan: Plan;
  readonly format: string;
  /** SHA-256 of the file's path and bytes: another file is another plan. */
  readonly hash: string;
  /** How the format was found, one sentence a line. */
  readonly why: readonly string[];
  readonly preview: readonly string[];
  /** What may be meant otherwise; it runs nevertheless. */
  readonly problems: readonly Problem[];
  /** The exit code for surroundings in which it cannot run. */
  readonly refusalExit: 1 | 2 | 3;
  /** What is configured where it was read. */
  readonly config: Config;
}

export interface PlanSource {
  readonly host: Host;
  readonly root: string;
  readonly format: string | null;
  readonly config?: Config;
  readonly options?: ReadOptions;
}

const MOST_BYTES = 16 * 1024 * 1024;

/** The plan's file of a folder that is a plan as a whole. */
const FOLDER_PLAN = 'manifest.json';

/**
 * Loads a plan from a file, or from a folder with a manifest.json. Throws all problems of a plan that
 * cannot run; null inside an agent of the same plan, where nothing is to be started.
 */
export function loadPlan(given: string, from: PlanSource): LoadedPlan | null {
  const { host, config = {} } = from;
  if (isIdle(from.format, host)) return null;
  const path = planFile(given, host);
  const bytes = readBytes(path);
  const parsed = parsePlan(inputOf(given, from, bytes), from.format);
  const { plan, format, why, problems, refusalExit, preview = [] } = parsed;
  if (isIdle(format, host)) return null;
  if (plan === null || format === null) {
    throw new ProblemsError(problems, { exitCode: refusalExit === 1 ? 1 : 2, why });
  }
  for (const problem of problems) host.problem(formatProblem(problem));
  const place = relative(from.root, resolve(host.cwd, path));
  const hash = createHash('sha256').update(`${place}\0`).update(bytes).digest('hex');
  return { plan, format, why, hash, preview, problems, refusalExit: refusalExit ?? 3, config };
}

/** Loads a plan with what is configured in its place. */
export async function readPlan(
  path: string,
  place: Place,
  { format = null, options = {} }: Partial<Pick<PlanSource, 'format' | 'options'>>,
  signal: AbortSignal,
): Promise<LoadedPlan | null> {
  const { dir: root, host } = place;
  const config = await findConfig(place, signal, { asksGit: asksGit(path, format, host) });
  return loadPlan(path, { root, host, format, config, options });
}

/** Whether a user means a folder that is a plan, and not a run. */
export function isPlanFolder(name: string | undefined, { host }: Place): name is string {
  return name !== undefined && planFile(name, host) !== name && existsSync(planFile(name, host));
}

/** Whether reading this plan takes what git knows; what is wrong with it, `loadPlan` says. */
function asksGit(given: string, format: string | null, host: Host): boolean {
  const path = planFile(given, host);
  try {
    return mayAskGit({ path, text: readBytes(path).toString('utf8') }, format);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return false;
  }
}

export function inputOf(
  given: string,
  from: PlanSource,
  bytes = readBytes(planFile(given, from.host)),
): PlanInput {
  const path = planFile(given, from.host);
  const folder = dirname(resolve(from.host.cwd, path));
  return { file: { path, text: bytes.toString('utf8') }, ...inputAround(folder, from) };
}

/** What lies around a plan in a folder. */
export function inputAround(folder: string, from: PlanSource): Omit<PlanInput, 'file'> {
  return {
    directory: relative(from.root, folder).split(sep).join('/'),
    ...readerOf(folder),
    repository: { root: from.root, ...readerOf(from.root) },
    home: from.host.home,
    config: from.config ?? {},
    options: from.options ?? {},
  };
}

/**
 * Whether this process is inside an agent of such a plan. Their framework sets a variable so that
 * an agent which comes across its own plan does not start all of it once more; for other plans it
 * means nothing.
 */
function isIdle(format: string | null, { env }: Host): boolean {
  const variable = format === null ? undefined : formatNamed(format)?.idleInside;
  return variable !== undefined && env[variable] === '1';
}

export function planFile(given: string, { home }: Pick<Host, 'home'>): string {
  // No shell has replaced a `~/` that was in quotes.
  const isHome = given.startsWith('~/') && !existsSync(given);
  const path = isHome ? join(home, given.slice(2)) : given;
  const inside = join(path, FOLDER_PLAN);
  return existsSync(inside) ? inside : path;
}

function readBytes(path: string): Buffer {
  try {
    const stat = statSync(path);
    if (stat.isDirectory()) {
      const remedy = `Name a file, or a folder with a ${FOLDER_PLAN}.`;
      throw new UserError(`${path} is a folder, not a plan file.`, remedy);
    }
    if (stat.size > MOST_BYTES) throw new UserError(`${path} is too large to be a plan.`);
    return readFileSync(path);
  } catch (error) {
    if (error instanceof UserError) throw error;
    const code = (error as NodeJS.ErrnoException).code;
    const why = code === 'ENOENT' ? 'it does not exist' : `it cannot be read (${code})`;
    const remedy = "Check the path, or see docs/formats.md in landfast's package.";
    throw new UserError(`No plan at ${path}: ${why}.`, remedy);
  }
}

function readerOf(folder: string): Pick<PlanInput, 'read' | 'list'> {
  return {
    read: (name) => readable(() => readFileSync(resolve(folder, name), 'utf8')),
    list: (name) => readable(() => readdirSync(resolve(folder, name)).sort()) ?? [],
  };
}

/** Null for what cannot be read, or cannot even be a path. */
function readable<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    rethrowBug(error);
    return null;
  }
}

const MOST_STATE_BYTES = 1024 * 1024;

/**
 * A sentence about the state that the tool of a format left beside a plan; null where there is none.
 * It does not say whether the branches of completed tasks are merged, so everything runs.
 */
export function leftoverState(format: string, plan: string): string | null {
  const leftover = formatNamed(format)?.leftover;
  if (leftover === undefined) return null;
  const name = leftover.fileFor(basename(plan, extname(plan)));
  const file = join(dirname(plan), name);
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  if (size === undefined) return null;
  const done = size > MOST_STATE_BYTES ? null : leftover.completedIn(readFileSync(file, 'utf8'));
  const what =
    done === null
      ? 'it cannot be read'
      : `its completed tasks (${brief(nameList(done, 10), 300) || 'none'}) run again`;
  return `landfast: ${name} of ${leftover.tool} is not used: ${what}.`;
}
