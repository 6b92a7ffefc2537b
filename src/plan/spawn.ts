/**
 * Ad hoc tasks become a Plan: what `landfast spawn` runs. Everything else is as in a native plan
 * that says nothing but its tasks.
 *
 *   A1. Every text becomes a task, and no two have the same id, whatever the texts are.
 *   A2. An id is made of what the text says, so that its branch and folder can be recognised.
 */

import { NATIVE_CONVENTIONS, type Plan, type TaskId } from '../model/plan.ts';
import type { Config } from './config/schema.ts';
import { lower } from './formats/native/lower.ts';

export interface Spawn {
  /** What each agent is asked to do; none is blank. */
  readonly prompts: readonly string[];
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
  readonly config: Config;
  /** What `~` stands for. */
  readonly home: string;
  /** Ids that would meet a branch or a folder of an earlier run. */
  readonly taken: ReadonlySet<TaskId>;
}

/** The plan of these tasks. */
export function spawnPlan({ prompts, agent, model, config, home, taken }: Spawn): Plan {
  const ids = idsOf(prompts, taken);
  const native = {
    landfast: 1,
    defaults: { agent, model },
    tasks: ids.map((id) => ({ id })),
  } as const;
  const plan = lower(native, prompts, { name: 'spawn', config, home });
  return { ...plan, conventions: { ...NATIVE_CONVENTIONS, commitMessage: '{title}' } };
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
  return prompts.map((prompt) => {
    const slug = slugOf(prompt);
    let id = slug;
    for (let n = 2; used.has(id); n += 1) id = `${slug}-${n}`;
    used.add(id);
    return id;
  });
}

/** Users of claude-orchestra know ids of that length. */
const SLUG_LENGTH = 50;
/** More of a text than any slug can hold. */
const LOOKED_AT = 1_000;

/** Lower-case letters and digits, everything between them a `-`; `task` where there are none. */
function slugOf(text: string): string {
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
