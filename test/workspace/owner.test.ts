/** Folders whose names do not tell the run: those of others stay as they are. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openRepository } from '../../src/git/repository.ts';
import { NATIVE_CONVENTIONS } from '../../src/model/plan.ts';
import { createWorkspace } from '../../src/workspace/create.ts';
import { workspaceDir } from '../../src/workspace/folders.ts';
import { isIdle } from '../../src/workspace/pool/idle-worktrees.ts';
import { removeRunFolder, removeWorkspace } from '../../src/workspace/remove.ts';
import { type RunContext, runContext } from '../../src/workspace/run-context.ts';
import { planOf } from '../support/journal-builder.ts';
import { MARK } from '../support/mark.ts';
import { NO_MEMORY, NO_RESOLUTIONS } from '../support/no-memory.ts';
import { testPool } from '../support/pool.ts';
import { writeFiles } from '../support/temp-dir.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const PLAN = planOf([{ id: 'a', branch: 'feature/a' }], { gates: [] });

async function contextOf(
  repo: TempRepo,
  run: string,
  place: { readonly workspace: string; readonly dir?: string },
): Promise<RunContext> {
  const opened = await openRepository(repo.dir, repo.signal);
  if (opened.kind !== 'repository') throw new Error(opened.kind);
  await repo.git('branch', '-f', `landfast/${run}`, 'main');
  const { workspace, ...dir } = place;
  const plan = {
    ...PLAN,
    workspace: { ...PLAN.workspace, ...dir },
    conventions: { ...NATIVE_CONVENTIONS, workspace },
  };
  return runContext({
    repository: opened.repository,
    run,
    plan,
    env: {},
    pool: testPool(repo, 4),
    verdicts: NO_MEMORY,
    resolutions: NO_RESOLUTIONS,
    assertHeld: () => undefined,
  });
}

async function create(repo: TempRepo, context: RunContext, attempt: number) {
  const base = await repo.git('rev-parse', 'main');
  const start = { kind: 'fresh' } as const;
  return createWorkspace(context, { task: 'a', attempt, base, start, mark: MARK }, repo.signal);
}

const release = (repo: TempRepo, context: RunContext) =>
  removeWorkspace(context, { task: 'a', succeeded: true, safe: [] }, repo.signal);

test('a folder of the user is neither used nor removed, however often it is tried', async () => {
  await using repo = await tempRepo();
  const context = await contextOf(repo, 'r1', { workspace: 'task-{task}' });
  const dir = workspaceDir(context, 'a');
  await writeFiles(dir, { 'mine.txt': 'mine\n' });
  for (const attempt of [1, 2]) {
    expect(await create(repo, context, attempt)).toEqual({
      kind: 'failed',
      message: `${dir} already exists and was not created by this run.`,
    });
  }
  expect(await release(repo, context)).toEqual({ kind: 'removed' });
  expect(readFileSync(join(dir, 'mine.txt'), 'utf8')).toBe('mine\n');
});

test('two runs that name their folders alike do not take them from each other', async () => {
  await using repo = await tempRepo();
  const first = await contextOf(repo, 'r1', { workspace: '{branch}' });
  const second = await contextOf(repo, 'r2', { workspace: '{branch}' });
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
  expect(isIdle(dir)).toBe(true);
  await removeRunFolder(first, repo.signal);
  expect(existsSync(join(repo.outside, 'repo.worktrees'))).toBe(false);
  expect(await create(repo, second, 3)).toMatchObject({ kind: 'ready', dir });
});

test('workspaces inside of the checkout never show as new files there', async () => {
  await using repo = await tempRepo();
  for (const [run, dir] of Object.entries({ r1: '.trees', r2: '.' })) {
    const context = await contextOf(repo, run, { workspace: 'at/{branch}', dir });
    expect(await create(repo, context, 1)).toMatchObject({ kind: 'ready' });
    expect(await repo.git('status', '--porcelain')).toBe('');
    expect(await release(repo, context)).toEqual({ kind: 'removed' });
    await removeRunFolder(context, repo.signal);
    await repo.git('branch', '-D', '-q', 'feature/a');
  }
  expect(await repo.git('clean', '-ndx')).toBe('');
});
