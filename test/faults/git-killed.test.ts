/** A git that is killed in the middle, as the system does when memory runs out. */

import { expect, test } from 'vitest';
import { type Ended, landfast } from '../support/landfast.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';
import { begin, expectTold, expectWhole, gitBefore } from './scene.ts';

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
  const isDone = ended.code === 0; // Some commands are not vital.
  expect([0, 1, 3]).toContain(ended.code);
  expectTold(ended, ended.code ?? -1);
  const said = isDone
    ? [/All 2 tasks succeeded/]
    : [/git /, /Killed|SIGKILL/, /landfast resume|resume the run|git merge landfast/];
  expect(said.filter((text) => !text.test(ended.stderr))).toEqual([]);
  expect(isDone ? ended : await again(repo)).toMatchObject({ code: 0 });
  await expectWhole(repo, FILES);
});

/** Resumes the run, or starts it where none was recorded. */
async function again(repo: TempRepo): Promise<Ended> {
  const { stdout } = await landfast(['runs', '--json'], { cwd: repo.dir });
  return stdout === '[]\n' ? begin(repo, PLAN).ended : landfast(['resume'], { cwd: repo.dir });
}
