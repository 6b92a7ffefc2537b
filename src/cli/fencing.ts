/** The fence that a plan asks for, as far as this machine can build it. */

import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { OperationalError } from '../base/errors.ts';
import { taskBranch } from '../model/names.ts';
import type { Plan, TaskSpec } from '../model/plan.ts';
import { fenceSupport, makeFence } from '../process/fence.ts';
import type { Fence } from '../worker/speak.ts';
import { agentNamed } from './agents.ts';
import type { Place } from './place.ts';

export type FenceFor = (workspace: string, task: TaskSpec) => Fence | null;

/** Decides once per run whether attempts are fenced in; a plan may require it. */
export async function fenceOf(
  plan: Plan,
  { repository, dir }: Place,
  { run, signal }: { readonly run: string; readonly signal: AbortSignal },
): Promise<FenceFor> {
  const { mode, network, caches } = plan.sandbox;
  if (mode === 'off' || repository === null) return () => null;
  const support = await fenceSupport(signal);
  if (support.kind === 'missing') {
    if (mode === 'require') {
      const message = `The plan requires a sandbox, but there is none: ${support.why}.`;
      throw new OperationalError(message, { remedy: support.remedy });
    }
    console.error(`landfast: agents run without a sandbox: ${support.why}. ${support.remedy}`);
    return () => null;
  }
  return (workspace, task) =>
    makeFence({
      workspace,
      commonDir: repository.commonDir,
      branchRef: `refs/heads/${taskBranch(plan.conventions, run, task.id)}`,
      writable: [
        ...caches.map((folder) => resolveDir(folder, dir)),
        ...task.options.dirs.map((folder) => resolveDir(folder, dir)),
        ...(agentNamed(task.agent).program.keeps ?? []).flatMap(keptAt),
      ],
      network,
    });
}

/** A folder that the plan names: absolute, below the home, or relative to the root. */
export function resolveDir(folder: string, root: string): string {
  return folder.startsWith('~/') ? join(homedir(), folder.slice(2)) : resolve(root, folder);
}

function keptAt(place: string): readonly string[] {
  if (!place.startsWith('$')) return [resolveDir(place, '/')];
  const folder = process.env[place.slice(1)];
  return folder === undefined || folder === '' ? [] : [resolve(folder)];
}
