/** The schema of `task_config.yaml`; unknown keys are only reported (task-config.ts). */

import * as z from 'zod';
import { branch, flag, id, text } from '../../native/values.ts';

/** Models like to write an empty text for "none". */
const maybeText = z.preprocess((raw) => (raw === '' ? null : raw), text.nullable()).optional();

export const taskEntrySchema = z.looseObject({
  id,
  branch,
  title: text,
  description: text,
  files_hint: z.array(text).nullish(),
  test_command: maybeText,
});

export const settingsSchema = z.looseObject({
  worktree_dir: text.optional(),
  auto_cleanup: flag.optional(),
  base_branch: branch.optional(),
  destination_branch: branch.optional(),
  repo_slug: maybeText,
});

export const taskConfigSchema = z.looseObject({
  settings: settingsSchema.nullish(),
  tasks: z.array(taskEntrySchema),
});

export type TaskEntry = z.output<typeof taskEntrySchema>;
export type TaskConfig = z.output<typeof taskConfigSchema>;
