/**
 * Ad hoc tasks become a Plan for `landfast spawn`. Ids are unique, and derived from the text so that
 * branches and folders are recognisable; the rest is as in a native plan that has only tasks.
 */

import { type Conventions, NATIVE_CONVENTIONS, type Plan, type TaskId } from '../model/plan.ts';
import type { Config } from './config/schema.ts';
import { lower } from './formats/native/lower.ts';
import { freeId } from './task-ids.ts';

export interface Spawn {
  /** None is blank. */
  readonly prompts: readonly string[];
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
  /** False leaves the work on its branch. */
  readonly land: boolean;
  /** The folder to work in without a workspace, relative to the root; else null. */
  readonly here: string | null;
  readonly config: Config;
  /** What `~` stands for. */
  readonly home: string;
  /** Ids whose branch or folder exists already. */
  readonly taken: ReadonlySet<TaskId>;
}

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

/** Where users of claude-orchestra look for workspaces. */
const THEIR_FOLDER = '.worktrees';

/** With a prefix, branch and folder are named after the task alone. */
export function conventionsFor(prefix: string | undefined): Conventions {
  const names =
    prefix === undefined ? {} : { branch: `${prefix}/{task}`, workspace: 'task-{task}' };
  return { ...NATIVE_CONVENTIONS, commitMessage: '{title}', ...names };
}

/** An id for each text: its slug, with a number if that is taken. */
export function idsOf(
  prompts: readonly string[],
  taken: ReadonlySet<TaskId> = new Set(),
): readonly TaskId[] {
  const used = new Set(taken);
  return prompts.map((prompt) => freeId(taskSlug(prompt), used));
}

/** As claude-orchestra cuts them, also within a word. */
const SLUG_LENGTH = 50;
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
