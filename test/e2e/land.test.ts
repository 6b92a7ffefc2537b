/** `landfast land`: any branches, through the queue, in a repository without a plan. */

import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast, start } from '../support/landfast.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const GATE = ['--gate', 'whole=test ! -e broken'];
const land = (repo: TempRepo, ...args: readonly string[]) =>
  landfast(['land', ...args], { cwd: repo.dir });
const subjects = (repo: TempRepo) => repo.git('log', '--first-parent', '--format=%s', 'main');
const branches = (repo: TempRepo) =>
  repo.git('for-each-ref', '--format=%(refname:short) %(objectname)', 'refs/heads');

test.each(['each', 'batch'])(
  'with verify %s exactly the culprit and the conflict stay out, and their branches do not move',
  async (verify) => {
    await using repo = await tempRepo();
    await repo.commit('feature/one', { 'one.txt': '1\n' });
    await repo.commit('feature/two', { 'two.txt': '2\n' });
    await repo.commit('culprit', { broken: '' });
    await repo.commit('clash', { 'one.txt': 'other\n' });
    const before = (await branches(repo)).split('\n').filter((line) => !line.startsWith('main '));
    const names = ['feature/one', 'culprit', 'clash', 'feature/two'];
    const ended = await land(repo, ...names, ...GATE, '--verify', verify);
    expect(ended).toMatchObject({ code: 1 });
    expect((await subjects(repo)).split('\n')).toEqual([
      'Land feature/two',
      'Land feature/one',
      'Change',
    ]);
    expect((await branches(repo)).split('\n')).toEqual(expect.arrayContaining(before));
    expect(readFileSync(join(repo.dir, 'two.txt'), 'utf8')).toBe('2\n');
    expect(ended.stdout).toContain('git diff HEAD...culprit');
    expect(ended.stdout).toContain('landfast land clash --on-conflict agent');
    const queue = await landfast(['queue', '--explain'], { cwd: repo.dir });
    expect(queue.stdout).toMatch(
      /Did not land:\n {2}culprit {2}gate-failed: .*(?:\n {6}.*)+\n {2}clash {4}conflict: /,
    );
    expect(queue.stdout).toMatch(/culprit was ejected: red twice, while \w+ without it is green/);
    const again = await land(repo, 'feature/one', 'feature/two');
    expect(again).toMatchObject({ code: 0, stdout: '' });
    expect(again.stderr).toContain('feature/one has landed: main holds all of it.');
  },
);

test('a branch of a remote lands as it was fetched, squashed, on a branch that is not checked out', async () => {
  await using repo = await tempRepo();
  const work = await repo.commit('feature', { 'a.txt': 'a\n' });
  await repo.git('update-ref', 'refs/remotes/origin/feature', work);
  await repo.git('branch', '-D', 'feature');
  await repo.git('branch', 'release');
  const ended = await land(repo, 'origin/feature', '--target', 'release', '--strategy', 'squash');
  expect(ended).toMatchObject({ code: 0 });
  expect(ended.stderr).toContain('There is no gate');
  expect(await repo.git('log', '-1', '--format=%s %P', 'release')).toBe(
    `Land origin/feature ${await repo.git('rev-parse', 'main')}`,
  );
  expect(existsSync(join(repo.dir, 'a.txt'))).toBe(false);
});

test('commits shared by two branches land once, in whatever order the branches are named', async () => {
  await using repo = await tempRepo();
  await repo.commit('below', { 'a.txt': 'a\n' });
  await repo.git('branch', 'same', 'below');
  await repo.git('branch', 'above', 'below');
  await repo.commit('above', { 'b.txt': 'b\n' });
  const ended = await land(repo, 'above', 'below', 'same', ...GATE);
  expect(ended).toMatchObject({ code: 0 });
  expect(await subjects(repo)).toBe('Land above\nChange');
});

