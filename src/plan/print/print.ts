/**
 * A Plan as the text of a native plan, for people: defaults are left out, and what all tasks share is
 * said once. Read again, without a configuration, the text gives the same Plan.
 */

import { Document, isMap, isScalar, isSeq, type Node, type Pair, type Scalar, visit } from 'yaml';
import {
  type AgentOptions,
  type InjectSpec,
  type McpServer,
  type NotifySpec,
  type Plan,
  type TaskSpec,
  usesCheckout,
} from '../../model/plan.ts';
import { lower } from '../formats/native/lower.ts';
import { fromPlan, type Keys } from '../formats/native/names.ts';
import * as schema from '../formats/native/schema.ts';
import { durationText } from '../formats/native/values.ts';

export interface Printing {
  /** Comments at the top. */
  readonly notes?: readonly string[];
  /** Comments above keys of the top level. */
  readonly comments?: Readonly<Record<string, string>>;
  /** Print defaults too, so that no configuration can change them. */
  readonly isFull?: boolean;
}

export function printPlan(plan: Plan, printing: Printing = {}): string {
  const usual = printing.isFull === true ? {} : sectionKeys(BARE);
  const usualTask = printing.isFull === true ? {} : taskKeys(BARE.tasks[0]!);
  const all = plan.tasks.map((task) => withoutUsual(taskKeys(task), usualTask));
  const shared = sharedBy(all);
  const tasks = all.map((task) => without(task, Object.keys(shared)));
  const { base, target, ...sections } = withoutUsual(sectionKeys(plan), usual);
  const keys = {
    landfast: 1,
    name: plan.name,
    base,
    target,
    ...(Object.keys(shared).length === 0 ? {} : { defaults: shared }),
    ...sections,
    tasks,
  };
  return textOf(keys, printing);
}

/** A plan of nothing but defaults. */
const BARE: Plan = lower({ landfast: 1, tasks: [{ id: '' }] }, [''], {
  name: '',
  config: {},
  home: '',
});

/** The sections of a plan, but for its name and its tasks. */
function sectionKeys(plan: Plan): Keys {
  const { workspace, landing, sandbox } = plan;
  return {
    base: plan.base,
    target: plan.target,
    workspace: fromPlan(schema.workspaceSchema, {
      ...workspace,
      inject: workspace.inject.map(injectKeys),
    }),
    gates: plan.gates.map((gate) => fromPlan(schema.gateSchema, gate)),
    land: fromPlan(schema.landSchema, {
      ...landing,
      trailers: landing.trailers === true ? 'on' : 'off',
      remember: landing.remember === false ? 'off' : undefined,
      regenerate: landing.regenerate?.map((each) => fromPlan(schema.regenerateSchema, each)),
      radar: typeof landing.radar === 'number' ? durationText(landing.radar) : landing.radar,
    }),
    limits: fromPlan(schema.limitsSchema, plan.limits),
    sandbox: sandbox.mode,
    fence: { network: sandbox.network, caches: sandbox.caches },
    notify: plan.notify.map(notifyKeys),
    failures: plan.failures,
    conventions: fromPlan(schema.conventionsSchema, plan.conventions),
  };
}

/** A task; the prompt comes after what is short. */
function taskKeys(task: TaskSpec): Keys {
  return {
    id: task.id,
    title: task.title,
    needs: task.needs,
    hears: task.hears,
    fork: task.forks,
    agent: task.agent,
    role: task.role,
    model: task.model,
    fallbacks: task.fallbacks,
    prompt: task.prompt,
    rules: task.rules,
    branch: task.branch,
    commit_message: task.commitMessage,
    wave: task.wave,
    here: usesCheckout(task) ? true : undefined,
    read_only: task.mode === 'read' ? true : undefined,
    writes: task.mode === 'read' ? undefined : task.writes,
    outside: task.outside,
    forbids: task.forbids,
    checks: task.checks,
    group: task.group,
    independent: task.independent,
    retries: task.retries,
    retry: task.retry && fromPlan(schema.retrySchema, task.retry),
    estimate_usd: task.estimateUsd,
    timeout: durationText(task.timeoutMs),
    idle: durationText(task.idleMs),
    permissions: task.permissions,
    allow_empty: task.allowEmpty,
    env: task.env,
    cwd: task.cwd,
    answer: task.answer,
    ...optionKeys(task.options),
  };
}

