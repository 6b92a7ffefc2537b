/** Publishing to a branch that is checked out elsewhere. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const PLAN = { tasks: { one: 'echo new > a.txt' } };
const TO_RELEASE = { args: ['--target', 'release'] };

/** A second worktree of the repository, on the branch `release`. */
async function releaseElsewhere(repo: TempRepo): Promise<string> {
  const dir = join(repo.outside, 'release tree');
  await repo.git('worktree', 'add', '--quiet', '-b', 'release', dir);
  return dir;
}

test('a target that is checked out in another worktree moves there, with its files', async () => {
  await using repo = await tempRepo();
  const dir = await releaseElsewhere(repo);
  const run = await runPlan(repo, PLAN, TO_RELEASE);
  expect(run).toMatchObject({ code: 0 });
  expect(run.of('publish.finished')).toMatchObject([{ target: 'release', checkout: 'followed' }]);
  expect(readFileSync(join(dir, 'a.txt'), 'utf8')).toBe('new\n');
  expect(await repo.git('-C', dir, 'status', '--porcelain')).toBe('');
  expect(existsSync(join(repo.dir, 'a.txt'))).toBe(false);
});

test('a locked worktree follows, too: only its removal is locked', async () => {
  await using repo = await tempRepo();
  const dir = await releaseElsewhere(repo);
  await repo.git('worktree', 'lock', dir);
  expect(await runPlan(repo, PLAN, TO_RELEASE)).toMatchObject({ code: 0 });
  expect(readFileSync(join(dir, 'a.txt'), 'utf8')).toBe('new\n');
});
