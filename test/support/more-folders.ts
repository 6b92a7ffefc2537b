/**
 * A conversation in which an agent gets a folder that is not checked out, by the command it was
 * told. The same for every CLI; each tier brings its own scene.
 */

import { expect } from 'vitest';
import type { TempRepo } from './temp-repo.ts';

/** What the agent types. */
export const MORE_FOLDERS =
  'git sparse-checkout add lib && cat lib/one > app/seen && git add -A && git commit -qm mine';

interface Scene {
  readonly repo: TempRepo;
  run(plan: object): Promise<{
    readonly ended: Promise<{ readonly code: number | null; readonly stderr: string }>;
  }>;
}

/** Runs the task, which may write in `app`, and expects its work, with what it read, in the target. */
export async function expectMoreFolders(scene: Scene, task: object, agent: string): Promise<void> {
  await scene.repo.commit('main', { 'app/page': '1\n', 'lib/one': 'one\n', 'tools/x': '1\n' });
  const run = await scene.run({
    defaults: { agent, permissions: 'bypassPermissions' },
    workspace: { sparse: 'auto' },
    tasks: [{ ...task, writes: ['app/**'] }],
  });
  const { code, stderr } = await run.ended;
  expect(stderr).toContain('The task succeeded');
  expect(code).toBe(0);
  expect(await scene.repo.git('show', 'main:app/seen')).toBe('one');
  expect(await scene.repo.git('diff', '--name-only', 'main~1', 'main')).toBe('app/seen');
}

/** What the prompt says of it. */
export const TOLD = ['Only `app` and the files in the root', 'git sparse-checkout add'] as const;
