/** `landfast land` in every way that it can be told to, in a repository without any plan. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { nativePlan } from '../support/native-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const land = (repo: TempRepo, ...args: readonly string[]) =>
  landfast(['land', ...args], { cwd: repo.dir });
const history = async (repo: TempRepo, ...format: readonly string[]) =>
  (await repo.git('log', '--reverse', '--topo-order', ...format, 'main')).split('\n');

/** Two branches from the same commit: one of two commits, one of a single one. */
async function twoBranches(repo: TempRepo): Promise<void> {
  await repo.commit('feature/one', { 'one.txt': '1\n' });
  await repo.commit('feature/one', { 'more.txt': '1\n' });
  await repo.commit('two', { 'two.txt': '2\n' });
}

test('rebased branches become a line of their own commits; the branches stay as they were', async () => {
  await using repo = await tempRepo();
  await twoBranches(repo);
  const tips = await repo.git('rev-parse', 'feature/one', 'two');
  const ended = await land(repo, 'feature/one', 'two', '--strategy', 'rebase');
  expect(ended).toMatchObject({ code: 0 });
  expect(await repo.git('rev-list', '--merges', 'main')).toBe('');
  expect(await history(repo, '--format=%an: %s')).toEqual(Array(4).fill('Ada Lovelace: Change'));
  expect(await repo.git('rev-parse', 'feature/one', 'two')).toBe(tips);
  expect(await repo.git('ls-files')).toBe('README.md\nmore.txt\none.txt\ntwo.txt');
  expect(await repo.git('status', '--porcelain')).toBe('');
});

test('squashed branches become one commit each, which names the work', async () => {
  await using repo = await tempRepo();
  await twoBranches(repo);
  const ended = await land(repo, 'feature/one', 'two', '--strategy', 'squash');
  expect(ended).toMatchObject({ code: 0 });
  expect(await history(repo, '--format=%s')).toEqual(['Change', 'Land feature/one', 'Land two']);
  const work = await repo.git('rev-parse', 'feature/one');
  expect(await repo.git('log', '-1', '--format=%(trailers:key=Landfast-Work)', 'main~1')).toBe(
    `Landfast-Work: ${work}`,
  );
});

test('with a plan its gates and its way of landing count, and none of its tasks runs', async () => {
  await using repo = await tempRepo();
  await twoBranches(repo);
  await repo.commit('culprit', { broken: '' });
  const plan = nativePlan({
    gates: [{ name: 'whole', run: 'test ! -e broken' }],
    land: { strategy: 'squash', verify: 'batch' },
    tasks: { never: 'echo ran > ran.txt' },
  });
  writeFileSync(join(repo.outside, 'plan.yaml'), plan);
  const ended = await land(repo, 'feature/one', 'culprit', 'two', '--plan', '../plan.yaml');
  expect(ended).toMatchObject({ code: 1 });
  expect(await history(repo, '--format=%s')).toEqual(['Change', 'Land feature/one', 'Land two']);
  expect(ended.stdout).toContain('gate-failed');
  expect(await repo.git('ls-files')).not.toContain('ran.txt');
});

test('a plan that cannot be read is reported, and nothing lands', async () => {
  await using repo = await tempRepo();
  await twoBranches(repo);
  writeFileSync(join(repo.outside, 'bad.yaml'), 'landfast: 1\nname: x\ngate: []\ntasks: []\n');
  const bad = await land(repo, 'two', '--plan', '../bad.yaml');
  expect(bad).toMatchObject({ code: 2, stdout: '' });
  expect(bad.stderr).toMatch(/bad\.yaml:3:1: error: .*gate/);
  const missing = await land(repo, 'two', '--plan', '../none.yaml');
  expect(missing).toMatchObject({ code: 2 });
  expect(missing.stderr).toContain('none.yaml');
  expect(await history(repo, '--format=%s')).toEqual(['Change']);
});

test('a branch that the target holds, a missing one and an alien one: clear words and codes', async () => {
  await using repo = await tempRepo();
  await repo.git('branch', 'old');
  await repo.commit('main', { 'a.txt': 'a\n' });
  await repo.commit('feature', { 'b.txt': 'b\n' });
  expect(await land(repo, 'old')).toMatchObject({
    code: 0,
    stdout: '',
    stderr: 'landfast: old has landed: main holds all of it.\n',
  });
  expect(await land(repo, 'nothing-like-it')).toMatchObject({
    code: 2,
    stdout: '',
    stderr:
      'landfast: There is no branch nothing-like-it.\n' +
      '  Nothing was landed. `git branch -a` lists branches.\n',
  });
  await repo.git('checkout', '-q', '--orphan', 'alien');
  await repo.git('commit', '-q', '--allow-empty', '-m', 'Other world');
  await repo.git('checkout', '-q', 'main');
  expect(await land(repo, 'alien', 'old', 'feature')).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining(
      'alien and main have no commit in common: git cannot merge them.\n',
    ),
  });
  expect(await repo.git('log', '-1', '--format=%s %an')).toBe('Change Ada Lovelace');
  expect(await land(repo, 'old', 'feature')).toMatchObject({ code: 0 });
  expect(await repo.git('log', '-1', '--format=%s')).toBe('Land feature');
  expect(await land(repo)).toMatchObject({ code: 2 });
});

test.each(['merge', 'squash', 'rebase'])(
  'with %s an agent gets what does not fit, and its result lands that way',
  async (strategy) => {
    await using repo = await tempRepo();
    await repo.commit('one', { 'one.txt': '1\n' });
    await repo.commit('clash', { 'one.txt': 'other\n' });
    const stub = join(repo.outside, 'claude');
    const result = { type: 'result', subtype: 'success', is_error: false, result: 'Merged.' };
    const script = [
      '#!/bin/sh',
      `cat > ${repo.outside}/prompt`,
      "printf '1\\nother\\n' > one.txt",
      `echo '${JSON.stringify({ ...result, session_id: 's', total_cost_usd: 0 })}'`,
    ];
    writeFileSync(stub, `${script.join('\n')}\n`, { mode: 0o755 });
    const how = ['--strategy', strategy, '--agent', 'claude', '--claude-exe', stub];
    expect(await land(repo, 'one', 'clash', ...how)).toMatchObject({ code: 0 });
    expect(readFileSync(join(repo.outside, 'prompt'), 'utf8')).toContain(
      '`one.txt`: both added it',
    );
    expect(readFileSync(join(repo.dir, 'one.txt'), 'utf8')).toBe('1\nother\n');
    const merges = (await repo.git('rev-list', '--merges', 'main')).split('\n');
    expect(merges.length > 1).toBe(strategy === 'merge');
  },
);
