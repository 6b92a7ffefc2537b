/** A checked `task_config.yaml` becomes a Plan: `settings` win over the configuration. */

import {
  type AgentOptions,
  type Conventions,
  NO_OPTIONS,
  NO_SANDBOX,
  type Permissions,
  type Plan,
  type RetrySpec,
  type TaskSpec,
} from '../../../../model/plan.ts';
import type { Config } from '../../../config/schema.ts';
import type { PlanInput } from '../../format.ts';
import { expandHome } from '../../native/values.ts';
import { type PullRequest, promptOf } from './prompt.ts';
import type { TaskConfig, TaskEntry } from './schema.ts';

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
export interface Branches {
  readonly base: string;
  readonly destination: string;
}

/** Flags win over the file, the file over the configuration. */
export function branchesOf(file: TaskConfig, { config, options }: PlanInput): Branches {
  const { base_branch: start, destination_branch: end } = file.settings ?? {};
  const { base_branch: usual = MAIN, destination_branch: last } = config.git ?? {};
  const base = start ?? usual;
  // A configured destination that equals the configured base does not override the file's base.
  const destination = end ?? (last === usual ? base : last);
  return { base, destination: options.target ?? destination ?? base };
}

export function lower(file: TaskConfig, input: PlanInput, name: string): Plan {
  const { config, options } = input;
  const { settings } = file;
  const branches = branchesOf(file, input);
  const wantsPr = options.pr ?? config.workflow?.auto_pr ?? true;
  const pr = wantsPr ? pullRequestOf(file, branches, config) : null;
  return {
    name,
    base: branches.base,
    target: branches.destination,
    tasks: file.tasks.map((task) => lowerTask(task, input, pr)),
    gates: [],
    workspace: {
      setup: config.workspace?.setup ?? [],
      setupKey: config.workspace?.setup_key ?? [],
      copy: config.workspace?.copy ?? [],
      dir: expandHome(settings?.worktree_dir ?? config.worktree_dir ?? WORKTREES, input.home),
      ...(settings?.auto_cleanup === false ? { keep: true } : {}),
      inject: [],
    },
    landing: {
      strategy: 'none',
      verify: 'off',
      onConflict: 'fail',
      onGateFailure: 'fail',
      onSemantic: 'warn',
      reworks: 0,
      publish: 'off',
      push: 'origin',
    },
    limits: limitsOf(file.tasks.length, config),
    sandbox: sandboxOf(config),
    notify: [],
    conventions: CONVENTIONS,
  };
}

function pullRequestOf(
  { settings }: TaskConfig,
  { destination }: Branches,
  { git }: Config,
): PullRequest {
  const provider = git?.provider ?? 'auto';
  return {
    provider: provider === 'auto' ? 'unknown' : provider,
    base: destination,
    slug: settings?.repo_slug ?? git?.repo_slug ?? null,
  };
}

function lowerTask(task: TaskEntry, input: PlanInput, pr: PullRequest | null): TaskSpec {
  const { config } = input;
  const { agent = {}, defaults = {} } = config;
  return {
    id: task.id,
    title: task.title.trim(),
    prompt: promptOf(task, config.project ?? {}, pr),
    rules: 'own',
    agent: defaults.agent ?? 'claude',
    ...(defaults.role === undefined ? {} : { role: defaults.role }),
    ...(defaults.model === undefined ? {} : { model: defaults.model }),
    mode: 'write',
    branch: task.branch,
    needs: [],
    hears: [],
    writes: [],
    outside: 'report',
    forbids: [],
    checks: [],
    retries: agent.max_retries ?? defaults.retries ?? 2,
    retry: retryOf(agent),
    timeoutMs: milliseconds(agent.max_runtime) ?? defaults.timeout ?? 3_600_000,
    idleMs: milliseconds(agent.inactivity_timeout) ?? defaults.idle ?? 300_000,
    permissions: permissionsOf(input),
    allowEmpty: false,
    env: defaults.env ?? {},
    options: optionsOf(config, pr),
    answer: 'free',
  };
}

function retryOf(agent: NonNullable<Config['agent']>): RetrySpec {
  return {
    pauseMs: 1_000 * (agent.retry_delay ?? 5),
    session: agent.use_resume === false ? 'new' : 'resumed',
    afterTimeout: true,
  };
}

/** Timers count in 31 bits; a limit of zero seconds is none. */
const LONGEST_MS = 24 * 24 * 3_600_000;

function milliseconds(seconds: number | undefined): number | undefined {
  if (seconds === undefined) return undefined;
  return seconds === 0 ? LONGEST_MS : Math.min(seconds * 1_000, LONGEST_MS);
}

/**
 * A permission prompt would go unanswered, so by default agents may edit files; a configured mode, also
 * `default`, is respected.
 */
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

function optionsOf({ tools, defaults }: Config, pr: PullRequest | null): AgentOptions {
  const accounts = pr === null ? [] : ACCOUNTS[pr.provider];
  return {
    ...NO_OPTIONS,
    tools: {
      allowed: tools?.allowed_tools ?? [],
      disallowed: tools?.disallowed_tools ?? [],
      commands: tools?.allowed_cli ?? [],
    },
    dirs: tools?.add_dirs ?? [],
    passEnv: [...new Set([...(defaults?.pass_env ?? []), ...accounts])],
    maxTurns: defaults?.max_turns ?? null,
    budgetUsd: defaults?.budget_usd ?? null,
    command: defaults?.command ?? [],
    promptAs: defaults?.prompt_as ?? 'stdin',
  };
}

function limitsOf(tasks: number, { limits }: Config): Plan['limits'] {
  return {
    workers: limits?.workers ?? Math.min(Math.max(tasks, 1), MOST_WORKERS),
    gates: 1,
    ...(limits?.budget_usd === undefined ? {} : { budgetUsd: limits.budget_usd }),
    groups: {},
  };
}

function sandboxOf({ sandbox, fence }: Config): Plan['sandbox'] {
  return {
    mode: sandbox ?? NO_SANDBOX.mode,
    network: fence?.network ?? NO_SANDBOX.network,
    caches: fence?.caches ?? NO_SANDBOX.caches,
  };
}
