/** The schema of the native plan; unknown keys are refused. */

import * as z from 'zod';
import { closest } from '../../../base/closest.ts';
import { UNAVAILABLE_STRATEGIES } from '../../../forge/forge.ts';
import { TEMPLATE_KEYS } from '../../../model/names.ts';
import * as kind from './values.ts';

const { agent, choice, count, duration, env, flag, id, text, word } = kind;

const texts = z.array(text);
const scopes = z.array(kind.scope);

/** A mapping of which every key may be absent. */
export function section<T extends z.ZodRawShape>(keys: T) {
  return z.strictObject(keys).partial();
}

/** A branch with `{run}`, `{task}` and `{hash}` in it; each task needs one of its own. */
const branchTemplate = kind.checked({ type: 'string', pattern: '\\{task\\}' }, (raw) => {
  const isBranch = kind.branch.safeParse(raw).success && String(raw).includes('{task}');
  if (!isBranch) return { expected: 'the name of a branch with {task} in it' };
  return unknownKey(String(raw), TEMPLATE_KEYS.branch);
});

/** A folder with `{run}`, `{task}` and `{branch}` in it. */
const folderTemplate = kind.checked({ type: 'string', pattern: '\\{(?:task|branch)\\}' }, (raw) => {
  const isOwn = typeof raw === 'string' && /\{(?:task|branch)\}/.test(raw);
  if (!isOwn) return { expected: 'a folder with {task} or {branch} in it' };
  return kind.pathRefusal(raw) ?? unknownKey(raw, TEMPLATE_KEYS.workspace);
});

function messageTemplate(known: readonly string[]) {
  return kind.textValue((raw) => unknownKey(raw, known));
}

