/**
 * claude-code-orchestrator's `task_config.yaml`: tasks that end as a pushed branch or a pull request.
 * Flags win over `settings`, `settings` over the configuration. docs/formats.md lists the differences.
 */

import * as z from 'zod';
import {
  type AgentOptions,
  type Conventions,
  NO_OPTIONS,
  type Permissions,
  type Plan,
  type TaskSpec,
} from '../../../../model/plan.ts';
import type { Config } from '../../../config/schema.ts';
import { validate } from '../../../lint/validate.ts';
import { type Place, ProblemLog, placeAt, quote } from '../../../problem.ts';
import { withoutBom } from '../../../syntax/markdown.ts';
import {
  entryOf,
  itemsOf,
  placeOf,
  plainValue,
  readYaml,
  textOf,
  type YamlNode,
} from '../../../syntax/yaml.ts';
import { reportIssues } from '../../../syntax/zod-problems.ts';
import type { ParsedPlan, PlanFormat, PlanInput, SourceFile } from '../../format.ts';
import { toPlan } from '../../native/names.ts';
import { branch, expandHome, flag, id, text } from '../../native/values.ts';
import { FOREIGN_PLAN, FOREIGN_TASK } from '../foreign-plan.ts';
import { type PullRequest, promptOf } from './prompt.ts';

export const taskConfig: PlanFormat = {
  name: 'task-config',
  marker: 'a list tasks whose entries have a branch, a title and a description',
  asksGit: true,
  usualFile: 'task_config.yaml',
  detect,
  parse,
};

/** Models like to write an empty text for "none". */
const maybeText = z.preprocess((raw) => (raw === '' ? null : raw), text.nullable()).optional();

const taskEntrySchema = z.looseObject({
  id,
  branch,
  title: text,
  description: text,
  files_hint: z.array(text).nullish(),
  test_command: maybeText,
});

const settingsSchema = z.looseObject({
  worktree_dir: text.optional(),
  auto_cleanup: flag.optional(),
  base_branch: branch.optional(),
  destination_branch: branch.optional(),
  repo_slug: maybeText,
});

const taskConfigSchema = z.looseObject({
  settings: settingsSchema.nullish(),
  tasks: z.array(taskEntrySchema),
});

export type TaskEntry = z.output<typeof taskEntrySchema>;
type TaskConfig = z.output<typeof taskConfigSchema>;

