/** A git that is killed in the middle, as the system does when memory runs out. */

import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { tempRepo } from '../support/temp-repo.ts';
import { begin, expectResumed, expectTold, expectWhole, gitBefore } from './scene.ts';

const PLAN = {
  gates: [{ name: 'ok', run: 'true' }],
  tasks: {
    one: 'echo 1 > one.txt',
    two: { needs: ['one'], prompt: 'echo 2 > two.txt' },
  },
};
const FILES = ['one.txt', 'two.txt'];

/** As many as a run starts: while it opens, in a workspace, while work is judged and published. */
const COMMANDS = 34;

test.each(Array.from({ length: COMMANDS }, (_, n) => n + 1))('git command %i', async (nth) => {
  await using repo = await tempRepo();
  const env = await gitBefore(
    repo,
    `if test "$count" = ${nth}; then "$real" "$@" <&0 & kill -9 $!; kill -9 $$; fi`,
  );
  const ended = await begin(repo, PLAN, { env }).ended;
  if (ended.code === 0) return await expectWhole(repo, FILES);
  expect([1, 3]).toContain(ended.code);
  expectTold(ended, ended.code ?? 0, 'git ');
  expect(ended.stderr).toMatch(/Killed|SIGKILL/);
  expect(ended.stderr).toMatch(/landfast resume|resume the run|git merge landfast/);
  const { stdout } = await landfast(['runs', '--json'], { cwd: repo.dir });
  if (stdout !== '[]\n') return void (await expectResumed(repo, FILES));
  expect(await begin(repo, PLAN).ended).toMatchObject({ code: 0 });
  await expectWhole(repo, FILES);
});
