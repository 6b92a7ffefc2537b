/** The schema of the native plan; unknown keys are refused. */

import * as z from 'zod';
import { closest } from '../../../base/closest.ts';
import { UNAVAILABLE_STRATEGIES } from '../../../forge/forge.ts';
import { TEMPLATE_KEYS } from '../../../model/names.ts';
import {
  agent,
  anyFolder,
  branch,
  choice,
  coneFolder,
  count,
  duration,
  env,
  envName,
  factor,
  flag,
  folder,
  httpUrl,
  id,
  inQuotes,
  keep,
  load,
  money,
  network,
  offOrDuration,
  pathRefusal,
  pause,
  permissions,
  place,
  program,
  type Refusal,
  room,
  scope,
  size,
  sparse,
  text,
  textValue,
  value,
  webhookUrl,
  word,
} from './values.ts';

/** A branch with `{run}`, `{task}` and `{hash}` in it; each task needs one of its own. */
const branchTemplate = value({ type: 'string', pattern: '\\{task\\}' }, (raw, refuse) => {
  const isBranch = branch.safeParse(raw).success && String(raw).includes('{task}');
  if (!isBranch) return refuse({ expected: 'the name of a branch with {task} in it' });
  const unknown = unknownKey(String(raw), TEMPLATE_KEYS.branch);
  return unknown === null ? String(raw) : refuse(unknown);
});

