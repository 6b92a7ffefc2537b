/**
 * Ad hoc tasks become a Plan: what `landfast spawn` runs. Everything else is as in a native plan
 * that says nothing but its tasks.
 *
 *   A1. Every text becomes a task, and no two have the same id, whatever the texts are.
 *   A2. An id is made of what the text says, so that its branch and folder can be recognised.
 */

import { type Conventions, NATIVE_CONVENTIONS, type Plan, type TaskId } from '../model/plan.ts';
import type { Config } from './config/schema.ts';
import { lower } from './formats/native/lower.ts';
import { freeId } from './slug.ts';

export interface Spawn {
  /** What each agent is asked to do; none is blank. */
  readonly prompts: readonly string[];
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
  /** False where the work is to stay on its branch. */
  readonly land: boolean;
  /** The folder to work in where no workspace is wanted, relative to the root; else null. */
  readonly here: string | null;
  readonly config: Config;
  /** What `~` stands for. */
  readonly home: string;
  /** Ids that would meet a branch or a folder of an earlier run. */
  readonly taken: ReadonlySet<TaskId>;
}

/** The plan of these tasks. */
export function spawnPlan(spawn: Spawn): Plan {
  const { prompts, agent, model, land, here, config, home } = spawn;
  const place = here === null ? {} : { here: true, cwd: here };
  const tasks = idsOf(prompts, spawn.taken).map((id) => ({ id, ...place }));
  const native = { landfast: 1, defaults: { agent, model }, tasks } as const;
  const plan = lower(native, prompts, { name: 'spawn', config, home });
  const { branch_prefix: prefix } = config;
  const stays = !land || (prefix !== undefined && config.land === undefined);
  return {
    ...plan,
    landing: stays ? { ...plan.landing, strategy: 'none' } : plan.landing,
    workspace: prefix === undefined ? plan.workspace : { dir: THEIR_FOLDER, ...plan.workspace },
    conventions: conventionsFor(prefix),
  };
}

/** Where users of claude-orchestra find workspaces, unless their configuration says otherwise. */
const THEIR_FOLDER = '.worktrees';

/** Whoever names a prefix wants to find branch and folder by the task alone. */
export function conventionsFor(prefix: string | undefined): Conventions {
  const names =
    prefix === undefined ? {} : { branch: `${prefix}/{task}`, workspace: 'task-{task}' };
  return { ...NATIVE_CONVENTIONS, commitMessage: '{title}', ...names };
}

/** What a text is split into where it comes from a file: one task a line. */
export function tasksIn(text: string): readonly string[] {
  return text
    .split(/\r\n|\r|\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** An id for each text, in their order: its slug, with a number where that is taken. */
export function idsOf(
  prompts: readonly string[],
  taken: ReadonlySet<TaskId> = new Set(),
): readonly TaskId[] {
  const used = new Set(taken);
  return prompts.map((prompt) => freeId(taskSlug(prompt), used));
}

/** Users of claude-orchestra know ids of that length, cut wherever it ends. */
const SLUG_LENGTH = 50;
/** More of a text than any slug can hold. */
const LOOKED_AT = 1_000;

/** Lower-case letters and digits, everything between them a `-`; `task` where there are none. */
function taskSlug(text: string): string {
  const slug = text
    .trim()
    .slice(0, LOOKED_AT)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '-')
    .replace(/^[-_]+/, '')
    .slice(0, SLUG_LENGTH)
    .replace(/-+$/, '');
  return slug === '' ? 'task' : slug;
}
