/** Performs a release effect: removes the workspace, or keeps it and says why. */

import { existsSync } from 'node:fs';
import { lstat, readdir, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { messageOf, otherwise, rethrowBug } from '../base/errors.ts';
import { makeFolders } from '../base/make-folders.ts';
import type { ReleaseEffect } from '../model/effect.ts';
import type { Event } from '../model/event.ts';
import type { TaskId } from '../model/plan.ts';
import { workspaceDir } from '../workspace/folders.ts';
import { restoreInjected } from '../workspace/inject.ts';
import { readPlain } from '../workspace/plain-file.ts';
import { removeWorkspace } from '../workspace/remove.ts';
import type { RunContext } from '../workspace/run-context.ts';
import { showHiddenWrites } from '../workspace/sparse-checkout.ts';

export async function release(
  context: RunContext | null,
  effect: ReleaseEffect,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<void> {
  const { task } = effect;
  if (context === null) return report({ type: 'workspace.removed', task });
  const saved = effect.succeeded ? [] : await salvage(context, task, signal).catch(otherwise([]));
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

const MOST_FILES = 100;
const MOST_BYTES = 1024 * 1024;

/**
 * Copies the reports of a failed task to the user's checkout, where their readers look; answers with
 * their paths. Nothing there is overwritten, and injected files are not new. No link is followed, on
 * either side. A failure to save them does not keep the workspace.
 */
async function salvage(
  context: RunContext,
  task: TaskId,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { salvage: folder, inject } = context.plan.workspace;
  const from = workspaceDir(context, task);
  if (folder === undefined || !(await isPlainFolder(from, folder))) return [];
  const to = context.repository.dir;
  const sources = inject.filter((each) => `${folder}/`.startsWith(`${each.to}/`));
  const isKnown = (name: string): boolean =>
    sources.some((each) => existsSync(resolve(to, each.from, relative(each.to, folder), name)));
  const saved: string[] = [];
  const names = (await readdir(join(from, folder))).filter((name) => !isKnown(name));
  for (const name of names.toSorted().slice(0, MOST_FILES)) {
    signal.throwIfAborted();
    const path = `${folder}/${name}`;
    const text = await readPlain(from, path, MOST_BYTES);
    if (text === null) continue;
    makeFolders(join(to, folder));
    if (!(await isPlainFolder(to, folder))) continue;
    const write = writeFile(join(to, path), text, { flag: 'wx' });
    if (await write.then(() => true, otherwise(false))) saved.push(path);
  }
  return saved;
}

async function isPlainFolder(root: string, folder: string): Promise<boolean> {
  let path = root;
  for (const part of folder.split('/')) {
    path = join(path, part);
    const found = await lstat(path).catch(otherwise(null));
    if (found?.isDirectory() !== true) return false;
  }
  return true;
}
