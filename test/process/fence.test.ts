/** Which paths a fence opens, for real worktrees; test/fence shows that the fence keeps to them. */

import { mkdir, readFile, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { InvariantError, OperationalError, UserError } from '../../src/base/errors.ts';
import { addWorktree } from '../../src/git/worktree.ts';
import { boundsOf, type FenceRules } from '../../src/process/fence/bounds.ts';
import { fenceSupport } from '../../src/process/fence.ts';
import { runGit, type TempRepo, tempRepo } from '../support/temp-repo.ts';

async function rulesIn(repo: TempRepo): Promise<FenceRules> {
  const workspace = join(repo.outside, 'the worktrees', 'a');
  const commit = await repo.git('rev-parse', 'HEAD');
  await addWorktree(
    repo.commonDir,
    { path: workspace, branch: 'landfast/r1.a', commit },
    repo.signal,
  );
  const branchRef = 'refs/heads/landfast/r1.a';
  return { workspace, commonDir: repo.commonDir, branchRef, writable: [], network: 'on' };
}

test('the bounds of a workspace are what a commit writes, and no more', async () => {
  await using repo = await tempRepo();
  const rules = await rulesIn(repo);
  const cache = join(repo.outside, 'new', 'cache');
  const admin = join(repo.commonDir, 'worktrees', 'a');
  expect(boundsOf({ ...rules, writable: [cache, cache] })).toEqual({
    writable: [cache, rules.workspace, admin, join(repo.commonDir, 'objects')],
    kept: [
      join(repo.commonDir, 'objects', 'info'),
      join(repo.commonDir, 'objects', 'pack'),
      join(rules.workspace, '.git'),
      join(admin, 'commondir'),
      join(admin, 'gitdir'),
      join(admin, 'config.worktree'),
    ],
    branch: {
      ref: join(repo.commonDir, 'refs', 'heads', 'landfast', 'r1.a'),
      log: join(repo.commonDir, 'logs', 'refs', 'heads', 'landfast', 'r1.a'),
    },
    checkout: repo.dir,
    network: 'on',
  });
  expect((await stat(cache)).mode & 0o777).toBe(0o700);
  expect(await runGit(rules.workspace, ['status', '--porcelain'])).toBe('');
});

test('paths behind links are the real ones', async () => {
  await using repo = await tempRepo();
  const rules = await rulesIn(repo);
  const link = join(repo.outside, 'link');
  await symlink(repo.outside, link);
  const linked = {
    ...rules,
    workspace: join(link, 'the worktrees', 'a'),
    commonDir: join(link, 'repo', '.git'),
  };
  expect(boundsOf(linked)).toEqual(boundsOf(rules));
});

test('a log that git has not begun yet is made, and one that exists stays', async () => {
  await using repo = await tempRepo();
  const rules = await rulesIn(repo);
  const log = boundsOf(rules).branch?.log ?? '';
  await repo.git('commit', '-q', '--allow-empty', '-m', 'More');
  await repo.git('update-ref', rules.branchRef ?? '', 'HEAD'); // Git still uses it.
  boundsOf(rules);
  expect(await readFile(log, 'utf8')).toContain('Ada Lovelace');
  const other = boundsOf({ ...rules, branchRef: 'refs/heads/landfast/new/x' }).branch?.log ?? '';
  expect(await readFile(other, 'utf8')).toBe('');
});

test('no refs are writable where HEAD is detached or refs are no files', async () => {
  await using repo = await tempRepo();
  const rules = await rulesIn(repo);
  expect(boundsOf({ ...rules, branchRef: null }).branch).toBe(null);
  await mkdir(join(repo.commonDir, 'reftable'));
  expect(boundsOf(rules).branch).toBe(null);
});

test.each(['refs/heads/main', 'refs/tags/a/b', 'refs/heads/a/../main', 'main'])(
  'the ref %s has no folder of its own and is refused',
  async (branchRef) => {
    await using repo = await tempRepo();
    const rules = await rulesIn(repo);
    expect(() => boundsOf({ ...rules, branchRef })).toThrow(InvariantError);
  },
);

test('a cache that holds the repository, or is in its git folder, is refused', async () => {
  await using repo = await tempRepo();
  const rules = await rulesIn(repo);
  const bad = ['/', repo.outside, repo.dir, repo.commonDir, join(repo.commonDir, 'hooks'), 'here'];
  for (const path of bad) {
    expect(() => boundsOf({ ...rules, writable: [path] }), path).toThrow(UserError);
  }
});

test('a folder that is not a worktree of the repository is refused', async () => {
  await using repo = await tempRepo();
  const rules = await rulesIn(repo);
  for (const workspace of [repo.dir, repo.outside]) {
    expect(() => boundsOf({ ...rules, workspace })).toThrow(OperationalError);
  }
});

test('this machine says whether it can fence programs in, with a way out if not', async () => {
  const support = await fenceSupport(AbortSignal.timeout(110_000));
  const expected =
    support.kind === 'available'
      ? { tool: expect.stringMatching(/^\//), version: expect.stringMatching(/\d/) }
      : { why: expect.stringMatching(/./), remedy: expect.stringMatching(/./) };
  expect(support).toEqual({ kind: support.kind, ...expected });
});