function unknownKey(template: string, known: readonly string[]): Refusal | null {
  const names = [...template.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
  const wrong = names.find((name) => !known.includes(name));
  if (wrong === undefined) return null;
  const guess = closest(wrong, known);
  const list = `known keys: ${known.map((name) => `{${name}}`).join(', ')}`;
  const remedy = guess === null ? list : `did you mean {${guess}}? ${list}`;
  return { message: `unknown key {${wrong}}`, remedy };
}

function messageTemplate(known: readonly string[]) {
  return textValue((raw) => unknownKey(raw, known));
}

/** A folder with `{run}`, `{task}` and `{branch}` in it. */
const folderTemplate = value(
  { type: 'string', pattern: '\\{(?:task|branch)\\}' },
  (raw, refuse) => {
    const isOwn = typeof raw === 'string' && /\{(?:task|branch)\}/.test(raw);
    if (!isOwn) return refuse({ expected: 'a folder with {task} or {branch} in it' });
    const wrong = pathRefusal(raw) ?? unknownKey(raw, TEMPLATE_KEYS.workspace);
    return wrong === null ? raw : refuse(wrong);
  },
);

const exitCode = value({ type: 'integer', minimum: 1, maximum: 3 }, (raw, refuse): 1 | 3 =>
  raw === 1 || raw === 3 ? raw : refuse({ expected: '1 or 3' }),
);

const conventionsSchema = z.strictObject({
  branch: branchTemplate.optional(),
  workspace: folderTemplate.optional(),
  commit_message: messageTemplate(TEMPLATE_KEYS.commitMessage).optional(),
  merge_message: messageTemplate(TEMPLATE_KEYS.mergeMessage).optional(),
  conflict_exit: exitCode.optional(),
  summary: choice(['report', 'lines', 'results', 'streams']).optional(),
  no_tasks: choice(['error', 'notice']).optional(),
  edits: choice(['any', 'apart', 'none']).optional(),
  logs: z.strictObject({ dir: place, style: choice(['streams', 'story', 'result']) }).optional(),
  reports: z
    .array(
      z.strictObject({
        path: place,
        style: choice(['results', 'waves-json', 'waves-text']),
        subject: text.optional(),
      }),
    )
    .optional(),
});

const retrySchema = z.strictObject({
  pause: pause.optional(),
  factor: factor.optional(),
  session: choice(['resumed', 'new']).optional(),
  after_timeout: flag.optional(),
});

/** A regular expression that does not match the empty text. */
const pattern = value({ type: 'string', pattern: '\\S' }, (raw, refuse) => {
  if (typeof raw !== 'string' || raw.trim() === '') {
    return refuse({ expected: 'a regular expression', ...inQuotes(raw) });
  }
  const wrong = problemOf(raw);
  return wrong === null ? raw : refuse({ message: `not a regular expression: ${wrong}` });
});

const failureSchema = z.strictObject({
  match: pattern,
  kind: choice(['transient', 'rate-limited', 'permanent', 'auth', 'billing']),
  agent: agent.optional(),
});

function problemOf(source: string): string | null {
  try {
    return new RegExp(source, 'i').test('') ? 'it matches everything' : null;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return error.message.replace(/^Invalid regular expression: /, '');
  }
}

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

const mcpServerSchema = z
  .strictObject({
    command: z.array(text).min(1).optional(),
    env: env.optional(),
    url: httpUrl.optional(),
  })
  .refine(({ command, url }) => (command === undefined) !== (url === undefined), {
    params: { message: 'a server has either a command or a url' },
  });

const fallbackSchema = z.strictObject({ agent, model: word.optional() });

const forEveryTask = {
  agent: agent.optional(),
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
  answer: choice(['free', 'status-line', 'status-word', 'completion', 'marker']).optional(),
  rules: choice(['own']).optional(),
};

const taskSchema = z.strictObject({
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

const injectSchema = z.strictObject({
  from: place,
  to: scope,
  skip: texts.optional(),
  blank: texts.optional(),
});

const workspaceSchema = z.strictObject({
  setup: texts.optional(),
  setup_key: scopes.optional(),
  copy: scopes.optional(),
  dir: place.optional(),
  keep: keep.optional(),
  salvage: folder.optional(),
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

const gateSchema = z.strictObject({
  name: id,
  run: text,
  timeout: duration.optional(),
  retries: count(0, 10).optional(),
  paths: scopes.optional(),
  env: env.optional(),
  quarantine: flag.optional(),
  sees: choice(['tree', 'commit']).optional(),
  base: choice(['red']).optional(),
});

const regenerateSchema = z.strictObject({
  paths: scopes.min(1),
  run: text,
  timeout: duration.optional(),
});

const landSchema = z.strictObject({
  strategy: choice(['merge', 'squash', 'rebase', 'none'], UNAVAILABLE_STRATEGIES).optional(),
  verify: choice(['each', 'batch', 'off']).optional(),
  on_conflict: choice(['agent', 'fail', 'hold']).optional(),
  order: choice(['ready', 'plan']).optional(),
  on_gate_failure: choice(['agent', 'fail']).optional(),
  on_semantic: choice(['agent', 'warn', 'fail']).optional(),
  gate_order: choice(['cheapest', 'listed']).optional(),
  reworks: count(0, 100).optional(),
  publish: choice(['end', 'each', 'ask', 'off']).optional(),
  trailers: choice(['on', 'off']).optional(),
  remember: choice(['on', 'off']).optional(),
  regenerate: z.array(regenerateSchema).optional(),
  fingerprint: texts.optional(),
  radar: offOrDuration.optional(),
  push: word.optional(),
});

const limitsSchema = z.strictObject({
  workers: count(1, 256).optional(),
  gates: count(1, 256).optional(),
  budget_usd: money.optional(),
  disk: room.optional(),
  disk_free: size.optional(),
  memory_per_attempt: size.optional(),
  load: load.optional(),
  groups: z.record(z.string(), count(1, 256)).optional(),
});

const fenceSchema = z.strictObject({
  network: network.optional(),
  caches: z.array(anyFolder).optional(),
});

const occasion = choice(['finished', 'failed', 'person', 'limit']);
const WAYS = ['webhook', 'command', 'desktop', 'bell'] as const;

const notifySchema = z
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

/** What a plan and a configuration can both say. */
export const sharedSections = {
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
};

export const nativeSchema = z.strictObject({
  landfast: z.literal(1),
  name: text.optional(),
  base: branch.optional(),
  ...sharedSections,
  conventions: conventionsSchema.optional(),
  tasks: z.array(taskSchema).min(1),
});

/** A native plan after its check: durations are in milliseconds, sizes in bytes. */
export type CheckedPlan = z.output<typeof nativeSchema>;
export type CheckedTask = z.output<typeof taskSchema>;
