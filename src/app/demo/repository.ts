/**
 * The demo's throw-away repository, its workspaces and its report, in a folder of their own. The
 * user's git configuration has no effect: no hooks, templates or signatures, and an identity of its
 * own.
 */

import { realpath, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolders } from '../../base/make-folders.ts';
import { git } from '../../git/git.ts';
import { newTempFolder, requireTempFolder } from '../../process/scratch.ts';
import { SHOP_FILES } from './shop.ts';
import { demoPlan, type PlanChoices } from './tasks.ts';

export interface DemoFolder {
  readonly dir: string;
  readonly repository: string;
  readonly plan: string;
  readonly report: string;
  remove(): Promise<void>;
}

export async function makeFolder(): Promise<DemoFolder> {
  requireTempFolder();
  // Resolved, because git will name it so.
  const dir = await realpath(newTempFolder('landfast-demo-'));
  const repository = join(dir, 'shop');
  return {
    dir,
    repository,
    plan: join(repository, 'plan.yaml'),
    report: join(dir, 'report.md'),
    remove: () => rm(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }),
  };
}

/** Fills it with the project and the plan, committed on `main`. */
export async function fillRepository(
  folder: DemoFolder,
  choices: PlanChoices,
  signal: AbortSignal,
): Promise<void> {
  const { dir, repository } = folder;
  const files = { ...SHOP_FILES, 'plan.yaml': demoPlan(choices) };
  for (const [path, text] of Object.entries(files)) {
    const file = join(repository, path);
    makeFolders(dirname(file));
    await writeFile(file, text);
  }
  await git(dir, ['init', '-q', '-b', 'main', '--template=', repository], signal);
  for (const [name, value] of Object.entries(SETTINGS)) {
    await git(repository, ['config', name, value], signal);
  }
  await git(repository, ['add', '--all'], signal);
  await git(repository, ['commit', '-q', '-m', 'A corner shop, and a plan for it'], signal);
}

const SETTINGS = {
  'user.name': 'Landfast demo',
  'user.email': 'demo@landfast.invalid',
  'commit.gpgSign': 'false',
  'core.hooksPath': '/dev/null',
  'core.autocrlf': 'false',
  'core.excludesFile': '/dev/null',
};

export async function historyOf({ repository }: DemoFolder, signal: AbortSignal): Promise<string> {
  const args = ['log', '--graph', '--oneline', '--no-decorate', 'main'];
  return (await git(repository, args, signal)).stdout;
}
