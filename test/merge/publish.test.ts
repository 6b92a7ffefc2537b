/** Publishing to a branch that its owner is in the middle of something with. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast, start } from '../support/landfast.ts';
import { nativePlan } from '../support/native-plan.ts';
import { runPlan } from '../support/run-plan.ts';
import { tempRepo } from '../support/temp-repo.ts';

test('a branch that is being rebased is not moved, and the rebase continues undisturbed', async () => {
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

/** Two tasks of which one makes two commits of its own. */
const TWICE = {
  one: 'echo 1 > one.txt; git add .; git commit -qm First; echo 2 > two.txt',
  other: 'echo 3 > three.txt',
};

test.each([
  ['merge', 'history', 'every commit in the history', 2],
  ['squash', 'files', 'the same files', 1],
  ['rebase', 'files', 'the same files', 2],
] as const)(
  'with %s every commit of every task is shown to be in the target, and the reports list it',
  async (strategy, by, words, many) => {
    await using repo = await tempRepo();
    const plan = { land: { strategy }, workers: 1, tasks: TWICE };
    const md = await runPlan(repo, plan, { args: ['--report', '../report.md'] });
    expect(md).toMatchObject({ code: 0 });
    expect(md.of('publish.finished')).toMatchObject([{ proved: { works: 2, by } }]);
    const shown = md.of('work.proved');
    expect(shown.map(({ task, commits }) => [task, commits.length])).toEqual([
      ['one', many],
      ['other', 1],
    ]);
    for (const { by: how, commits } of shown) {
      expect(how).toBe(by);
      for (const commit of commits) await repo.git('merge-base', '--is-ancestor', commit, 'main');
    }
    const all = shown.flatMap(({ commits }) => commits);
    const merges = strategy === 'merge' ? await repo.git('rev-list', '--merges', 'main') : '';
    const count = all.length + merges.split('\n').filter((line) => line !== '').length;
    expect(await repo.git('rev-list', '--count', 'main')).toBe(`${1 + count}`);
    const list = (shown[0]?.commits ?? []).map((commit) => commit.slice(0, 7)).join(', ');
    const report = readFileSync(join(repo.outside, 'report.md'), 'utf8');
    expect(report).toContain('## Proof\n\nShown for 2 pieces of work in `main`: ');
    expect(report).toMatch(new RegExp(`\\| one \\| .* \\| ${list} \\| ${words} \\|`));
  },
);

test('rebased work is shown in a target that moved by the commits it became there', async () => {
  await using repo = await tempRepo();
  const moved = `cd '${repo.dir}' && echo x > x.txt && git add x.txt && git commit -qm Theirs`;
  const tasks = { ...TWICE, other: `(${moved}); echo 3 > three.txt` };
  const run = await runPlan(repo, { land: { strategy: 'rebase' }, workers: 1, tasks });
  expect(run).toMatchObject({ code: 0 });
  const shown = run.of('work.proved').flatMap(({ commits }) => commits);
  const line = (await repo.git('rev-list', '--reverse', 'main')).split('\n');
  expect(shown).toEqual(line.slice(2));
  expect(await repo.git('log', '--format=%s', '--reverse', 'main')).toMatch(/Theirs\nFirst\n/);
});

test('with `publish: each` every task is told once', async () => {
  await using repo = await tempRepo();
  const run = await runPlan(repo, { land: { publish: 'each' }, workers: 1, tasks: TWICE });
  expect(run.of('work.proved').map(({ task }) => task)).toEqual(['one', 'other']);
});
