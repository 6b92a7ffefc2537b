/** Which workspaces stay for a later run, and which do not although there is room. */

import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { testPool } from '../support/pool.ts';
import { runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const slotsOf = (repo: TempRepo): readonly number[] =>
  testPool(repo, 8)
    .idle()
    .map(({ slot }) => slot)
    .toSorted((a, b) => a - b);

test('those that were asked for stay, unless the user has said that fewer do', async () => {
  await using repo = await tempRepo();
  const commit = await repo.git('rev-parse', 'HEAD');
  const place = { later: 2 };
  for (let nth = 0; nth < 4; nth += 1) await testPool(repo, 8).add(commit, repo.signal);
  await testPool(repo, 8, place).settle(repo.signal);
  expect(slotsOf(repo)).toEqual([1, 2, 3, 4]);
  await testPool(repo, 8, { ...place, small: true }).settle(repo.signal);
  expect(slotsOf(repo)).toHaveLength(2);
});

test('what was warmed stays after a run that would leave fewer', async () => {
  await using repo = await tempRepo();
  const warmed = await landfast(['pool', 'warm', '6'], { cwd: repo.dir });
  expect(warmed).toMatchObject({ code: 0 });
  const tasks = { one: 'echo 1 > one', two: 'echo 1 > two' };
  expect(await runPlan(repo, { workers: 2, tasks })).toMatchObject({ code: 0 });
  expect(slotsOf(repo)).toHaveLength(6);
});
