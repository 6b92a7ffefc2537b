/** How what landed reaches the user's branch, and what happens when something is in the way. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast, start } from '../support/landfast.ts';
import { nativePlan } from '../support/native-plan.ts';
import { runPlan } from '../support/run-plan.ts';
import { tempRepo } from '../support/temp-repo.ts';

const PLAN = { tasks: { one: 'echo new > a.txt' } };

test('a dirty checkout follows where its changes are not in the way', async () => {
  await using repo = await tempRepo({ files: { 'a.txt': 'old\n', 'b.txt': 'b\n' } });
  await repo.write({ 'b.txt': 'mine\n', 'untracked.txt': 'mine\n' });
  const run = await runPlan(repo, PLAN);
  expect(run).toMatchObject({ code: 0 });
  expect(run.of('publish.finished')[0]).toMatchObject({ checkout: 'followed' });
  expect(readFileSync(join(repo.dir, 'a.txt'), 'utf8')).toBe('new\n');
  expect(readFileSync(join(repo.dir, 'b.txt'), 'utf8')).toBe('mine\n');
});

test('a target that moved meanwhile: the combination is verified before it is published', async () => {
  await using repo = await tempRepo({ files: { 'a.txt': 'old\n' } });
  const gates = [{ name: 'not-both', run: 'test ! -e theirs || ! grep -q new a.txt' }];
  const slow = 'echo new > a.txt; while test ! -e ../../../go; do sleep 0.05; done';
  writeFileSync(join(repo.outside, 'plan.yaml'), nativePlan({ gates, tasks: { one: slow } }));
  const engine = start(['run', '../plan.yaml', '--events'], { cwd: repo.dir });
  await engine.untilFact('attempt.started');
  const theirs = await repo.commit('main', { theirs: 'x\n' });
  writeFileSync(join(repo.outside, 'go'), '');
  expect((await engine.ended).code).toBe(1);
  const blocked = engine.entries.find(({ event }) => event.type === 'publish.blocked')?.event;
  expect(blocked).toMatchObject({ why: expect.stringContaining('gate not-both is red') });
  expect(await repo.git('rev-parse', 'main')).toBe(theirs);
  await repo.git('rm', '-q', 'theirs');
  await repo.git('commit', '-qm', 'made room');
  expect(await landfast(['resume'], { cwd: repo.dir })).toMatchObject({ code: 0 });
  expect(await repo.git('log', '-1', '--format=%s')).toMatch(/^Merge landfast\/.* into main$/);
  expect(readFileSync(join(repo.dir, 'a.txt'), 'utf8')).toBe('new\n');
});

test('a target that is checked out nowhere moves; the checkout stays where it is', async () => {
  await using repo = await tempRepo();
  await repo.git('branch', 'release');
  const run = await runPlan(repo, PLAN, { args: ['--target', 'release'] });
  expect(run).toMatchObject({ code: 0 });
  expect(await repo.git('show', 'release:a.txt')).toBe('new');
  expect(existsSync(join(repo.dir, 'a.txt'))).toBe(false);
});

test('a checkout whose git folder is elsewhere follows', async () => {
  await using repo = await tempRepo();
  await repo.git('init', '--quiet', '--separate-git-dir', join(repo.outside, 'store'));
  const run = await runPlan(repo, PLAN);
  expect(run).toMatchObject({ code: 0 });
  expect(run.of('publish.finished')[0]).toMatchObject({ checkout: 'followed' });
  expect(readFileSync(join(repo.dir, 'a.txt'), 'utf8')).toBe('new\n');
  expect(await repo.git('status', '--porcelain')).toBe('');
});

test('publish: off leaves the result on the branch of the run', async () => {
  await using repo = await tempRepo();
  const run = await runPlan(repo, { ...PLAN, land: { publish: 'off' } });
  expect(run).toMatchObject({ code: 0 });
  expect(await repo.git('show', `landfast/${run.run}:a.txt`)).toBe('new');
  expect(existsSync(join(repo.dir, 'a.txt'))).toBe(false);
});

test('two runs at once on one repository both publish', async () => {
  await using repo = await tempRepo();
  const plans = ['x', 'y'].map((name) => {
    const file = join(repo.outside, `${name}.yaml`);
    writeFileSync(file, nativePlan({ tasks: { same: `sleep 0.2; echo ${name} > ${name}.txt` } }));
    return file;
  });
  const ended = await Promise.all(plans.map((file) => landfast(['run', file], { cwd: repo.dir })));
  expect(ended.map(({ code }) => code)).toEqual([0, 0]);
  expect(await repo.git('ls-files')).toBe('README.md\nx.txt\ny.txt');
  expect(await repo.git('status', '--porcelain')).toBe('');
});
