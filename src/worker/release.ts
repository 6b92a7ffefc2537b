/** release: performs a release effect: the workspace goes, or stays with a reason. */

import { existsSync } from 'node:fs';
import { messageOf } from '../base/errors.ts';
import type { ReleaseEffect } from '../model/effect.ts';
import type { Event } from '../model/event.ts';
import { showToPeople } from '../workspace/cone.ts';
import { type Ground, workspaceDir } from '../workspace/ground.ts';
import { takeBack } from '../workspace/inject.ts';
import { removeWorkspace } from '../workspace/remove.ts';

/** Removes a workspace that nothing needs any more; a failure to do so only keeps it. */
export async function release(
  ground: Ground | null,
  effect: ReleaseEffect & { readonly keep: boolean },
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<void> {
  const { task } = effect;
  if (ground === null) return report({ type: 'workspace.removed', task });
  try {
    if (effect.keep) {
      const dir = workspaceDir(ground, task);
      if (existsSync(dir)) await takeBack(dir, signal);
      await showToPeople(ground, task, signal);
      return report({ type: 'workspace.kept', task, why: 'asked for' });
    }
    const remove = () => removeWorkspace(ground, effect, signal);
    const answer = await remove().catch(remove); // A git that was killed leaves it to do again.
    if (answer.kind === 'removed') return report({ type: 'workspace.removed', task });
    report({ type: 'workspace.kept', task, why: answer.why });
  } catch (error) {
    report({ type: 'workspace.kept', task, why: `it could not be removed: ${messageOf(error)}` });
  } finally {
    ground.pool.coming.delete(workspaceDir(ground, task));
  }
}
