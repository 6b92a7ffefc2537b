/**
 * Git settings are read when they are needed, not remembered from when the engine started: set-up
 * may change them (husky sets `core.hooksPath`), and so may the user during a run.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { liveRun } from '../support/live-run.ts';
import { runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

/** A repository with tracked hooks in `.husky` that log each call to the file `called`. */
async function withHusky(): Promise<TempRepo> {
  const repo = await tempRepo();
  const hook = (name: string) => `#!/bin/sh\necho ${name} >> '${repo.outside}/called'\n`;
  await repo.write({ '.husky/pre-commit': hook('pre-commit') });
  await repo.write({ '.husky/commit-msg': hook('commit-msg') });
  await repo.git('add', '--chmod=+x', '.husky');
  await repo.git('commit', '-qm', 'Add hooks');
  await repo.git('checkout', '-q', '.'); // Makes them executable on disk.
  return repo;
}

/** How often each hook was called. */
function calls({ outside }: TempRepo): Readonly<Record<string, number>> {
  const file = join(outside, 'called');
  const names = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
  const count = (name: string) => names.filter((each) => each === name).length;
  return Object.fromEntries([...new Set(names)].sort().map((name) => [name, count(name)]));
}

/** In sequence, because two `git config` at once would fight over the lock. */
const IN_TURN = {
  one: 'echo 1 > one.txt',
  two: { needs: ['one'], prompt: 'echo 2 > two.txt' },
  three: { needs: ['two'], prompt: 'echo 3 > three.txt' },
};

test('hooks installed by set-up run for every commit of the same run', async () => {
  await using repo = await withHusky();
  const workspace = { setup: ['git config core.hooksPath .husky'] };
  const run = await runPlan(repo, { tasks: IN_TURN, more: { workspace } });
  expect(run).toMatchObject({ code: 0 });
  expect(calls(repo)).toEqual({ 'commit-msg': 3, 'pre-commit': 3 });
});

test('a hook installed by set-up can refuse work of the same run', async () => {
  await using repo = await withHusky();
  await repo.commit('main', { '.husky/pre-commit': '#!/bin/sh\necho "lint is red" >&2\nexit 1\n' });
  const workspace = { setup: ['git config core.hooksPath .husky'] };
  const run = await runPlan(repo, { tasks: { one: 'echo 1 > one.txt' }, more: { workspace } });
  expect(run).toMatchObject({ code: 1 });
  expect(run.failure('one')).toMatchObject({
    kind: 'commit-failed',
    message: expect.stringContaining('lint is red'),
  });
  expect(await repo.git('ls-tree', '--name-only', 'main')).toBe('.husky\nREADME.md');
});

test('an identity configured by set-up applies to every commit of the same run', async () => {
  await using repo = await tempRepo();
  const workspace = { setup: ['git config user.name "Build Bot"'] };
  const run = await runPlan(repo, {
    tasks: { one: IN_TURN.one, two: IN_TURN.two },
    more: { workspace },
  });
  expect(run).toMatchObject({ code: 0 });
  const names = await repo.git('log', '--format=%an, %cn', '--topo-order', '--max-count=4', 'main');
  expect(names.split('\n')).toEqual(Array(4).fill('Build Bot, Build Bot'));
});

test('settings that the user changes while an agent works apply to its commit', async () => {
  await using repo = await withHusky();
  const wait = 'while test ! -e ../../../go; do sleep 0.02; done';
  const { engine } = await liveRun(repo, {
    one: 'echo 1 > one.txt',
    two: { needs: ['one'], prompt: `${wait}; echo 2 > two.txt` },
  });
  await engine.untilFact('attempt.started', 'two');
  await repo.git('config', 'core.hooksPath', '.husky');
  await repo.git('config', 'user.name', 'Grace Hopper');
  writeFileSync(join(repo.outside, 'go'), '');
  expect(await engine.ended).toMatchObject({ code: 0 });
  expect(calls(repo)).toEqual({ 'commit-msg': 1, 'pre-commit': 1 });
  const names = await repo.git('log', '--topo-order', '--format=%an', 'main');
  const [grace, ada] = ['Grace Hopper', 'Ada Lovelace'];
  expect(names.split('\n')).toEqual([grace, grace, ada, ada, ada, ada]);
});
