/** Which repository a directory belongs to, from all the places one may be started in. */

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { headBranch, openRepository } from '../../src/git/repository.ts';
import { tempDir } from '../support/temp-dir.ts';
import { runGit, tempRepo } from '../support/temp-repo.ts';

test('a checkout, its folders and its worktrees agree about what they share', async () => {
  await using repo = await tempRepo({ name: 'my project' });
  await repo.write({ 'deep/er/file': '' });
  const linked = join(repo.outside, 'linked');
  await repo.git('worktree', 'add', '--quiet', linked);
  const shared = {
    commonDir: repo.commonDir,
    stateDir: join(repo.commonDir, 'landfast'),
    worktreesDir: join(repo.outside, 'my project.worktrees'),
  };

  for (const place of [repo.dir, join(repo.dir, 'deep/er')]) {
    expect(await openRepository(place, repo.signal)).toEqual({
      kind: 'repository',
      repository: { dir: repo.dir, ...shared },
    });
  }
  expect(await openRepository(linked, repo.signal)).toEqual({
    kind: 'repository',
    repository: { dir: linked, ...shared },
  });
});

test('the path of a repository may hold a newline and other letters', async () => {
  await using repo = await tempRepo({ name: 'zwei\nZeilen ü' });
  expect(await openRepository(repo.dir, repo.signal)).toMatchObject({
    repository: {
      dir: repo.dir,
      commonDir: repo.commonDir,
      worktreesDir: `${repo.dir}.worktrees`,
    },
  });
});

test('a bare repository has no checkout, but its worktrees are checkouts', async () => {
  await using repo = await tempRepo();
  const bare = join(repo.outside, 'proj', '.bare');
  await repo.git('clone', '--quiet', '--bare', repo.dir, bare);
  const [a, b] = [join(repo.outside, 'proj', 'a'), join(repo.outside, 'proj', 'b')];
  await runGit(bare, ['worktree', 'add', '--quiet', a, 'main']);
  await runGit(bare, ['worktree', 'add', '--quiet', '-b', 'b', b]);

  expect(await openRepository(bare, repo.signal)).toEqual({ kind: 'bare' });
  for (const dir of [a, b]) {
    expect(await openRepository(dir, repo.signal)).toEqual({
      kind: 'repository',
      repository: {
        dir,
        commonDir: bare,
        stateDir: join(bare, 'landfast'),
        worktreesDir: join(repo.outside, 'proj', 'bare.worktrees'),
      },
    });
  }
});

test('the worktrees of a submodule do not go into the .git of the outer repository', async () => {
  await using repo = await tempRepo();
  await using inner = await tempRepo();
  await repo.git('-c', 'protocol.file.allow=always', 'submodule', 'add', inner.dir, 'libs/sub');
  expect(await openRepository(join(repo.dir, 'libs/sub'), repo.signal)).toMatchObject({
    repository: {
      dir: join(repo.dir, 'libs/sub'),
      commonDir: join(repo.commonDir, 'modules/libs/sub'),
      worktreesDir: `${repo.dir}.libs-sub.worktrees`,
    },
  });
});

test('where there is no repository, none is found', async () => {
  await using dir = await tempDir();
  vi.stubEnv('GIT_CEILING_DIRECTORIES', dir.path);
  const { signal } = new AbortController();
  await mkdir(join(dir.path, 'empty'));
  expect(await openRepository(join(dir.path, 'empty'), signal)).toEqual({ kind: 'none' });
  vi.unstubAllEnvs();
});

test('a repository of another user is unsafe, and the message says what to do', async () => {
  await using repo = await tempRepo();
  vi.stubEnv('GIT_TEST_ASSUME_DIFFERENT_OWNER', '1');
  expect(await openRepository(repo.dir, repo.signal)).toEqual({
    kind: 'unsafe',
    message: expect.stringContaining('safe.directory'),
  });
  vi.unstubAllEnvs();
});

test('being started from a hook of another repository does not confuse', async () => {
  await using repo = await tempRepo();
  await using other = await tempRepo();
  vi.stubEnv('GIT_DIR', other.commonDir);
  vi.stubEnv('GIT_WORK_TREE', other.dir);
  vi.stubEnv('GIT_INDEX_FILE', join(other.commonDir, 'index'));
  expect(await openRepository(repo.dir, repo.signal)).toMatchObject({
    repository: { dir: repo.dir },
  });
  vi.unstubAllEnvs();
});

test('HEAD is a branch, detached, or without a commit', async () => {
  await using repo = await tempRepo();
  const commit = await repo.commit('main', { a: '1' });
  expect(await headBranch(repo.dir, repo.signal)).toEqual({ kind: 'branch', name: 'main', commit });
  await repo.git('checkout', '--quiet', '-b', 'topic/ünï');
  expect(await headBranch(repo.dir, repo.signal)).toEqual({
    kind: 'branch',
    name: 'topic/ünï',
    commit,
  });
  await repo.git('checkout', '--quiet', '--detach');
  expect(await headBranch(repo.dir, repo.signal)).toEqual({ kind: 'detached', commit });

  await using empty = await tempRepo({ files: null });
  expect(await headBranch(empty.dir, empty.signal)).toEqual({ kind: 'unborn', name: 'main' });
});