function optionKeys(options: AgentOptions): Keys {
  const { tools } = options;
  const servers = Object.entries(options.mcp).map(([name, server]) => [name, serverKeys(server)]);
  return {
    pass_env: options.passEnv,
    tools: {
      allowed_cli: tools.commands,
      allowed_tools: tools.allowed,
      disallowed_tools: tools.disallowed,
      add_dirs: options.dirs,
    },
    mcp: Object.fromEntries(servers),
    max_turns: options.maxTurns ?? undefined,
    budget_usd: options.budgetUsd ?? undefined,
    schema: options.schema ?? undefined,
    command: options.command.length === 0 ? undefined : options.command,
    prompt_as: options.promptAs,
  };
}

function serverKeys(server: McpServer): Keys {
  if ('url' in server) return { url: server.url };
  const { command, env } = server;
  return Object.keys(env).length === 0 ? { command } : { command, env };
}

function injectKeys({ from, to, skip, blank }: InjectSpec): Keys {
  return {
    from,
    to,
    ...(skip.length === 0 ? {} : { skip }),
    ...(blank.length === 0 ? {} : { blank }),
  };
}

function notifyKeys({ on, to }: NotifySpec): Keys {
  if (to.kind === 'webhook') return { webhook: to.url, on };
  return to.kind === 'command' ? { command: to.run, on } : { [to.kind]: true, on };
}

/** Compared key by key; any other mapping is one value. */
const SECTIONS = ['workspace', 'land', 'limits', 'fence', 'conventions', 'tools'];

function withoutUsual(keys: Keys, usual: Keys): Keys {
  const entries = Object.entries(keys).flatMap(([key, value]) => {
    if (!SECTIONS.includes(key) || typeof value !== 'object') {
      return value === undefined || isSame(value, usual[key]) ? [] : [[key, value]];
    }
    const left = withoutUsual(value as Keys, (usual[key] as Keys | undefined) ?? {});
    return Object.keys(left).length === 0 ? [] : [[key, left]];
  });
  return Object.fromEntries(entries);
}

/** In `defaults` they do not apply to scripts, or to the task's own agent. */
const NOT_SHARED = ['fallbacks', 'estimate_usd'];

/** What all tasks have in common and `defaults` can say. */
function sharedBy(tasks: readonly Keys[]): Keys {
  const [first, ...others] = tasks;
  if (first === undefined || others.length === 0) return {};
  const entries = Object.entries(first).filter(
    ([key, value]) =>
      Object.hasOwn(schema.defaultsSchema.shape, key) &&
      !NOT_SHARED.includes(key) &&
      others.every((task) => isSame(task[key], value)),
  );
  return Object.fromEntries(entries);
}

function without(keys: Keys, said: readonly string[]): Keys {
  return Object.fromEntries(Object.entries(keys).filter(([key]) => !said.includes(key)));
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function textOf(keys: Keys, { notes = [], comments = {} }: Printing): string {
  const document = new Document(keys, { aliasDuplicateObjects: false });
  visit(document, {
    Seq: (_, seq) => {
      seq.flow = seq.items.every(isShort) && widthOf(seq.items) < 76;
    },
  });
  const { contents } = document;
  for (const pair of isMap(contents) ? contents.items : []) lookOf(pair, comments);
  if (notes.length > 0) document.commentBefore = notes.map(commentLine).join('\n');
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}

/** A blank line above long sections, and their comments. */
function lookOf(pair: Pair, comments: Readonly<Record<string, string>>): void {
  const key = pair.key as Scalar<string>;
  key.spaceBefore = isMap(pair.value) || (isSeq(pair.value) && pair.value.flow !== true);
  const comment = comments[key.value];
  if (comment !== undefined) key.commentBefore = commentLine(comment);
  if (key.value !== 'tasks' || !isSeq(pair.value)) return;
  for (const [index, task] of pair.value.items.entries()) (task as Node).spaceBefore = index > 0;
}

function isShort(item: unknown): boolean {
  return isScalar(item) && !String(item.value).includes('\n');
}

function widthOf(items: readonly unknown[]): number {
  return items.reduce<number>(
    (sum, item) => sum + (isScalar(item) ? String(item.value).length + 2 : 0),
    0,
  );
}

function commentLine(text: string): string {
  return ` ${text.replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029]+/g, ' ')}`;
}
