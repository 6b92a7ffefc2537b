/**
 * `task_config.yaml` as zod sees it. Every task must say what it is, on which branch and why; what
 * is not known here is only reported (see task-config.ts): these files are written by people and
 * models.
 */

import * as z from 'zod';
import { once } from '../../once.ts';
import { branch, flag, id, text } from '../native/values.ts';

/** Models like to write an empty text for "none". */
const maybeText = once(() =>
  z.preprocess((given) => (given === '' ? null : given), text.nullable()).optional(),
);

export const taskEntrySchema = once(() =>
  z.looseObject({
    id,
    branch,
    title: text,
    description: text,
    files_hint: z.array(text).nullish(),
    test_command: maybeText(),
  }),
);

export const settingsSchema = once(() =>
  z.looseObject({
    worktree_dir: text.optional(),
    auto_cleanup: flag.optional(),
    base_branch: branch.optional(),
    destination_branch: branch.optional(),
    repo_slug: maybeText(),
  }),
);

export const taskConfigSchema = once(() =>
  z.looseObject({ settings: settingsSchema().nullish(), tasks: z.array(taskEntrySchema()) }),
);

export type TaskEntry = z.output<ReturnType<typeof taskEntrySchema>>;
export type TaskConfig = z.output<ReturnType<typeof taskConfigSchema>>;
