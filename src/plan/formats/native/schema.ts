/** The native plan as zod sees it: every key, its kind and its bounds. Unknown keys are refused. */

import * as z from 'zod';
import { coneFolder, sparse } from './cone.ts';
import { conventionsSchema, retrySchema } from './conventions.ts';
import { failureSchema } from './failures.ts';
import { room, size } from './size.ts';
import {
  anyFolder,
  branch,
  choice,
  count,
  duration,
  env,
  envName,
  flag,
  folder,
  httpUrl,
  id,
  keep,
  load,
  money,
  network,
  offOrDuration,
  permissions,
  place,
  program,
  scope,
  text,
  webhookUrl,
  word,
} from './values.ts';

const texts = z.array(text);
const scopes = z.array(scope);

export const toolsSchema = z.strictObject({
  permission_mode: permissions.optional(),
  skip_permissions: flag.optional(),
  allowed_cli: z.array(program).optional(),
  allowed_tools: z.array(text).optional(),
  disallowed_tools: z.array(text).optional(),
  add_dirs: z.array(anyFolder).optional(),
});

/** A program to start, or an address to call. */
const mcpServerSchema = z
  .strictObject({
    command: z.array(text).min(1).optional(),
    env: env.optional(),
    url: httpUrl.optional(),
  })
  .refine(({ command, url }) => (command === undefined) !== (url === undefined), {
    params: { message: 'a server has either a command or a url' },
  });

/** Who does a task when those before cannot. */
const fallbackSchema = z.strictObject({ agent: text, model: word.optional() });

const forEveryTask = {
  agent: text.optional(),
  role: word.optional(),
  model: word.optional(),
  fallbacks: z.array(fallbackSchema).max(10).optional(),
  retries: count(0, 100).optional(),
  timeout: duration.optional(),
  idle: duration.optional(),
  permissions: permissions.optional(),
  env: env.optional(),
  pass_env: z.array(envName).optional(),
  tools: toolsSchema.optional(),
  mcp: z.record(z.string(), mcpServerSchema).optional(),
  max_turns: count(1, 10_000).optional(),
  budget_usd: money.optional(),
  estimate_usd: money.optional(),
  command: z.array(text).min(1).optional(),
  prompt_as: choice(['stdin', 'argument']).optional(),
  retry: retrySchema.optional(),
  allow_empty: flag.optional(),
  outside: choice(['fail', 'report']).optional(),
  answer: choice(['free', 'status-line', 'status-word', 'completion']).optional(),
  rules: choice(['own']).optional(),
};

export const taskSchema = z.strictObject({
  id,
  title: text.optional(),
  prompt: text.optional(),
  prompt_file: text.optional(),
  ...forEveryTask,
  read_only: flag.optional(),
  here: flag.optional(),
  branch: branch.optional(),
  commit_message: text.optional(),
  wave: count(1, 100_000).optional(),
  needs: z.array(text).optional(),
  fork: id.optional(),
  hears: z.array(text).optional(),
  writes: scopes.optional(),
  forbids: scopes.optional(),
  checks: texts.optional(),
  group: id.optional(),
  independent: flag.optional(),
  schema: z.record(z.string(), z.unknown()).optional(),
  cwd: folder.optional(),
});

export const defaultsSchema = z.strictObject(forEveryTask);

/** A folder of the user's that is laid into every workspace. */
const injectSchema = z.strictObject({
  from: place,
  to: scope,
  skip: texts.optional(),
  blank: texts.optional(),
});

export const workspaceSchema = z.strictObject({
  setup: texts.optional(),
  setup_key: scopes.optional(),
  copy: scopes.optional(),
  dir: place.optional(),
  keep: keep.optional(),
  exclude: texts.optional(),
  pool: count(0, 256).optional(),
  pool_disk: size.optional(),
  keep_files: texts.optional(),
  seed: texts.optional(),
  seed_by: choice(['auto', 'copy', 'link']).optional(),
  seed_most: count(1, 64).optional(),
  seed_disk: size.optional(),
  sparse: sparse.optional(),
  sparse_also: z.array(coneFolder).optional(),
  inject: z.array(injectSchema).optional(),
});

export const gateSchema = z.strictObject({
  name: id,
  run: text,
  timeout: duration.optional(),
  retries: count(0, 10).optional(),
  paths: scopes.optional(),
  env: env.optional(),
  quarantine: flag.optional(),
  sees: choice(['tree', 'commit']).optional(),
});

/** Files that a command makes anew instead of a merge. */
const regenerateSchema = z.strictObject({
  paths: scopes.min(1),
  run: text,
  timeout: duration.optional(),
});

export const landSchema = z.strictObject({
  strategy: choice(['merge', 'squash', 'rebase', 'none'], ['pr']).optional(),
  verify: choice(['each', 'batch', 'off']).optional(),
  on_conflict: choice(['agent', 'fail']).optional(),
  on_gate_failure: choice(['agent', 'fail']).optional(),
  reworks: count(0, 100).optional(),
  publish: choice(['end', 'each', 'off']).optional(),
  trailers: choice(['on', 'off']).optional(),
  remember: choice(['on', 'off']).optional(),
  regenerate: z.array(regenerateSchema).optional(),
  fingerprint: texts.optional(),
  radar: offOrDuration.optional(),
  push: word.optional(),
});

export const limitsSchema = z.strictObject({
  workers: count(1, 256).optional(),
  gates: count(1, 256).optional(),
  budget_usd: money.optional(),
  disk: room.optional(),
  disk_free: size.optional(),
  memory_per_attempt: size.optional(),
  load: load.optional(),
  groups: z.record(z.string(), count(1, 256)).optional(),
});

/** What the fence of `sandbox` lets through. */
export const fenceSchema = z.strictObject({
  network: network.optional(),
  caches: z.array(anyFolder).optional(),
});

const occasion = choice(['finished', 'failed', 'person', 'limit']);
const WAYS = ['webhook', 'command', 'desktop', 'bell'] as const;

/** Who is told of what: one way each. */
export const notifySchema = z
  .strictObject({
    on: z.array(occasion).min(1).optional(),
    webhook: webhookUrl.optional(),
    command: text.optional(),
    desktop: z.literal(true).optional(),
    bell: z.literal(true).optional(),
  })
  .refine((entry) => WAYS.filter((way) => entry[way] !== undefined).length === 1, {
    params: { message: `a notification has exactly one of ${WAYS.join(', ')}` },
  });

export const nativeSchema = z.strictObject({
  landfast: z.literal(1),
  name: text.optional(),
  base: branch.optional(),
  target: branch.optional(),
  defaults: defaultsSchema.optional(),
  workspace: workspaceSchema.optional(),
  gates: z.array(gateSchema).optional(),
  land: landSchema.optional(),
  limits: limitsSchema.optional(),
  sandbox: choice(['off', 'on', 'require']).optional(),
  fence: fenceSchema.optional(),
  notify: z.array(notifySchema).optional(),
  failures: z.array(failureSchema).max(100).optional(),
  conventions: conventionsSchema.optional(),
  tasks: z.array(taskSchema).min(1),
});

export type NativePlan = z.output<typeof nativeSchema>;
export type NativeTask = z.output<typeof taskSchema>;
