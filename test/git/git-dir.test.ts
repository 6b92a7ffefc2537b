/** What the file `.git` of a worktree says is believed only where no other folder says the same. */

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isLinked, mendLink } from '../../src/git/git-dir.ts';
import { tempRepo } from '../support/temp-repo.ts';

/** What an agent may do in its worktree `one`, beside `two`, and whether that can be put right. */
const HARM = [
  ['nothing', 'true', true, true],
  ['no link', 'rm .git', false, true],
  ['a link to nowhere', 'echo "gitdir: /nowhere" > .git', false, true],
  ['a link to the repository', 'rm .git; ln -s ../repo/.git .git', false, true],
  ['the link of another worktree', 'cp ../two/.git .git', false, true],
  ['a pipe', 'rm .git; mkfifo .git', false, true],
  ['a repository of its own', 'rm .git; git init -q', false, false],
  ['no entry', 'rm -r "$(git rev-parse --git-dir)"', false, false],
  ['half an entry', 'rm "$(git rev-parse --git-dir)/HEAD"', true, false],
  ['no folder', 'rm -r "$PWD"', false, false],
] as const;

test('a link that an agent has broken is put right where its entry is there', async () => {
  await using repo = await tempRepo();
  const [one, two] = [join(repo.outside, 'one'), join(repo.outside, 'two')];
  for (const [kind, harm, isWhole, isMended] of HARM) {
    for (const dir of [one, two]) await repo.git('worktree', 'add', '-q', '--detach', dir);
    execFileSync('sh', ['-ec', harm], { cwd: one });
    expect.soft([kind, isLinked(repo.commonDir, one)]).toEqual([kind, isWhole]);
    expect.soft([kind, mendLink(repo.commonDir, one)]).toEqual([kind, isMended]);
    expect.soft([kind, isLinked(repo.commonDir, two)]).toEqual([kind, true]);
    execFileSync('sh', ['-ec', 'rm -rf ../one ../two .git/worktrees'], { cwd: repo.dir });
  }
});

test('a worktree that was moved is linked, a copy of it is not', async () => {
  await using repo = await tempRepo();
  const [one, moved] = [join(repo.outside, 'one'), join(repo.outside, 'moved')];
  await repo.git('worktree', 'add', '-q', '--detach', one);
  execFileSync('cp', ['-a', one, moved]);
  expect([one, moved].map((dir) => isLinked(repo.commonDir, dir))).toEqual([true, false]);
  execFileSync('rm', ['-r', one]);
  expect([one, moved].map((dir) => isLinked(repo.commonDir, dir))).toEqual([false, true]);
});
