/**
 * `task_config.yaml` as zod sees it. Every task must say what it is, on which branch and why; what
 * is not known here is only reported (see task-config.ts): these files are written by people and
 * models.
 */

import * as z from 'zod';
import { branch, flag, id, text } from '../native/values.ts';

/** Models like to write an empty text for "none". */
const maybeText = z.preprocess((given) => (given === '' ? null : given), text.nullable());

export const taskEntrySchema = z.looseObject({
  id,
  branch,
  title: text,
  description: text,
  files_hint: z.array(text).nullish(),
  test_command: maybeText.optional(),
});

export const settingsSchema = z.looseObject({
  worktree_dir: text.optional(),
  auto_cleanup: flag.optional(),
  base_branch: branch.optional(),
  destination_branch: branch.optional(),
  repo_slug: maybeText.optional(),
});

export const taskConfigSchema = z.looseObject({
  settings: settingsSchema.nullish(),
  tasks: z.array(taskEntrySchema),
});

export type TaskEntry = z.output<typeof taskEntrySchema>;
export type TaskConfig = z.output<typeof taskConfigSchema>;
