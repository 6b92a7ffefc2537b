/** From a plan file to a Plan; all of its problems at once go to standard error. */

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { UserError } from '../base/errors.ts';
import type { Plan } from '../model/plan.ts';
import type { Config } from '../plan/config/schema.ts';
import type { PlanInput, Wishes } from '../plan/formats/format.ts';
import { parsePlan } from '../plan/parse.ts';
import { formatProblem } from '../plan/problem.ts';

export interface LoadedPlan {
  readonly plan: Plan;
  readonly format: string;
  /** SHA-256 of the file's bytes. */
  readonly hash: string;
  /** How the format was found, one sentence a line. */
  readonly why: readonly string[];
}

/** A text with errors, which have been shown. */
export interface RefusedPlan {
  readonly plan: null;
  readonly exit: 1 | 2;
  readonly why: readonly string[];
}

const MOST_BYTES = 16 * 1024 * 1024;

/** The plan's file of a folder that is a plan as a whole. */
const FOLDER_PLAN = 'manifest.json';

/** Loads a plan, of a file or of a folder with a manifest.json, and shows what is wrong with it. */
export function loadPlan(
  given: string,
  from: {
    readonly root: string;
    readonly format: string | null;
    readonly config?: Config;
    readonly wishes?: Wishes;
  },
): LoadedPlan | RefusedPlan {
  const path = planFile(given);
  const bytes = readBytes(path);
  const folder = dirname(resolve(path));
  const parsed = parsePlan(
    {
      file: { path, text: bytes.toString('utf8') },
      directory: relative(from.root, folder).split(sep).join('/'),
      ...readerOf(folder),
      repository: { root: from.root, ...readerOf(from.root) },
      home: homedir(),
      config: from.config ?? {},
      wishes: from.wishes ?? {},
    },
    from.format,
  );
  for (const problem of parsed.problems) console.error(formatProblem(problem));
  const { plan, format, why, refusalExit = 2 } = parsed;
  if (plan === null || format === null) return { plan: null, exit: refusalExit, why };
  return { plan, format, why, hash: createHash('sha256').update(bytes).digest('hex') };
}

/** The file that a plan is read from. */
export function planFile(path: string): string {
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
