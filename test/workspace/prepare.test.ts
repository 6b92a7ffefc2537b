/** Files that git does not hold: what comes along to a workspace, and what is written about it. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const excludeOf = (repo: TempRepo): string =>
  readFileSync(join(repo.commonDir, 'info', 'exclude'), 'utf8');

test('a folder that is ignored anyway comes along and adds nothing to info/exclude', async () => {
  await using repo = await tempRepo({
    files: { '.gitignore': 'node_modules/\n', '.worktreeinclude': 'node_modules/\n' },
  });
  await repo.write({ 'node_modules/a/index.js': '1\n', 'node_modules/b.js': '2\n' });
  const before = excludeOf(repo);
  const run = await runPlan(repo, {
    tasks: { look: 'cat node_modules/a/index.js node_modules/b.js; echo 1 > done.txt' },
  });
  expect(run).toMatchObject({ code: 0 });
  expect(run.of('attempt.finished')[0]).toMatchObject({ text: '1\n2', files: ['done.txt'] });
  expect(excludeOf(repo)).toBe(before);
});

test('copied files that git would see as new are excluded by name, once, and never committed', async () => {
  await using repo = await tempRepo({ files: { '.worktreeinclude': '*.cfg\n' } });
  await repo.write({ 'local.cfg': '1\n', "odd [x] it's.cfg": '2\n' });
  const before = excludeOf(repo);
  const plan = { tasks: { one: 'cat *.cfg; echo 1 > 1.txt', two: 'cat *.cfg; echo 1 > 2.txt' } };
  const run = await runPlan(repo, plan);
  expect(run).toMatchObject({ code: 0 });
  expect(run.of('attempt.finished').map(({ text }) => text)).toEqual(['1\n2', '1\n2']);
  expect(await repo.git('ls-files')).toBe('.worktreeinclude\n1.txt\n2.txt');
  const added = excludeOf(repo)
    .slice(before.length)
    .split('\n')
    .filter((line) => /^\//.test(line));
  expect(added.sort()).toEqual(['/local.cfg', "/odd \\[x\\] it's.cfg"]);
  const after = excludeOf(repo);
  await runPlan(repo, { tasks: { three: 'cat *.cfg; echo 1 > 3.txt' } });
  expect(excludeOf(repo)).toBe(after);
});
