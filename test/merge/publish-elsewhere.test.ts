/** Publishing to a branch that is checked out elsewhere, or that somebody protects. */

import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
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

test('changes in the way in another worktree are not touched, and the command goes there', async () => {
  await using repo = await tempRepo();
  const dir = await releaseElsewhere(repo);
  const before = await repo.git('rev-parse', 'release');
  writeFileSync(join(dir, 'a.txt'), 'mine\n');
  const run = await runPlan(repo, PLAN, TO_RELEASE);
  expect(run).toMatchObject({ code: 1 });
  const [blocked] = run.of('publish.blocked');
  expect(blocked?.why).toContain('Changes in the checkout of release are in the way');
  expect(blocked?.remedy).toContain(`git -C '${dir}' merge --ff-only landfast/${run.run}`);
  expect(readFileSync(join(dir, 'a.txt'), 'utf8')).toBe('mine\n');
  expect(await repo.git('rev-parse', 'release')).toBe(before);
});

test('an index that is locked in another worktree blocks, and a resume publishes', async () => {
  await using repo = await tempRepo();
  const dir = await releaseElsewhere(repo);
  const lock = join(await repo.git('-C', dir, 'rev-parse', '--absolute-git-dir'), 'index.lock');
  writeFileSync(lock, '');
  const run = await runPlan(repo, PLAN, TO_RELEASE);
  expect(run).toMatchObject({ code: 1 });
  expect(run.of('publish.blocked')[0]?.why).toContain('index.lock');
  expect(existsSync(join(dir, 'a.txt'))).toBe(false);
  rmSync(lock);
  const env = { HOME: repo.outside };
  expect(await landfast(['resume'], { cwd: repo.dir, env })).toMatchObject({ code: 0 });
  expect(readFileSync(join(dir, 'a.txt'), 'utf8')).toBe('new\n');
});

test.each(['main', 'release'])(
  'a hook that protects %s is obeyed, and its words are told',
  async (target) => {
    await using repo = await tempRepo();
    await repo.git('branch', 'release');
    const before = await repo.git('rev-parse', target);
    const hooks = join(repo.dir, '.git', 'hooks');
    mkdirSync(hooks, { recursive: true });
    const refuse = `grep -q " refs/heads/${target}$" && { echo "${target} is protected" >&2; exit 1; }`;
    writeFileSync(join(hooks, 'reference-transaction'), `#!/bin/sh\n${refuse}\nexit 0\n`);
    chmodSync(join(hooks, 'reference-transaction'), 0o755);
    const run = await runPlan(repo, PLAN, { args: ['--target', target] });
    expect(run).toMatchObject({ code: 1 });
    const [blocked] = run.of('publish.blocked');
    expect(blocked?.why).toContain(`${target} is protected`);
    expect(blocked?.remedy).toContain(`landfast/${run.run}`);
    expect(run.stderr).toContain(blocked?.remedy);
    expect(await repo.git('rev-parse', target)).toBe(before);
  },
);
