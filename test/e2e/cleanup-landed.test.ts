/** `cleanup --all` and branches that equal what landed; `kept drop` of several. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const of = (repo: TempRepo, ...args: readonly string[]) => landfast(args, { cwd: repo.dir });
const names = async (repo: TempRepo, below: string): Promise<readonly string[]> => {
  const out = await repo.git('for-each-ref', '--format=%(refname:lstrip=2)', below);
  return out.split('\n').filter((line) => line !== '');
};

test('a branch whose changes landed squashed goes with --all, and is held', async () => {
  await using repo = await tempRepo();
  const tasks = { a: 'git commit -q --allow-empty -m begun; echo 1 > a.txt' };
  const { run, code } = await runPlan(repo, { tasks, land: { strategy: 'squash' } });
  expect(code).toBe(0);
  // As an engine leaves it that is killed before it tidies up.
  const branch = `landfast/${run}.a`;
  const kept = () => names(repo, 'refs/landfast/kept');
  const [held = ''] = await kept();
  const work = await repo.git('rev-parse', `refs/landfast/${held}`);
  await repo.git('update-ref', `refs/heads/${branch}`, work);
  await of(repo, 'kept', 'drop', `${run}/a`, '--yes');
  expect(await kept()).toEqual([]);
  const before = await of(repo, 'cleanup', '--yes');
  expect(before.stdout).toMatch(/its changes landed as [0-9a-f]{7}.*\(--all\)/);
  expect(await names(repo, 'refs/heads')).toEqual([branch, 'main']);
  const after = await of(repo, 'cleanup', '--all', '--yes');
  expect(after).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('a backup ref will keep'),
  });
  expect(await names(repo, 'refs/heads')).toEqual(['main']);
  const [backup = ''] = await kept();
  expect(await repo.git('rev-parse', `refs/landfast/${backup}`)).toBe(work);
});

test('a branch with further commits stays', async () => {
  await using repo = await tempRepo();
  const { run } = await runPlan(repo, {
    tasks: { a: 'echo 1 > a.txt' },
    land: { strategy: 'squash' },
  });
  const branch = `landfast/${run}.a`;
  const [held = ''] = await names(repo, 'refs/landfast/kept');
  await repo.git('branch', branch, `refs/landfast/${held}`);
  await repo.commit(branch, { 'more.txt': 'mine\n' });
  const { code, stdout } = await of(repo, 'cleanup', '--all', '--yes');
  expect([code, stdout]).toEqual([0, expect.stringContaining('nothing else holds its commits')]);
  expect(await names(repo, 'refs/heads')).toContain(branch);
});

/** Runs a task whose branch the plan names. */
async function runOnFeature(repo: TempRepo, strategy: string): Promise<void> {
  const tasks = { a: { prompt: 'echo 1 > a.txt', branch: 'feature/a' } };
  expect(await runPlan(repo, { tasks, land: { strategy } })).toMatchObject({ code: 0 });
}

/** Only `cleanup --all` removes the branch. */
async function expectRemovedByAll(repo: TempRepo): Promise<void> {
  await of(repo, 'cleanup', '--yes');
  expect(await names(repo, 'refs/heads')).toEqual(['feature/a', 'main']);
  expect(await of(repo, 'cleanup', '--all', '--yes')).toMatchObject({ code: 0 });
  expect(await names(repo, 'refs/heads')).toEqual(['main']);
}

test.each(['merge', 'squash'])(
  'with strategy %s a branch named by the plan goes with --all alone',
  async (strategy) => {
    await using repo = await tempRepo();
    await runOnFeature(repo, strategy);
    await expectRemovedByAll(repo);
  },
);

test('a delivered branch named by the plan goes with --all once it is merged by hand', async () => {
  await using repo = await tempRepo();
  await runOnFeature(repo, 'none');
  await of(repo, 'cleanup', '--all', '--yes');
  expect(await names(repo, 'refs/heads')).toContain('feature/a');
  await repo.git('merge', '-q', '--no-edit', 'feature/a');
  await expectRemovedByAll(repo);
});

/** Kept refs whose commits are of these ages, in days. */
async function keep(repo: TempRepo, ages: Readonly<Record<string, number>>): Promise<void> {
  const tree = await repo.git('rev-parse', 'HEAD^{tree}');
  for (const [name, days] of Object.entries(ages)) {
    const at = Math.round(Date.now() / 1000) - days * 86_400;
    const who = `Ada <ada@example.com> ${at} +0000`;
    const file = join(repo.outside, 'commit');
    writeFileSync(file, `tree ${tree}\nauthor ${who}\ncommitter ${who}\n\n${name}\n`);
    const commit = await repo.git('hash-object', '-t', 'commit', '-w', file);
    await repo.git('update-ref', `refs/landfast/kept/${name}`, commit);
  }
}

test('kept drop takes several refs, or all of an age', async () => {
  await using repo = await tempRepo();
  await keep(repo, { 'r1/a': 1, 'r1/b': 2, 'r2/a': 40, 'r2/b': 50, 'r3/c': 60 });
  const kept = () => names(repo, 'refs/landfast/kept');
  const asked = await of(repo, 'kept', 'drop', 'r1/a', 'r1/b');
  expect(asked).toMatchObject({ code: 0, stderr: expect.stringContaining('add --yes') });
  expect(await of(repo, 'kept', 'drop', 'r1/a', 'nope/x', '--yes')).toMatchObject({ code: 2 });
  expect((await kept()).length).toBe(5);
  expect(await of(repo, 'kept', 'drop', 'r1/a', 'r1/b', 'r1/a', '--yes')).toMatchObject({
    code: 0,
  });
  expect(await kept()).toEqual(['kept/r2/a', 'kept/r2/b', 'kept/r3/c']);
  await of(repo, 'kept', 'drop', 'r2/a', 'r2/b', '--older-than', '45d', '--yes');
  expect(await kept()).toEqual(['kept/r2/a', 'kept/r3/c']);
  const none = await of(repo, 'kept', 'drop', '--older-than', '90d', '--yes');
  expect(none).toMatchObject({ code: 0, stdout: 'No kept work is that old.\n' });
  await of(repo, 'kept', 'drop', '--older-than', '30d', '--yes');
  expect(await kept()).toEqual([]);
  expect(await of(repo, 'kept', 'drop')).toMatchObject({ code: 2 });
});
