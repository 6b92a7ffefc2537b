/** Folders whose names do not tell the run: what somebody else has made there stays as it is. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Suspension } from '../../src/base/suspension.ts';
import { openRepository } from '../../src/git/repository.ts';
import { NATIVE_CONVENTIONS } from '../../src/model/plan.ts';
import { createWorkspace } from '../../src/workspace/create.ts';
import { type Ground, workspaceDir } from '../../src/workspace/ground.ts';
import { isWaiting } from '../../src/workspace/idle.ts';
import { removeRunFolder, removeWorkspace } from '../../src/workspace/remove.ts';
import { planOf } from '../support/journal-builder.ts';
import { MARK } from '../support/mark.ts';
import { NO_MEMORY, NO_RESOLUTIONS } from '../support/no-memory.ts';
import { testPool } from '../support/pool.ts';
import { writeFiles } from '../support/temp-dir.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const PLAN = planOf([{ id: 'a', branch: 'feature/a' }], { gates: [] });

async function groundOf(
  repo: TempRepo,
  run: string,
  place: { readonly workspace: string; readonly dir?: string },
): Promise<Ground> {
  const opened = await openRepository(repo.dir, repo.signal);
  if (opened.kind !== 'repository') throw new Error(opened.kind);
  await repo.git('branch', '-f', `landfast/${run}`, 'main');
  const { workspace, ...dir } = place;
  const plan = {
    ...PLAN,
    workspace: { ...PLAN.workspace, ...dir },
    conventions: { ...NATIVE_CONVENTIONS, workspace },
  };
  return {
    repository: opened.repository,
    run,
    plan,
    env: {},
    pool: testPool(repo, 4),
    suspension: new Suspension(),
    verdicts: NO_MEMORY,
    resolutions: NO_RESOLUTIONS,
    assertHeld: () => undefined,
  };
}

async function create(repo: TempRepo, ground: Ground, attempt: number) {
  const base = await repo.git('rev-parse', 'main');
  const start = { kind: 'fresh' } as const;
  return createWorkspace(ground, { task: 'a', attempt, base, start, mark: MARK }, repo.signal);
}

const release = (repo: TempRepo, ground: Ground) =>
  removeWorkspace(ground, { task: 'a', succeeded: true, safe: [] }, repo.signal);

test('a folder of the user is neither used nor removed, however often it is tried', async () => {
  await using repo = await tempRepo();
  const ground = await groundOf(repo, 'r1', { workspace: 'task-{task}' });
  const dir = workspaceDir(ground, 'a');
  await writeFiles(dir, { 'mine.txt': 'mine\n' });
  for (const attempt of [1, 2]) {
    expect(await create(repo, ground, attempt)).toEqual({
      kind: 'failed',
      message: `${dir} is there already, and this run has not made it.`,
    });
  }
  expect(await release(repo, ground)).toEqual({ kind: 'removed' });
  expect(readFileSync(join(dir, 'mine.txt'), 'utf8')).toBe('mine\n');
});

test('two runs that name their folders alike do not take them from each other', async () => {
  await using repo = await tempRepo();
  const first = await groundOf(repo, 'r1', { workspace: '{branch}' });
  const second = await groundOf(repo, 'r2', { workspace: '{branch}' });
  const dir = workspaceDir(first, 'a');
  expect(await create(repo, first, 1)).toMatchObject({ kind: 'ready', dir });
  await writeFiles(dir, { 'work.txt': 'work\n' });
  for (const attempt of [1, 2]) {
    expect(await create(repo, second, attempt)).toMatchObject({ kind: 'failed' });
  }
  expect(await release(repo, second)).toEqual({ kind: 'removed' });
  expect(readFileSync(join(dir, 'work.txt'), 'utf8')).toBe('work\n');
  expect(await create(repo, first, 2)).toMatchObject({ kind: 'ready', dir });
  expect(await release(repo, first)).toEqual({ kind: 'removed' });
  expect(isWaiting(dir)).toBe(true);
  await removeRunFolder(first, repo.signal);
  expect(existsSync(join(repo.outside, 'repo.worktrees'))).toBe(false);
  expect(await create(repo, second, 3)).toMatchObject({ kind: 'ready', dir });
});

test('workspaces inside of the checkout never show as new files there', async () => {
  await using repo = await tempRepo();
  for (const [run, dir] of Object.entries({ r1: '.trees', r2: '.' })) {
    const ground = await groundOf(repo, run, { workspace: 'at/{branch}', dir });
    expect(await create(repo, ground, 1)).toMatchObject({ kind: 'ready' });
    expect(await repo.git('status', '--porcelain')).toBe('');
    expect(await release(repo, ground)).toEqual({ kind: 'removed' });
    await removeRunFolder(ground, repo.signal);
    await repo.git('branch', '-D', '-q', 'feature/a');
  }
  expect(await repo.git('clean', '-ndx')).toBe('');
});
