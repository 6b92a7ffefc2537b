import { expect, test } from 'vitest';
import { branchNames } from '../../src/git/refs.ts';
import { unmergedIn } from '../../src/git/status.ts';
import { tempRepo } from '../support/temp-repo.ts';

test('commits that the target does not hold are counted, and files in no commit', async () => {
  await using repo = await tempRepo();
  await repo.git('switch', '-q', '-c', 'work');
  expect(await unmergedIn(repo.dir, 'main', repo.signal)).toEqual({ commits: 0, files: 0 });
  await repo.commit('work', { 'a.txt': '1\n' });
  await repo.commit('work', { 'a.txt': '2\n' });
  await repo.write({ 'a.txt': '3\n', 'new/b.txt': '1\n', 'new/c.txt': '1\n' });
  expect(await unmergedIn(repo.dir, 'main', repo.signal)).toEqual({ commits: 2, files: 3 });
});

test('without a target all commits count', async () => {
  await using repo = await tempRepo();
  await repo.commit('main', { 'a.txt': '1\n' });
  expect(await unmergedIn(repo.dir, null, repo.signal)).toEqual({ commits: 2, files: 0 });
  expect(await unmergedIn(repo.dir, 'gone', repo.signal)).toEqual({ commits: 2, files: 0 });
});

test('the branches below a prefix are named, and no others', async () => {
  await using repo = await tempRepo();
  for (const name of ['team/a', 'team/b/c', 'teamwork', 'other/d']) await repo.git('branch', name);
  expect(await branchNames(repo.dir, 'refs/heads/team/', repo.signal)).toEqual([
    'team/a',
    'team/b/c',
  ]);
});
