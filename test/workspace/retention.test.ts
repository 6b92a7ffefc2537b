/** Which workspaces stay for a later run, and which do not although there is room. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { testPool } from '../support/pool.ts';
import { runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const tells = test.runIf(existsSync('/proc/self/cwd'));

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

tells('one in which a process works does not wait for another run', async () => {
  await using repo = await tempRepo();
  const commit = await repo.git('rev-parse', 'HEAD');
  const pool = testPool(repo, 8, { small: true });
  for (let nth = 0; nth < 3; nth += 1) await pool.add(commit, repo.signal);
  const below = join(pool.place.folder, '2', 'below');
  mkdirSync(below);
  const child = spawn('sleep', ['60'], { cwd: below });
  try {
    await once(child, 'spawn');
    await pool.settle(repo.signal);
    expect(slotsOf(repo)).toEqual([1, 3]);
    expect([child.exitCode, child.signalCode]).toEqual([null, null]);
  } finally {
    child.kill('SIGKILL');
  }
});

tells('a program that hides from its run does not reach the next one', async () => {
  await using repo = await tempRepo();
  const file = join(repo.outside, 'pid');
  const daemon = `echo $$ > ${file}; exec sleep 300`;
  const hidden = `env -i PATH="$PATH" setsid nohup sh -c '${daemon}' >/dev/null 2>&1 &`;
  const script = `${hidden}\nuntil test -s ${file}; do :; done; echo 1 > one`;
  const more = { workspace: { pool: 2 } };
  try {
    expect(await runPlan(repo, { tasks: { one: script }, more })).toMatchObject({ code: 0 });
    expect(slotsOf(repo)).toEqual([]);
  } finally {
    process.kill(Number(readFileSync(file, 'utf8')), 'SIGKILL'); // It lives: nobody has ended it.
  }
  expect(await runPlan(repo, { tasks: { two: 'echo 1 > two' }, more })).toMatchObject({ code: 0 });
  expect(readdirSync(testPool(repo, 8).place.folder)).toHaveLength(1);
});
