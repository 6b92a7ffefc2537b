/** The native plan as zod sees it: every key, its kind and its bounds. Unknown keys are refused. */

import { z } from 'zod';
import {
  branch,
  choice,
  count,
  duration,
  env,
  flag,
  folder,
  id,
  money,
  permissions,
  scope,
  text,
  word,
} from './values.ts';

const texts = z.array(text);
const scopes = z.array(scope);

const forEveryTask = {
  agent: text.optional(),
  role: word.optional(),
  model: word.optional(),
  retries: count(0, 100).optional(),
  timeout: duration.optional(),
  idle: duration.optional(),
  permissions: permissions.optional(),
  env: env.optional(),
};

export const taskSchema = z.strictObject({
  id,
  prompt: text.optional(),
  prompt_file: text.optional(),
  ...forEveryTask,
  read_only: flag.optional(),
  needs: z.array(text).optional(),
  writes: scopes.optional(),
  forbids: scopes.optional(),
  checks: texts.optional(),
  group: id.optional(),
  allow_empty: flag.optional(),
  cwd: folder.optional(),
});

export const defaultsSchema = z.strictObject(forEveryTask);

export const workspaceSchema = z.strictObject({
  setup: texts.optional(),
  setup_key: scopes.optional(),
  copy: scopes.optional(),
});

export const gateSchema = z.strictObject({ name: id, run: text, timeout: duration.optional() });

export const landSchema = z.strictObject({
  strategy: choice(['merge', 'squash'], ['rebase', 'pr', 'none']).optional(),
  verify: choice(['each', 'off'], ['batch']).optional(),
  on_conflict: choice(['agent', 'fail']).optional(),
  on_gate_failure: choice(['agent', 'fail']).optional(),
  reworks: count(0, 100).optional(),
  publish: choice(['end', 'off'], ['each']).optional(),
});

export const limitsSchema = z.strictObject({
  workers: count(1, 256).optional(),
  gates: count(1, 256).optional(),
  budget_usd: money.optional(),
  groups: z.record(z.string(), count(1, 256)).optional(),
});

export const nativeSchema = z.strictObject({
  landfast: z.literal(1),
  name: text.optional(),
  target: branch.optional(),
  defaults: defaultsSchema.optional(),
  workspace: workspaceSchema.optional(),
  gates: z.array(gateSchema).optional(),
  land: landSchema.optional(),
  limits: limitsSchema.optional(),
  tasks: z.array(taskSchema).min(1),
});

export type NativePlan = z.output<typeof nativeSchema>;
export type NativeTask = z.output<typeof taskSchema>;
