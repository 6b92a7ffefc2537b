/** Publishing to a branch that its owner is in the middle of something with. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast, start } from '../support/landfast.ts';
import { nativePlan } from '../support/native-plan.ts';
import { runPlan } from '../support/run-plan.ts';
import { tempRepo } from '../support/temp-repo.ts';

test('a branch that is being rebased is not moved, and the rebase goes on as if nobody was there', async () => {
  await using repo = await tempRepo({ files: { 'a.txt': 'start\n' } });
  await repo.commit('upstream', { 'a.txt': 'upstream\n' });
  const wait = 'while test ! -e ../../../go; do sleep 0.05; done; echo new > new.txt';
  writeFileSync(join(repo.outside, 'plan.yaml'), nativePlan({ tasks: { one: wait } }));
  const engine = start(['run', '../plan.yaml', '--events'], { cwd: repo.dir });
  await engine.untilFact('attempt.started');
  const mine = await repo.commit('main', { 'a.txt': 'mine\n' });
  await expect(repo.git('rebase', 'upstream')).rejects.toThrow();
  const stopped = await repo.git('status', '--porcelain=v2', '--branch');
  writeFileSync(join(repo.outside, 'go'), '');
  expect((await engine.ended).code).toBe(1);
  const blocked = engine.entries.map(({ event }) => event).find(isBlocked);
  expect(blocked).toMatchObject({ why: expect.stringContaining('being rebased') });
  expect(await repo.git('rev-parse', 'main')).toBe(mine);
  expect(await repo.git('status', '--porcelain=v2', '--branch')).toBe(stopped);

  await repo.write({ 'a.txt': 'both\n' });
  await repo.git('add', 'a.txt');
  await repo.git('-c', 'core.editor=true', 'rebase', '--continue');
  expect(await repo.git('symbolic-ref', '--short', 'HEAD')).toBe('main');
  expect(await repo.git('merge-base', 'main', 'upstream')).toBe(
    await repo.git('rev-parse', 'upstream'),
  );
  expect(await landfast(['resume'], { cwd: repo.dir })).toMatchObject({ code: 0 });
  expect(await repo.git('ls-files')).toBe('a.txt\nnew.txt');
  expect(await repo.git('show', 'main:a.txt')).toBe('both');
  expect(await repo.git('status', '--porcelain')).toBe('');
});

const isBlocked = (event: { readonly type: string }): boolean => event.type === 'publish.blocked';

test('what landed is shown to be in the target, and the report lists it', async () => {
  await using repo = await tempRepo();
  const plan = { tasks: { one: 'echo 1 > one.txt', two: 'echo 2 > two.txt' } };
  const merged = await runPlan(repo, plan);
  expect(merged.of('publish.finished')).toMatchObject([{ proved: { works: 2, by: 'history' } }]);
  const more = { land: { strategy: 'squash' }, tasks: { three: 'echo 3 > three.txt' } };
  const squashed = await runPlan(repo, more, { args: ['--report', '../report.md'] });
  expect(squashed.of('publish.finished')).toMatchObject([{ proved: { works: 1, by: 'files' } }]);
  expect(readFileSync(join(repo.outside, 'report.md'), 'utf8')).toMatch(
    /## Proof\n\nShown for 1 piece of work in `main`: .*\n\n\| Task .*\n.*\n\| three \|/,
  );
});
