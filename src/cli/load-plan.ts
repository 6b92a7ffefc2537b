/** From a plan file to a Plan; all of its problems at once go to standard error. */

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { UserError } from '../base/errors.ts';
import type { Plan } from '../model/plan.ts';
import type { Config } from '../plan/config/schema.ts';
import { mayAskGit } from '../plan/detect.ts';
import type { PlanInput, Wishes } from '../plan/formats/format.ts';
import { FORMATS } from '../plan/formats/index.ts';
import { parsePlan } from '../plan/parse.ts';
import { formatProblem, type Problem } from '../plan/problem.ts';

export interface LoadedPlan {
  readonly plan: Plan;
  readonly format: string;
  /** SHA-256 of the file's bytes. */
  readonly hash: string;
  /** How the format was found, one sentence a line. */
  readonly why: readonly string[];
  readonly preview: readonly string[];
  /** What was shown when it was read. */
  readonly warnings: readonly Problem[];
  /** The exit code for surroundings in which it cannot run. */
  readonly refusalExit: 1 | 2 | 3;
}

/** A text with errors, which have been shown; or one with which there is nothing to do here (0). */
export interface RefusedPlan {
  readonly plan: null;
  readonly exit: 0 | 1 | 2;
  readonly why: readonly string[];
}

/** Where a plan is read, and with what around it. */
export interface PlanSource {
  readonly root: string;
  readonly format: string | null;
  readonly config?: Config;
  readonly wishes?: Wishes;
}

const MOST_BYTES = 16 * 1024 * 1024;

/** The plan's file of a folder that is a plan as a whole. */
const FOLDER_PLAN = 'manifest.json';

/** Loads a plan, of a file or of a folder with a manifest.json, and shows what is wrong with it. */
export function loadPlan(given: string, from: PlanSource): LoadedPlan | RefusedPlan {
  if (isIdle(from.format)) return { plan: null, exit: 0, why: [] };
  const bytes = readBytes(planFile(given));
  const parsed = parsePlan(inputOf(given, from, bytes), from.format);
  const { plan, format, why, refusalExit, preview = [] } = parsed;
  if (isIdle(format)) return { plan: null, exit: 0, why };
  for (const problem of parsed.problems) console.error(formatProblem(problem));
  if (plan === null || format === null) return { plan: null, exit: refusalExit ?? 2, why };
  const hash = createHash('sha256').update(bytes).digest('hex');
  const warnings = parsed.problems;
  return { plan, format, why, hash, preview, warnings, refusalExit: refusalExit ?? 3 };
}

/** Whether reading this plan takes what git knows; what is wrong with it, `loadPlan` says. */
export function asksGit(given: string, format: string | null): boolean {
  const path = planFile(given);
  try {
    return mayAskGit({ path, text: readBytes(path).toString('utf8') }, format);
  } catch {
    return false;
  }
}

/** What a format is given to read. */
export function inputOf(
  given: string,
  from: PlanSource,
  bytes = readBytes(planFile(given)),
): PlanInput {
  const path = planFile(given);
  const folder = dirname(resolve(path));
  return {
    file: { path, text: bytes.toString('utf8') },
    directory: relative(from.root, folder).split(sep).join('/'),
    ...readerOf(folder),
    repository: { root: from.root, ...readerOf(from.root) },
    home: homedir(),
    config: from.config ?? {},
    wishes: from.wishes ?? {},
  };
}

/**
 * Whether this process is inside an agent of such a plan. Their framework sets a variable so that
 * an agent which comes across its own plan does not start all of it once more; for other plans it
 * means nothing.
 */
function isIdle(format: string | null): boolean {
  const variable = FORMATS.find(({ name }) => name === format)?.idleInside;
  return variable !== undefined && process.env[variable] === '1';
}

/** A `~/` that no shell has replaced, because it was in quotes. */
function withHome(path: string): string {
  return path.startsWith('~/') && !existsSync(path) ? join(homedir(), path.slice(2)) : path;
}

/** The file that a plan is read from. */
export function planFile(given: string): string {
  const path = withHome(given);
  const inside = join(path, FOLDER_PLAN);
  return existsSync(inside) ? inside : path;
}

function readBytes(path: string): Buffer {
  try {
    const stat = statSync(path);
    if (stat.isDirectory()) throw notAPlan(path);
    if (stat.size > MOST_BYTES) throw new UserError(`${path} is too large to be a plan.`);
    return readFileSync(path);
  } catch (error) {
    if (error instanceof UserError) throw error;
    const code = (error as NodeJS.ErrnoException).code;
    const why = code === 'ENOENT' ? 'it does not exist' : `it cannot be read (${code})`;
    throw new UserError(`No plan at ${path}: ${why}.`, 'Check the path, or see docs/formats.md.');
  }
}

function notAPlan(folder: string): UserError {
  const remedy = `Name a file, or a folder with a ${FOLDER_PLAN}.`;
  return new UserError(`${folder} is a folder, not a plan file.`, remedy);
}

function readerOf(folder: string): Pick<PlanInput, 'read' | 'list'> {
  return {
    read: (name) => readText(resolve(folder, name)),
    list: (name) => listNames(resolve(folder, name)),
  };
}

function listNames(path: string): readonly string[] {
  try {
    return readdirSync(path).sort();
  } catch {
    return [];
  }
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
