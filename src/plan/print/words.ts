/** A Plan in the keys of a native plan: the inverse of formats/native/lower.ts. Undefined is left out. */

import {
  type AgentOptions,
  type Conventions,
  type InjectSpec,
  type McpServer,
  type NotifySpec,
  type Plan,
  type RetrySpec,
  type TaskSpec,
  usesCheckout,
} from '../../model/plan.ts';

/** Keys and plain values, in the order in which they are written. */
export type Words = Readonly<Record<string, unknown>>;

/** The sections of a plan, but for its name and its tasks. */
export function sectionWords(plan: Plan): Words {
  const { workspace, landing, limits, sandbox } = plan;
  return {
    base: plan.base,
    target: plan.target,
    workspace: {
      setup: workspace.setup,
      setup_key: workspace.setupKey,
      copy: workspace.copy,
      dir: workspace.dir,
      keep: workspace.keep,
      salvage: workspace.salvage,
      exclude: workspace.exclude,
      pool: workspace.pool,
      pool_disk: workspace.poolDisk,
      keep_files: workspace.keepFiles,
      seed: workspace.seed,
      seed_by: workspace.seedBy,
      seed_most: workspace.seedMost,
      seed_disk: workspace.seedDisk,
      sparse: workspace.sparse,
      sparse_also: workspace.sparseAlso,
      inject: workspace.inject.map(injectWords),
    },
    gates: plan.gates.map(({ timeoutMs, name, run, inProcess: _, ...rest }) => ({
      ...{ name, run, timeout: span(timeoutMs) },
      ...rest,
    })),
    land: landWords(landing),
    limits: {
      workers: limits.workers,
      gates: limits.gates,
      budget_usd: limits.budgetUsd,
      disk: limits.diskBytes,
      disk_free: limits.diskFreeBytes,
      memory_per_attempt: limits.memoryPerAttempt,
      load: limits.loadPerCore,
      groups: limits.groups,
    },
    sandbox: sandbox.mode,
    fence: { network: sandbox.network, caches: sandbox.caches },
    notify: plan.notify.map(notifyWords),
    failures: plan.failures,
    conventions: conventionWords(plan.conventions),
  };
}

function landWords(landing: Plan['landing']): Words {
  return {
    strategy: landing.strategy,
    verify: landing.verify,
    on_conflict: landing.onConflict,
    on_gate_failure: landing.onGateFailure,
    on_semantic: landing.onSemantic,
    gate_order: landing.gateOrder,
    reworks: landing.reworks,
    publish: landing.publish,
    order: landing.order,
    trailers: landing.trailers === true ? 'on' : 'off',
    remember: landing.remember === false ? 'off' : undefined,
    regenerate: landing.regenerate?.map(({ paths, run, timeoutMs }) => ({
      ...{ paths, run, timeout: span(timeoutMs) },
    })),
    fingerprint: landing.fingerprint,
    radar: typeof landing.radar === 'number' ? span(landing.radar) : landing.radar,
    push: landing.push,
  };
}

/** A task; the prompt comes after what is short. */
export function taskWords(task: TaskSpec): Words {
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
    retry: task.retry && retryWords(task.retry),
    estimate_usd: task.estimateUsd,
    timeout: span(task.timeoutMs),
    idle: span(task.idleMs),
    permissions: task.permissions,
    allow_empty: task.allowEmpty,
    env: task.env,
    cwd: task.cwd,
    answer: task.answer,
    ...optionWords(task.options),
  };
}

/** `1h30m`, `7m`, `1s500ms`. */
export function span(ms: number): string {
  const units = [
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1_000],
    ['ms', 1],
  ] as const;
  let left = ms;
  let text = '';
  for (const [unit, size] of units) {
    const amount = Math.floor(left / size);
    if (amount > 0) text += `${amount}${unit}`;
    left -= amount * size;
  }
  return text;
}

function optionWords(options: AgentOptions): Words {
  const { tools } = options;
  const servers = Object.entries(options.mcp).map(([name, server]) => [name, serverWords(server)]);
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

function serverWords(server: McpServer): Words {
  if ('url' in server) return { url: server.url };
  const { command, env } = server;
  return Object.keys(env).length === 0 ? { command } : { command, env };
}

function retryWords({ pauseMs, factor, session, afterTimeout }: RetrySpec): Words {
  const pause = pauseMs === 0 ? 0 : span(pauseMs);
  const growth = factor === undefined ? {} : { factor };
  return { pause, ...growth, session, after_timeout: afterTimeout };
}

function injectWords({ from, to, skip, blank }: InjectSpec): Words {
  return {
    from,
    to,
    ...(skip.length === 0 ? {} : { skip }),
    ...(blank.length === 0 ? {} : { blank }),
  };
}

function notifyWords({ on, to }: NotifySpec): Words {
  switch (to.kind) {
    case 'webhook':
      return { webhook: to.url, on };
    case 'command':
      return { command: to.run, on };
    case 'desktop':
      return { desktop: true, on };
    case 'bell':
      return { bell: true, on };
  }
}

function conventionWords(conventions: Conventions): Words {
  return {
    branch: conventions.branch,
    workspace: conventions.workspace,
    commit_message: conventions.commitMessage,
    merge_message: conventions.mergeMessage,
    conflict_exit: conventions.conflictExit,
    summary: conventions.summary,
    no_tasks: conventions.noTasks,
    edits: conventions.edits,
    logs: conventions.logs,
    reports: conventions.reports,
  };
}
