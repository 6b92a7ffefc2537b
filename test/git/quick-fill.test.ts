/** A worktree that is filled like another one is what git would have made of it. */

import { execFileSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fill } from '../../src/git/quick-fill.ts';
import { restoreFiles } from '../../src/git/scrub.ts';
import { addWorktree } from '../../src/git/worktree.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const FILES = {
  a: 'a\n',
  'd/e': 'e\n',
  'd/g/h': 'h\n',
  'd-x': '',
  'i/j': '\0ÿ\r\n',
};

const sh = (dir: string, script: string): string =>
  execFileSync('sh', ['-c', script], { cwd: dir, encoding: 'utf8' });

/** All that can be seen of a worktree, but for times and inodes. */
function seen(dir: string): string {
  return [
    sh(dir, "find . -name .git -prune -o -printf '%M %n %s %p\\n' | sort"),
    sh(dir, 'find . -name .git -prune -o -type f -exec sha1sum {} + | sort'),
    sh(dir, 'git status --porcelain; git ls-files --stage; git write-tree'),
    sh(dir, 'git diff-files --name-only; git fsck --cache --no-dangling 2>&1'),
    // Where HEAD was before a reset, which is where it is.
    sh(dir, 'ls "$(git rev-parse --git-dir)" | grep -vx ORIG_HEAD'),
  ].join('\n');
}

/** Makes worktrees one after the other; says which of them git has filled. */
async function makeThree(repo: TempRepo): Promise<readonly boolean[]> {
  const commit = await repo.git('rev-parse', 'HEAD');
  const byGit: boolean[] = [];
  for (const name of ['one', 'two', 'three']) {
    const path = join(repo.outside, name);
    const { commonDir, signal } = repo;
    await repo.git('worktree', 'add', '-q', '--no-checkout', '--detach', path, commit);
    let isAsked = false;
    const ask = async (): Promise<void> => {
      isAsked = true;
      await restoreFiles(path, signal);
    };
    await fill({ commonDir, dir: path, commit }, ask, signal);
    byGit.push(isAsked);
  }
  return byGit;
}

test('the second and third are like the first', async () => {
  await using repo = await tempRepo({ files: FILES });
  sh(repo.dir, 'chmod 755 d/e && git add -A && git commit -qm mode && git gc -q');
  expect(await makeThree(repo)).toEqual([true, false, false]);
  const [one, two, three] = ['one', 'two', 'three'].map((name) => seen(join(repo.outside, name)));
  expect(two).toBe(one);
  expect(three).toBe(one);
});

test('what one of them holds is its own', async () => {
  await using repo = await tempRepo({ files: FILES });
  await makeThree(repo);
  writeFileSync(join(repo.outside, 'two', 'a'), 'changed\n');
  expect(sh(join(repo.outside, 'two'), 'git status --porcelain')).toBe(' M a\n');
  expect(sh(join(repo.outside, 'three'), 'cat a; git status --porcelain')).toBe('a\n');
});

test('many at once are all whole', async () => {
  await using repo = await tempRepo({ files: FILES });
  const { commonDir, signal } = repo;
  const commit = await repo.git('rev-parse', 'HEAD');
  const paths = Array.from({ length: 8 }, (_, nth) => join(repo.outside, `w${nth}`));
  await Promise.all(
    paths.map((path) => addWorktree(commonDir, { path, branch: null, commit }, signal)),
  );
  expect(new Set(paths.map(seen)).size).toBe(1);
});

test('one whose maker was stopped is made by git', async () => {
  await using repo = await tempRepo({ files: FILES });
  const commit = await repo.git('rev-parse', 'HEAD');
  const what = { commonDir: repo.commonDir, dir: repo.dir, commit };
  const stopped = fill(what, () => Promise.reject(new Error('stopped')), repo.signal);
  let isAsked = false;
  const ask = async (): Promise<void> => {
    isAsked = true;
  };
  const second = fill(what, ask, repo.signal);
  await expect(stopped).rejects.toThrow('stopped');
  await second;
  expect(isAsked).toBe(true);
});

test.each([
  ['attributes', (repo: TempRepo) => writeFileSync(join(repo.dir, '.gitattributes'), '* text\n')],
  ['a link', (repo: TempRepo) => symlinkSync('a', join(repo.dir, 'link'))],
  ['a name that git may refuse', (repo: TempRepo) => writeFileSync(join(repo.dir, 'x:y'), '')],
  ['a large file', (repo: TempRepo) => writeFileSync(join(repo.dir, 'l'), Buffer.alloc(2 ** 21))],
  ['line ends', (repo: TempRepo) => repo.git('config', 'core.autocrlf', 'true')],
])('with %s each is filled by git', async (_what, make) => {
  await using repo = await tempRepo({ files: FILES });
  await make(repo);
  sh(repo.dir, 'git add -A 2>/dev/null && git commit -q --allow-empty -m odd');
  expect(await makeThree(repo)).toEqual([true, true, true]);
});
