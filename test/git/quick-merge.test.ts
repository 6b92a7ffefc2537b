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

/** A branch of a task, and where it began. */
interface Branch {
  readonly base: string;
  readonly tip: string;
}

/** What a branch becomes where its agent takes over the work of another. */
async function takeOver(dir: string, { tip }: Branch, other: string, how: number): Promise<string> {
  const ways = [['merge', '-q', '--no-edit'], ['merge', '-q', '--ff-only'], ['cherry-pick']];
  const way = ways[how]!;
  await runGit(dir, ['checkout', '-q', '--detach', tip]);
  await runGit(dir, [...way, other]).catch(async () => {
    await runGit(dir, ['reset', '-q', '--hard', tip]); // They conflict, or it has all of it.
  });
  return runGit(dir, ['rev-parse', 'HEAD']);
}

/** Its agent works on, in one file; it may have thought better of all it did before. */
async function goOn(
  dir: string,
  { base, tip }: Branch,
  random: (below: number) => number,
): Promise<string> {
  await runGit(dir, ['checkout', '-q', '--detach', tip]);
  if (random(2) === 0) await runGit(dir, ['read-tree', '-u', '--reset', base]);
  const path = join(dir, `f${random(8)}`);
  if (random(4) === 0) rmSync(path, { force: true });
  else writeFileSync(path, `${random(1_000)}\n`);
  return commit(dir, `work ${random(1_000_000)}`);
}

test('work of which others have landed a part is merged as git merges it', async () => {
  await using repo = await tempRepo({ files: { f0: '0\n', f1: '1\n', f2: '2\n', f3: '3\n' } });
  const random = generator(11);
  const found = { answered: 0, left: 0 };
  for (let round = 0; round < 16; round += 1) {
    let head = await repo.git('rev-parse', 'main');
    const branches: Branch[] = [1, 2, 3].map(() => ({ base: head, tip: head }));
    for (let step = 0; step < 24; step += 1) {
      const which = random(branches.length);
      const branch = branches[which]!;
      const other = branches[random(branches.length)]!;
      const kind = random(8);
      if (kind < 3) branches[which] = { ...branch, tip: await goOn(repo.dir, branch, random) };
      else if (kind < 5) {
        const tip = await takeOver(repo.dir, branch, other.tip, random(3));
        branches[which] = { ...branch, tip };
      } else if (branch.tip !== branch.base) {
        const { quick, asked } = await compare(repo, branch.base, head, branch.tip);
        const where = `round ${round}, step ${step}`;
        if (quick !== null) expect(asked, where).toBe(quick);
        found[quick === null ? 'left' : 'answered'] += 1;
        const parents = ['-p', head, ...(kind === 5 ? [] : ['-p', branch.tip])];
        if (asked !== '') head = await repo.git('commit-tree', ...parents, '-m', where, asked);
        // Another task begins; or this one goes on, with what has landed, and knows nothing of it.
        if (asked === '' || random(2) === 0) branches[which] = { base: head, tip: head };
      }
    }
  }
  expect(found.answered).toBeGreaterThan(20);
  expect(found.left).toBeGreaterThan(15);
}, 120_000);

test('work that began at an older head than others which landed is merged quickly', async () => {
  await using repo = await tempRepo();
  const heads = [await repo.git('rev-parse', 'HEAD')];
  const works: string[] = [];
  for (let task = 0; task < 6; task += 1) {
    const began = heads.at(Math.max(-3, -heads.length))!; // Three are at work at any time.
    await repo.git('branch', '-f', `w${task}`, began);
    works.push(await repo.commit(`w${task}`, { [`f${task}`]: '1\n' }));
    const { quick, asked } = await compare(repo, began, heads.at(-1)!, works.at(-1)!);
    expect({ task, quick }).toEqual({ task, quick: asked });
    const parents = ['-p', heads.at(-1)!, '-p', works.at(-1)!];
    heads.push(await repo.git('commit-tree', ...parents, '-m', 'land', asked));
  }
});

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

  test('work of which another task has landed a part', async () => {
    await using repo = await tempRepo();
    const base = await repo.git('rev-parse', 'HEAD');
    const part = await repo.commit('one', { f: '1\n' });
    await repo.git('branch', 'two', part);
    const other = await repo.commit('two', { y: '1\n' });
    const tree = await repo.git('rev-parse', `${other}^{tree}`);
    const onto = await repo.git('commit-tree', '-p', base, '-p', other, '-m', 'land', tree);
    const work = await repo.commit('one', { f: null, z: '1\n' });
    const { quick, asked } = await compare(repo, base, onto, work);
    const names = await repo.git('ls-tree', '--name-only', asked);
    expect({ quick, names }).toEqual({ quick: null, names: 'README.md\ny\nz' });
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
