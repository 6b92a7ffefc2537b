/** Workspaces that stay because the user wants to look at them, and where they are. */

import type { Plan } from '../model/plan.ts';
import type { RunState } from '../model/state.ts';
import { type Ground, workspaceDir } from '../workspace/ground.ts';
import type { HowToRun } from './execute.ts';

/** `PO_KEEP_WORKTREE=1` is what users of parallel-orchestra say instead of `--keep-worktrees`. */
export function keepsWorkspaces(plan: Plan, how: HowToRun): boolean {
  if (how.keepWorktrees === true || plan.workspace.keep === true) return true;
  return process.env.PO_KEEP_WORKTREE === '1';
}

/** Where they are, a line each; nothing where none was kept for that reason. */
export function keptLines(
  ground: Ground | null,
  state: RunState,
  how: HowToRun,
): readonly string[] {
  if (ground === null || !keepsWorkspaces(state.plan, how)) return [];
  const kept = [...state.tasks.values()].filter(({ workspace }) => workspace === 'kept');
  if (kept.length === 0) return [];
  const places = kept.map(({ spec }) => `  ${spec.id}: ${workspaceDir(ground, spec.id)}`);
  return ['Workspaces are kept:', ...places];
}
