/**
 * What holds where nothing is configured, as it would be written in a file. The sections of
 * claude-code-orchestrator have its values, which its own task files are read with; what a native
 * plan starts from is in `defaults`, `land` and `limits` (formats/native/lower.ts).
 */

import { DEFAULT_AGENT } from '../formats/native/configured.ts';

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
  ['land.on_gate_failure', 'agent'],
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
