/** Merges and commits without a process are, bit for bit, what git itself makes. */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { quickCommit } from '../../src/git/quick-commit.ts';
import { quickMerge } from '../../src/git/quick-merge.ts';
import { change, generator, PLACES } from '../support/random-changes.ts';
import { runGit, type TempRepo, tempRepo } from '../support/temp-repo.ts';

async function commit(dir: string, message: string): Promise<string> {
  await runGit(dir, ['add', '-A']);
  await runGit(dir, ['commit', '-q', '--allow-empty', '-m', message]);
  return runGit(dir, ['rev-parse', 'HEAD']);
}

async function compare(repo: TempRepo, base: string, onto: string, work: string) {
  const quick = await quickMerge(repo.commonDir, { base, onto, work }, repo.signal);
  const asked = await runGit(repo.dir, ['merge-tree', '--write-tree', onto, work]).catch(() => '');
  return { quick, asked };
}

test('random changes are merged as git merges them, or left to git', async () => {
  await using repo = await tempRepo();
  const random = generator(7);
  let answered = 0;
  for (let round = 0; round < 60; round += 1) {
    await runGit(repo.dir, ['checkout', '-q', '--detach']);
    for (const name of PLACES) {
      mkdirSync(dirname(join(repo.dir, name)), { recursive: true });
      rmSync(join(repo.dir, name), { recursive: true, force: true });
      writeFileSync(join(repo.dir, name), `${name}\n${'same\n'.repeat(8)}`);
    }
    const base = await commit(repo.dir, 'base');
    change(repo.dir, random);
    const onto = await commit(repo.dir, 'onto');
    await runGit(repo.dir, ['checkout', '-q', '--detach', base]);
    change(repo.dir, random);
    const work = await commit(repo.dir, 'work');
    const { quick, asked } = await compare(repo, base, onto, work);
    if (quick === null) continue;
    answered += 1;
    expect(asked, `round ${round}`).toBe(quick);
    await runGit(repo.dir, ['fsck', '--no-dangling', quick]);
  }
  expect(answered).toBeGreaterThan(15);
}, 120_000);

describe('left to git', () => {
  const both = async (
    ours: Record<string, string | null>,
    theirs: Record<string, string | null>,
  ) => {
    const repo = await tempRepo({
      files: { 'x/a': '1\n2\n3\n', 'x/b': 'b\n', 'y/c': 'c\n', top: 't\n' },
    });
    const base = await repo.git('rev-parse', 'HEAD');
    const onto = await repo.commit('ours', ours);
    const work = await repo.commit('theirs', theirs);
    return { repo, told: await compare(repo, base, onto, work) };
  };

  test.each([
    ['the same file', { top: '1\n' }, { top: '2\n' }],
    ['a file moved to two places', { 'x/b': null, p: 'b\n' }, { 'x/b': null, q: 'b\n' }],
    ['a changed and a deleted file', { 'x/b': 'changed\n' }, { 'x/b': null }],
    [
      'a folder moved away, and a file added to it',
      { 'y/c': null, 'z/c': 'c\n' },
      { 'y/new': '1\n' },
    ],
    ['folders made by both', { 'n/a': '1\n' }, { 'n/b': '1\n' }],
  ])('%s', async (_what, ours, theirs) => {
    const { repo, told } = await both(ours, theirs);
    await using _ = repo;
    expect(told.quick).toBeNull();
  });

  test('work with a merge in it, and a repository with other objects', async () => {
    await using repo = await tempRepo();
    const base = await repo.git('rev-parse', 'HEAD');
    await repo.commit('side', { b: '1\n' });
    const onto = await repo.commit('main', { a: '1\n' });
    await repo.git('checkout', '-q', 'side');
    await repo.git('merge', '-q', '--no-edit', 'main');
    const work = await repo.git('rev-parse', 'HEAD');
    expect((await compare(repo, base, onto, work)).quick).toBeNull();
  });
});

test('a quick commit is the commit that git would make', async () => {
  await using repo = await tempRepo();
  const tree = await repo.git('rev-parse', 'HEAD^{tree}');
  const parent = await repo.git('rev-parse', 'HEAD');
  const other = await repo.commit('other', { a: '1\n' });
  const message = 'Land ü\n\nBody.\n';
  const sha = await quickCommit(
    repo.commonDir,
    { tree, parents: [parent, other], message },
    repo.signal,
  );
  const [author, date] = (
    await repo.git('show', '-s', '--format=%an <%ae>%n%ad', '--date=raw', sha!)
  ).split('\n');
  expect(author).toBe('Ada Lovelace <ada@example.com>');
  const env = { GIT_AUTHOR_DATE: date!, GIT_COMMITTER_DATE: date! };
  Object.assign(process.env, env);
  try {
    const args = ['commit-tree', '-p', parent, '-p', other, '-F', '-', tree];
    expect(await runGit(repo.dir, args, message)).toBe(sha);
  } finally {
    for (const name of Object.keys(env)) delete process.env[name];
  }
  await repo.git('fsck', '--no-dangling', sha!);
});
