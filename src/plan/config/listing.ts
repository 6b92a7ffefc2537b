/** The configuration in effect, key by key, and where each value comes from. */

import { DEFAULT_AGENT } from '../formats/native/lower.ts';
import { CONFIG_KEYS } from './keys.ts';
import { type Configuration, SAME_THING } from './merge.ts';
import type { GitFacts } from './origin.ts';

export interface Listed {
  readonly key: string;
  /** As it would be written in a file. */
  readonly value: unknown;
  /** A file, `detected` in the repository, or `default`. */
  readonly origin: string;
}

export function listing({ settings }: Configuration, facts: GitFacts | null): readonly Listed[] {
  const found = new Map<string, Listed>();
  for (const [key, value] of BUILT_IN) {
    const isSaid = SAME_THING.some(
      (names) => names.includes(key) && names.some((name) => settings.has(name)),
    );
    if (!isSaid) found.set(key, { key, value, origin: 'default' });
  }
  for (const [key, value] of facts === null ? [] : detected(facts)) {
    found.set(key, { key, value, origin: 'detected' });
  }
  for (const [key, { value, origin }] of settings)
    found.set(key, { key, value, origin: origin.file });
  return [...found.values()].toSorted((a, b) => placeIn(a.key) - placeIn(b.key));
}

function detected(facts: GitFacts): readonly (readonly [string, string])[] {
  const { provider, owner, repo, slug, base, destination } = facts;
  const values: readonly (readonly [string, string | undefined])[] = [
    ['git.provider', provider === 'unknown' ? undefined : provider],
    ['git.base_branch', base],
    ['git.destination_branch', destination],
    ['git.repo_slug', slug],
    ['git.owner', owner],
    ['git.repo', repo],
  ];
  return values.flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const]));
}

const ORDER = new Map(CONFIG_KEYS.map(({ path }, index) => [path.join('.'), index]));

/** The user's own names (`limits.groups.db`) are sorted with their mapping. */
function placeIn(key: string): number {
  const place = ORDER.get(key);
  if (place !== undefined) return place;
  const dot = key.lastIndexOf('.');
  return dot === -1 ? ORDER.size : placeIn(key.slice(0, dot));
}

/**
 * The defaults, as a file would have them. The sections of claude-code-orchestrator are for its task
 * files; what a native plan starts from is in `defaults`, `land` and `limits`.
 */
export const BUILT_IN: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['defaults.agent', DEFAULT_AGENT],
  ['defaults.retries', 2],
  ['defaults.timeout', '1h'],
  ['defaults.idle', '7m'],
  ['defaults.permissions', 'acceptEdits'],
  ['defaults.prompt_as', 'stdin'],
  ['land.strategy', 'merge'],
  ['land.verify', 'each'],
  ['land.on_conflict', 'agent'],
  ['land.order', 'ready'],
  ['land.on_gate_failure', 'agent'],
  ['land.on_semantic', 'agent'],
  ['land.reworks', 2],
  ['land.publish', 'end'],
  ['land.trailers', 'on'],
  ['limits.workers', 4],
  ['limits.gates', 1],
  ['sandbox', 'off'],
  ['fence.network', 'on'],
  ['git.provider', 'auto'],
  ['worktree_dir', '../worktrees'],
  ['stale_after', '5m'],
  ['claude_projects_dir', '~/.claude/projects'],
  ['tools.permission_mode', 'default'],
  ['tools.skip_permissions', false],
  ['agent.inactivity_timeout', 300],
  ['agent.max_runtime', 3600],
  ['agent.max_retries', 2],
  ['agent.use_resume', true],
  ['agent.retry_delay', 5],
  ['workflow.mode', 'review'],
  ['workflow.stop_after_generate', true],
  ['workflow.stop_after_run', false],
  ['workflow.auto_approve', false],
  ['workflow.auto_pr', true],
  ['review.automerge', false],
  ['review.test_before_merge', true],
  ['review.require_all_tests_pass', true],
]);