test('branches that cannot land are all named before anything is done', async () => {
  await using repo = await tempRepo();
  await repo.commit('feature', { 'a.txt': 'a\n' });
  await repo.git('checkout', '-q', '--orphan', 'alien');
  await repo.git('commit', '-q', '-m', 'Other world');
  await repo.git('checkout', '-q', 'main');
  const ended = await land(repo, 'featre', 'alien', 'feature');
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toMatchInlineSnapshot(`
    "landfast: There is no branch featre. Did you mean feature?
    alien and main have no commit in common: git cannot merge them.
      Nothing was landed. \`git branch -a\` lists branches.
    "
  `);
  expect(await subjects(repo)).toBe('Change');
  const gate = await land(repo, 'feature', '--gate', 'npm test');
  expect(gate).toMatchObject({ code: 2 });
  expect(gate.stderr).toContain("--gate tests='npm test'");
  await repo.git('checkout', '-q', '--detach');
  const detached = await land(repo, 'feature');
  expect(detached).toMatchObject({ code: 3 });
  expect(detached.stderr).toContain('HEAD is detached');
});

test('changes of the user in the way: the work lands on the run branch, and one command is named', async () => {
  await using repo = await tempRepo({ files: { 'a.txt': 'old\n' } });
  await repo.commit('feature', { 'a.txt': 'new\n' });
  await repo.write({ 'a.txt': 'mine\n' });
  const ended = await land(repo, 'feature');
  expect(ended).toMatchObject({ code: 1 });
  expect(ended.stderr).toMatch(/git merge --ff-only landfast\/\S+/);
  expect(readFileSync(join(repo.dir, 'a.txt'), 'utf8')).toBe('mine\n');
});

test('a dry run says what would land and what conflicts, and does nothing', async () => {
  await using repo = await tempRepo();
  await repo.commit('one', { 'one.txt': '1\n' });
  await repo.commit('clash', { 'one.txt': 'other\n' });
  const ended = await land(repo, 'one', 'clash', '--dry-run', ...GATE);
  expect(ended).toMatchObject({ code: 1 });
  expect(ended.stdout).toMatchInlineSnapshot(`
    "Would land 2 branches on main (merge):
      one    1 commit, 1 file
      clash  conflicts in one.txt
    Verified (each) by whole.
    Conflicting branches do not land.
    "
  `);
  expect(await subjects(repo)).toBe('Change');
});

test('an agent that is asked gets the conflicting merge in a workspace; its result lands', async () => {
  await using repo = await tempRepo();
  await repo.commit('one', { 'one.txt': '1\n' });
  await repo.commit('clash', { 'one.txt': 'other\n' });
  const stub = join(repo.outside, 'claude');
  const result = { type: 'result', subtype: 'success', is_error: false, result: 'Merged.' };
  const lines = [
    '#!/bin/sh',
    'cat > /dev/null',
    `git status --porcelain > ${repo.outside}/seen`,
    "printf '1\\nother\\n' > one.txt",
    `echo '${JSON.stringify({ ...result, session_id: 's', total_cost_usd: 0 })}'`,
  ];
  writeFileSync(stub, `${lines.join('\n')}\n`);
  chmodSync(stub, 0o755);
  const how = ['--on-conflict', 'agent', '--claude-exe', stub];
  const ended = await land(repo, 'one', 'clash', ...how);
  expect(ended).toMatchObject({ code: 0 });
  expect(readFileSync(join(repo.outside, 'seen'), 'utf8')).toBe('AA one.txt\n');
  expect(readFileSync(join(repo.dir, 'one.txt'), 'utf8')).toBe('1\nother\n');
  expect((await subjects(repo)).split('\n')[0]).toBe('Land clash');
});

test('an engine that is killed while it verifies is taken up again, and the branch lands once', async () => {
  await using repo = await tempRepo();
  await repo.commit('feature', { 'a.txt': 'a\n' });
  const slow = `slow=touch ${repo.outside}/began; while test ! -e ${repo.outside}/go; do sleep 0.05; done`;
  const engine = start(['land', 'feature', '--gate', slow, '--events'], { cwd: repo.dir });
  await engine.untilFact('candidate.verifying', 'feature');
  engine.child.kill('SIGKILL');
  await engine.ended;
  writeFileSync(join(repo.outside, 'go'), '');
  expect(await landfast(['resume'], { cwd: repo.dir })).toMatchObject({ code: 0 });
  expect(await subjects(repo)).toBe('Land feature\nChange');
});
