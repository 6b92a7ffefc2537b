/** `land.publish: ask`: what has landed reaches the target when a person approves it. */

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { liveRun } from '../support/live-run.ts';
import { tempRepo } from '../support/temp-repo.ts';

const ASK = { land: { publish: 'ask' } } as const;

test('without a person at the terminal the run ends, and approve takes it up', async () => {
  await using repo = await tempRepo();
  const { engine, cli, run } = await liveRun(repo, { a: 'echo 1 > a.txt' }, ASK);
  const ended = await engine.ended;
  expect(ended.code).toBe(1);
  expect(ended.stderr).toContain('to main waits for your approval.');
  expect(ended.stderr).toContain(`landfast approve ${run}, or without publishing:`);
  expect(await repo.git('ls-files')).toBe('README.md');
  expect((await cli('status')).stdout).toContain(`landfast approve ${run}`);
  expect((await cli('resume')).code).toBe(1);
  expect(existsSync(join(repo.dir, 'a.txt'))).toBe(false);
  expect((await cli('approve')).code).toBe(0);
  expect(await repo.git('ls-files')).toBe('README.md\na.txt');
  const again = await cli('approve');
  expect(again).toMatchObject({ code: 2 });
  expect(again.stderr).toContain('Nothing waits for approval.');
});

test('declined work stays on the branch of the run, and can be approved later', async () => {
  await using repo = await tempRepo();
  const { engine, cli, run } = await liveRun(repo, { a: 'echo 1 > a.txt' }, ASK);
  await engine.ended;
  expect((await cli('approve', '--decline')).code).toBe(0);
  expect(await repo.git('ls-tree', '--name-only', `landfast/${run}`)).toBe('README.md\na.txt');
  expect(await repo.git('ls-files')).toBe('README.md');
  expect((await cli('status')).stdout).toContain('Publishing to main was declined');
  expect((await cli('approve', run)).code).toBe(0);
  expect(await repo.git('ls-files')).toBe('README.md\na.txt');
});

test('an approval that something blocks holds when the run is resumed', async () => {
  await using repo = await tempRepo();
  const { engine, cli } = await liveRun(repo, { a: 'echo 1 > a.txt' }, ASK);
  await engine.ended;
  writeFileSync(join(repo.dir, 'a.txt'), 'mine\n');
  expect((await cli('approve')).code).toBe(1);
  await repo.git('stash', '--include-untracked', '--quiet');
  expect((await cli('resume')).code).toBe(0);
  expect(await repo.git('ls-files')).toBe('README.md\na.txt');
});