const TASKS = /^(["']?)tasks\1\s*:/m;
const OTHERS = /^(["']?)(?:landfast|po_plan_version|clade_plan_version)\1\s*:/m;
const SETTINGS = /^(["']?)settings\1\s*:/m;
/** Keys that begin a line or follow the dash of an entry. */
const SETTING = keyBelow('worktree_dir|auto_cleanup|base_branch|destination_branch|repo_slug');
const ENTRY = ['branch', 'title', 'description'].map(keyBelow);

function keyBelow(names: string): RegExp {
  return new RegExp(`^[ \\t]*(?:[ \\t]|-[ \\t])["']?(?:${names})["']?[ \\t]*:`, 'm');
}

/** By the file's name, its settings, or entries with all required keys. */
function detect(file: SourceFile): Place | null {
  const text = withoutBom(file.text);
  if (OTHERS.test(text)) return null;
  const tasks = TASKS.exec(text);
  // A file of that name is a task file even without a list: the parser reports that it is missing.
  if (/(?:^|[\\/])task_config\.ya?ml$/i.test(file.path)) return placeAt(text, tasks?.index ?? 0);
  if (tasks === null) return null;
  const isOurs =
    (SETTINGS.test(text) && SETTING.test(text)) || ENTRY.every((key) => key.test(text));
  return isOurs ? placeAt(text, tasks.index) : null;
}

function parse(input: PlanInput): ParsedPlan {
  const log = new ProblemLog(input.file.path);
  const plan = readConfig(input, log);
  const problems = log.sorted();
  return { plan: log.failed ? null : plan, format: taskConfig.name, problems, refusalExit: 1 };
}

function readConfig(input: PlanInput, log: ProblemLog): ParsedPlan['plan'] {
  const text = withoutBom(input.file.text);
  const root = readYaml({ text, firstLine: 1, version: '1.1' }, log);
  if (root === null) return null;
  if (root.kind !== 'map') {
    log.error(root.at, 'a task file must be a mapping', 'begin it with tasks:');
    return null;
  }
  const parsed = taskConfigSchema.safeParse(plainValue(root));
  if (!parsed.success) reportIssues(parsed.error.issues, taskConfigSchema, root, log);
  reportUnknownKeys(root, log);
  checkIds(root, log);
  if (!parsed.success) {
    checkBranches(root, [], log);
    return null;
  }
  const { base, destination } = branchesOf(parsed.data, input);
  checkBranches(root, [base, destination], log);
  if (parsed.data.tasks.length === 0) {
    log.warning(placeOf(root, ['tasks'], 'key'), 'there are no tasks', 'add one below tasks:');
  }
  return lower(parsed.data, input);
}

function tasksOf(root: YamlNode): readonly YamlNode[] {
  return itemsOf(entryOf(root, 'tasks')?.value);
}

function reportUnknownKeys(root: YamlNode, log: ProblemLog): void {
  const look = (node: YamlNode | undefined, known: readonly string[], where: string): void => {
    for (const { key, keyAt } of node?.kind === 'map' ? node.entries.values() : []) {
      const name = String(key);
      if (known.includes(name)) continue;
      const remedy = log.didYouMean(name, known, `known keys: ${known.join(', ')}`, quote);
      log.warning(keyAt, `unknown key ${quote(name)}${where} is ignored`, remedy);
    }
  };
  look(root, Object.keys(taskConfigSchema.shape), '');
  look(entryOf(root, 'settings')?.value, Object.keys(settingsSchema.shape), ' in settings');
  for (const [index, task] of tasksOf(root).entries()) {
    look(task, Object.keys(taskEntrySchema.shape), ` in tasks[${index}]`);
  }
}

function checkIds(root: YamlNode, log: ProblemLog): void {
  const outlines = tasksOf(root).flatMap((task, index) => {
    const id = textOf(entryOf(task, 'id')?.value);
    return id === undefined ? [] : { index, id, needs: [], writes: [] };
  });
  validate(
    outlines,
    {
      at: (key, task) => placeOf(root, ['tasks', task.index, key]),
      needsKey: 'needs',
      groups: null,
      groupRemedy: () => '',
    },
    log,
  );
}

/** No two tasks share a branch, and git allows no `a/b` beside `a`. */
function checkBranches(root: YamlNode, taken: readonly string[], log: ProblemLog): void {
  const seen = new Map<string, number>();
  for (const task of tasksOf(root)) {
    const node = entryOf(task, 'branch')?.value;
    const branch = textOf(node);
    if (node === undefined || branch === undefined || branch === '') continue;
    const name = quote(branch);
    if (taken.includes(branch)) {
      const message = `branch ${name} is where the work starts or goes to`;
      log.error(node.at, message, 'give the task a branch of its own, such as feature/…');
    }
    const [clash, line] = clashOf(branch, seen);
    if (clash === branch) {
      const remedy = `the task on line ${line} has it too: rename one`;
      log.error(node.at, `duplicate branch ${name}`, remedy);
    } else if (clash !== null) {
      const message = `branch ${name} cannot exist beside ${quote(clash)} (line ${line})`;
      log.error(node.at, message, 'rename one: git keeps a branch either as a file or a folder');
    }
    if (!seen.has(branch)) seen.set(branch, node.at.line);
  }
}

function clashOf(branch: string, seen: ReadonlyMap<string, number>): [string | null, number] {
  const same = seen.get(branch);
  if (same !== undefined) return [branch, same];
  for (const [other, line] of seen) {
    if (branch.startsWith(`${other}/`) || other.startsWith(`${branch}/`)) return [other, line];
  }
  return [null, 0];
}

const CONVENTIONS: Conventions = {
  branch: 'landfast/{run}.{task}',
  workspace: '{branch}',
  commitMessage: '{title}',
  mergeMessage: 'Land {task}',
  conflictExit: 1,
  summary: 'results',
  noTasks: 'notice',
  logs: { dir: '.claude-orchestrator/logs', style: 'story' },
  reports: [{ path: '.claude-orchestrator/.state.json', style: 'results' }],
};

const WORKTREES = '../worktrees';
const MAIN = 'main';
/** These files mean all tasks at once; this is the most a machine can bear. */
const MOST_WORKERS = 16;

/** Where tasks start, and where pull requests go. */
function branchesOf(file: TaskConfig, { config, options }: PlanInput) {
  const { base_branch: start, destination_branch: end } = file.settings ?? {};
  const { base_branch: usual = MAIN, destination_branch: last } = config.git ?? {};
  const base = start ?? usual;
  // A configured destination that equals the configured base does not override the file's base.
  const destination = end ?? (last === usual ? base : last);
  return { base, destination: options.target ?? destination ?? base };
}

function lower(file: TaskConfig, input: PlanInput): Plan {
  const { config, options } = input;
  const { settings } = file;
  const branches = branchesOf(file, input);
  const wantsPr = options.pr ?? config.workflow?.auto_pr ?? true;
  const pr = wantsPr ? pullRequestOf(file, branches.destination, config) : null;
  const { setup, setup_key, copy } = config.workspace ?? {};
  const { workers, budget_usd } = config.limits ?? {};
  return {
    name: 'task_config',
    base: branches.base,
    target: branches.destination,
    tasks: file.tasks.map((task) => lowerTask(task, input, pr)),
    ...FOREIGN_PLAN,
    workspace: {
      ...FOREIGN_PLAN.workspace,
      ...toPlan({ setup, setup_key, copy }),
      dir: expandHome(settings?.worktree_dir ?? config.worktree_dir ?? WORKTREES, input.home),
      ...(settings?.auto_cleanup === false ? { keep: true } : {}),
    },
    landing: { ...FOREIGN_PLAN.landing, strategy: 'none', publish: 'off', push: 'origin' },
    limits: {
      ...FOREIGN_PLAN.limits,
      workers: workers ?? Math.min(Math.max(file.tasks.length, 1), MOST_WORKERS),
      ...toPlan({ budget_usd }),
    },
    sandbox: { ...FOREIGN_PLAN.sandbox, ...toPlan({ mode: config.sandbox, ...config.fence }) },
    conventions: CONVENTIONS,
  };
}

function pullRequestOf({ settings }: TaskConfig, base: string, { git }: Config): PullRequest {
  const provider = git?.provider ?? 'auto';
  return {
    provider: provider === 'auto' ? 'unknown' : provider,
    base,
    slug: settings?.repo_slug ?? git?.repo_slug ?? null,
  };
}

function lowerTask(task: TaskEntry, input: PlanInput, pr: PullRequest | null): TaskSpec {
  const { config } = input;
  const { agent = {}, defaults = {} } = config;
  return {
    ...FOREIGN_TASK,
    id: task.id,
    title: task.title.trim(),
    prompt: promptOf(task, config.project ?? {}, pr),
    rules: 'own',
    ...toPlan({ agent: defaults.agent, role: defaults.role, model: defaults.model }),
    branch: task.branch,
    retries: agent.max_retries ?? defaults.retries ?? 2,
    retry: {
      pauseMs: 1_000 * (agent.retry_delay ?? 5),
      session: agent.use_resume === false ? 'new' : 'resumed',
      afterTimeout: true,
    },
    timeoutMs: milliseconds(agent.max_runtime) ?? defaults.timeout ?? 3_600_000,
    idleMs: milliseconds(agent.inactivity_timeout) ?? defaults.idle ?? 300_000,
    permissions: permissionsOf(input),
    allowEmpty: false,
    env: defaults.env ?? {},
    options: optionsOf(config, pr),
  };
}

/** Timers count in 31 bits; a limit of zero seconds is none. */
const LONGEST_MS = 24 * 24 * 3_600_000;

function milliseconds(seconds: number | undefined): number | undefined {
  if (seconds === undefined) return undefined;
  return seconds === 0 ? LONGEST_MS : Math.min(seconds * 1_000, LONGEST_MS);
}

/** A permission prompt would go unanswered, so by default agents may edit files. */
function permissionsOf({ config, options }: PlanInput): Permissions {
  const { tools, workflow, defaults } = config;
  const skip = options.autoApprove ?? workflow?.auto_approve ?? false;
  if (skip || tools?.skip_permissions === true) return 'bypassPermissions';
  return tools?.permission_mode ?? defaults?.permissions ?? 'acceptEdits';
}

/** Variables with which programs that open pull requests find their account. */
const ACCOUNTS: Readonly<Record<PullRequest['provider'], readonly string[]>> = {
  github: ['GH_TOKEN', 'GITHUB_TOKEN', 'GH_HOST'],
  bitbucket: ['BITBUCKET_WORKSPACE', 'BITBUCKET_EMAIL', 'BITBUCKET_API_TOKEN'],
  unknown: [],
};

function optionsOf({ tools = {}, defaults = {} }: Config, pr: PullRequest | null): AgentOptions {
  const accounts = pr === null ? [] : ACCOUNTS[pr.provider];
  const { max_turns, budget_usd, command, prompt_as } = defaults;
  return {
    ...NO_OPTIONS,
    tools: {
      allowed: tools.allowed_tools ?? [],
      disallowed: tools.disallowed_tools ?? [],
      commands: tools.allowed_cli ?? [],
    },
    dirs: tools.add_dirs ?? [],
    passEnv: [...new Set([...(defaults.pass_env ?? []), ...accounts])],
    ...toPlan({ max_turns, budget_usd, command, prompt_as }),
  };
}
