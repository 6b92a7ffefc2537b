/**
 * Attempts that leave something behind that git would never have made: another folder in place of
 * the workspace, or paths that lead out of it. The attempt fails and says why, and nothing lands.
 */

import { expect, test } from 'vitest';
import { runPlan } from '../support/run-plan.ts';
import { tempRepo } from '../support/temp-repo.ts';

const FILES = { 'README.md': 'hello\n', 'src/a.txt': 'a\n' };

/** Asserts that the attempt fails for that reason, and that nothing of it lands. */
async function expectRefused(script: string, why: RegExp): Promise<void> {
  await using repo = await tempRepo({ files: FILES });
  const before = await repo.git('rev-parse', 'main');
  const run = await runPlan(repo, { tasks: { one: script } });
  expect(run).toMatchObject({ code: 1 });
  expect(run.of('attempt.failed').map(({ failure }) => failure.message)).toEqual([
    expect.stringMatching(why),
  ]);
  expect(run.of('merge.landed')).toEqual([]);
  expect(await repo.git('rev-parse', 'main')).toBe(before);
  expect(await repo.git('status', '--porcelain')).toBe('');
}

test.each([
  ['an empty folder', 'mkdir ../other && cp .git ../other/'],
  ['a copy that lacks a folder', 'cp -r . ../other && rm -r ../other/src'],
  ['a link to another folder', 'mkdir ../far && cp .git ../far/ && ln -s far ../other'],
])('a workspace replaced by %s fails the attempt', async (_, make) => {
  const swap = 'cd .. && mv one gone && mv other one && cd one';
  await expectRefused(`${make} && ${swap} && echo 1 > one.txt`, /workspace.* replaced/);
});

test('an index entry that leads out of the workspace fails the attempt', async () => {
  // git adds no such path, but does not look again at those in the index. The names sort alike.
  const craft = `echo evil > ../evil.txt
    echo 1 > one.txt
    git add one.txt
    git update-index --add --cacheinfo 100644,$(git hash-object -w ../evil.txt),--/evil.txt
    LC_ALL=C sed -i 's#--/evil.txt#../evil.txt#' "$(git rev-parse --git-path index)"`;
  await expectRefused(craft, /hasDotdot|'\.\.'|\.\.\/evil\.txt/);
});

test.each([
  ['..', /hasDotdot|'\.\.'/],
  ['.git', /hasDotgit|'\.git'/],
])('a commit of the agent with a folder called %s fails the attempt', async (name, why) => {
  const craft = `tree=$(git rev-parse HEAD:src)
    tree=$({ git ls-tree HEAD; printf '040000 tree %s\\t%s\\n' $tree ${name}; } | git mktree)
    git reset -q --soft $(git commit-tree -p HEAD -m Evil $tree)
    echo 1 > one.txt`;
  await expectRefused(craft, why);
});
