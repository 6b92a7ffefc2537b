/** Performs a release effect: removes the workspace, or keeps it and says why. */

import { existsSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { messageOf, otherwise, rethrowBug } from '../base/errors.ts';
import type { ReleaseEffect } from '../model/effect.ts';
import type { Event } from '../model/event.ts';
import type { TaskId } from '../model/plan.ts';
import { workspaceDir } from '../workspace/folders.ts';
import { restoreInjected } from '../workspace/inject.ts';
import { removeWorkspace } from '../workspace/remove.ts';
import type { RunContext } from '../workspace/run-context.ts';
import { salvage } from '../workspace/salvage.ts';
import { showHiddenWrites } from '../workspace/sparse-checkout.ts';

/** Removes a workspace that nothing needs; one that cannot be removed is kept. */
export async function release(
  context: RunContext | null,
  effect: ReleaseEffect,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<void> {
  const { task } = effect;
  if (context === null) return report({ type: 'workspace.removed', task });
  const saved = effect.succeeded ? [] : await savedFrom(context, task, signal);
  const more = saved.length === 0 ? {} : { saved };
  try {
    if (effect.keep !== undefined) {
      const dir = workspaceDir(context, task);
      if (existsSync(dir)) await restoreInjected(dir, signal);
      await showHiddenWrites(context, task, signal);
      return report({ type: 'workspace.kept', task, why: effect.keep, ...more });
    }
    const remove = () => removeWorkspace(context, effect, signal);
    const answer = await remove().catch(remove); // A git that was killed leaves the rest to do.
    if (answer.kind === 'removed') return report({ type: 'workspace.removed', task, ...more });
    report({ type: 'workspace.kept', task, why: answer.why, ...more });
  } catch (error) {
    rethrowBug(error);
    const why = `it could not be removed: ${messageOf(error)}`;
    report({ type: 'workspace.kept', task, why, ...more });
  } finally {
    context.pool.pending.delete(workspaceDir(context, task));
  }
}

/** Files reported by a failed task; a failure to save them does not keep the workspace. */
async function savedFrom(
  context: RunContext,
  task: TaskId,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { salvage: folder, inject } = context.plan.workspace;
  if (folder === undefined) return [];
  const to = context.repository.dir;
  const sources = inject.filter((each) => `${folder}/`.startsWith(`${each.to}/`));
  const isKnown = (name: string): boolean =>
    sources.some((each) => existsSync(resolve(to, each.from, relative(each.to, folder), name)));
  return salvage({ from: workspaceDir(context, task), to, folder, isKnown }, signal).catch(
    otherwise([]),
  );
}