function unknownKey(template: string, known: readonly string[]): kind.Refusal | null {
  const names = [...template.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
  const wrong = names.find((name) => !known.includes(name));
  if (wrong === undefined) return null;
  const guess = closest(wrong, known);
  const list = `known keys: ${known.map((name) => `{${name}}`).join(', ')}`;
  const remedy = guess === null ? list : `did you mean {${guess}}? ${list}`;
  return { message: `unknown key {${wrong}}`, remedy };
}

const exitCode = kind.value({ type: 'integer', minimum: 1, maximum: 3 }, (raw, refuse): 1 | 3 =>
  raw === 1 || raw === 3 ? raw : refuse({ expected: '1 or 3' }),
);

export const conventionsSchema = section({
  branch: branchTemplate,
  workspace: folderTemplate,
  commit_message: messageTemplate(TEMPLATE_KEYS.commitMessage),
  merge_message: messageTemplate(TEMPLATE_KEYS.mergeMessage),
  conflict_exit: exitCode,
  summary: choice(['report', 'lines', 'results', 'streams']),
  no_tasks: choice(['error', 'notice']),
  edits: choice(['any', 'apart', 'none']),
  logs: z.strictObject({ dir: kind.place, style: choice(['streams', 'story', 'result']) }),
  reports: z.array(
    z.strictObject({
      path: kind.place,
      style: choice(['results', 'waves-json', 'waves-text']),
      subject: text.optional(),
    }),
  ),
});

/** A regular expression that does not match the empty text. */
const pattern = kind.checked({ type: 'string', pattern: '\\S' }, (raw) => {
  if (typeof raw !== 'string' || raw.trim() === '') {
    return { expected: 'a regular expression', ...kind.inQuotes(raw) };
  }
  const wrong = patternProblem(raw);
  return wrong === null ? null : { message: `not a regular expression: ${wrong}` };
});

function patternProblem(source: string): string | null {
  try {
    return new RegExp(source, 'i').test('') ? 'it matches everything' : null;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return error.message.replace(/^Invalid regular expression: /, '');
  }
}

const failureSchema = z.strictObject({
  match: pattern,
  kind: choice(['transient', 'rate-limited', 'permanent', 'auth', 'billing']),
  agent: agent.optional(),
});

export const toolsSchema = section({
  permission_mode: kind.permissions,
  skip_permissions: flag,
  allowed_cli: z.array(kind.program),
  allowed_tools: texts,
  disallowed_tools: texts,
  add_dirs: z.array(kind.anyFolder),
});

const mcpServerSchema = section({ command: texts.min(1), env, url: kind.httpUrl }).refine(
  ({ command, url }) => (command === undefined) !== (url === undefined),
  { params: { message: 'a server has either a command or a url' } },
);

export const retrySchema = section({
  pause: kind.pause,
  factor: kind.factor,
  session: choice(['resumed', 'new']),
  after_timeout: flag,
});

export const defaultsSchema = section({
  agent,
  role: word,
  model: word,
  fallbacks: z.array(z.strictObject({ agent, model: word.optional() })).max(10),
  retries: count(0, 100),
  timeout: duration,
  idle: duration,
  permissions: kind.permissions,
  env,
  pass_env: z.array(kind.envName),
  tools: toolsSchema,
  mcp: z.record(z.string(), mcpServerSchema),
  max_turns: count(1, 10_000),
  budget_usd: kind.money,
  estimate_usd: kind.money,
  command: texts.min(1),
  prompt_as: choice(['stdin', 'argument']),
  retry: retrySchema,
  allow_empty: flag,
  outside: choice(['fail', 'report']),
  answer: choice(['free', 'status-line', 'status-word', 'completion', 'marker']),
  rules: choice(['own']),
});

const taskSchema = z.strictObject({
  id,
  ...section({ title: text, prompt: text, prompt_file: text }).shape,
  ...defaultsSchema.shape,
  ...section({
    read_only: flag,
    here: flag,
    branch: kind.branch,
    commit_message: text,
    wave: count(1, 100_000),
    needs: texts,
    fork: id,
    hears: texts,
    writes: scopes,
    forbids: scopes,
    checks: texts,
    group: id,
    independent: flag,
    schema: z.record(z.string(), z.unknown()),
    cwd: kind.folder,
  }).shape,
});

const injectSchema = z.strictObject({
  from: kind.place,
  to: kind.scope,
  skip: texts.optional(),
  blank: texts.optional(),
});

export const workspaceSchema = section({
  setup: texts,
  setup_key: scopes,
  copy: scopes,
  dir: kind.place,
  keep: kind.keep,
  salvage: kind.folder,
  exclude: texts,
  pool: count(0, 256),
  pool_disk: kind.size,
  keep_files: texts,
  seed: texts,
  seed_by: choice(['auto', 'copy', 'link']),
  seed_most: count(1, 64),
  seed_disk: kind.size,
  sparse: kind.sparse,
  sparse_also: z.array(kind.coneFolder),
  inject: z.array(injectSchema),
});

export const gateSchema = z.strictObject({
  name: id,
  run: text,
  ...section({
    timeout: duration,
    retries: count(0, 10),
    paths: scopes,
    env,
    quarantine: flag,
    sees: choice(['tree', 'commit']),
    base: choice(['red']),
  }).shape,
});

export const regenerateSchema = z.strictObject({
  paths: scopes.min(1),
  run: text,
  timeout: duration.optional(),
});

export const landSchema = section({
  strategy: choice(['merge', 'squash', 'rebase', 'none'], UNAVAILABLE_STRATEGIES),
  verify: choice(['each', 'batch', 'off']),
  on_conflict: choice(['agent', 'fail', 'hold']),
  order: choice(['ready', 'plan']),
  on_gate_failure: choice(['agent', 'fail']),
  on_semantic: choice(['agent', 'warn', 'fail']),
  gate_order: choice(['cheapest', 'listed']),
  reworks: count(0, 100),
  publish: choice(['end', 'each', 'ask', 'off']),
  trailers: choice(['on', 'off']),
  remember: choice(['on', 'off']),
  regenerate: z.array(regenerateSchema),
  fingerprint: texts,
  radar: kind.offOrDuration,
  push: word,
});

export const limitsSchema = section({
  workers: count(1, 256),
  gates: count(1, 256),
  budget_usd: kind.money,
  disk: kind.room,
  disk_free: kind.size,
  memory_per_attempt: kind.size,
  load: kind.load,
  groups: z.record(z.string(), count(1, 256)),
});

const WAYS = ['webhook', 'command', 'desktop', 'bell'] as const;

const notifySchema = section({
  on: z.array(choice(['finished', 'failed', 'person', 'limit'])).min(1),
  webhook: kind.webhookUrl,
  command: text,
  desktop: z.literal(true),
  bell: z.literal(true),
}).refine((entry) => WAYS.filter((way) => entry[way] !== undefined).length === 1, {
  params: { message: `a notification has exactly one of ${WAYS.join(', ')}` },
});

/** What a plan and a configuration can both say. */
export const sharedSections = section({
  target: kind.branch,
  defaults: defaultsSchema,
  workspace: workspaceSchema,
  gates: z.array(gateSchema),
  land: landSchema,
  limits: limitsSchema,
  sandbox: choice(['off', 'on', 'require']),
  fence: section({ network: kind.network, caches: z.array(kind.anyFolder) }),
  notify: z.array(notifySchema),
  failures: z.array(failureSchema).max(100),
}).shape;

export const nativeSchema = z.strictObject({
  landfast: z.literal(1),
  name: text.optional(),
  base: kind.branch.optional(),
  ...sharedSections,
  conventions: conventionsSchema.optional(),
  tasks: z.array(taskSchema).min(1),
});

/** A native plan after its check: durations are in milliseconds, sizes in bytes. */
export type CheckedPlan = z.output<typeof nativeSchema>;
export type CheckedTask = z.output<typeof taskSchema>;
