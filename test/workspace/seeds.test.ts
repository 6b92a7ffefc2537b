/** What a set-up made is kept once and copied into new workspaces with the same key. */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { thisProcess } from '../../src/base/process-identity.ts';
import type { Plan } from '../../src/model/plan.ts';
import { thisClaimOwner } from '../../src/workspace/pool/claim-owner.ts';
import type { RunContext } from '../../src/workspace/run-context.ts';
import { Seeds, type SeedsPlace } from '../../src/workspace/seeds/seeds.ts';
import { setupIn } from '../../src/workspace/setup.ts';
import { landfast } from '../support/landfast.ts';
import { closeTask, openTask, testContext } from '../support/run-context.ts';
import { runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const FILES = { '.gitignore': 'deps/\n.env\n', lock: '1\n', a: '1\n', 'web/b': '1\n' };
const MAKE = [
  'echo run >> ../../../setups',
  'mkdir -p deps/.bin deps/pkg web/deps; cp lock deps/pkg/lock; echo 1 > web/deps/x',
  'printf "#!%s/deps/python\\n" "$PWD" > deps/pkg/tool; chmod 750 deps/pkg/tool',
  'touch -d 2020-01-02T03:04:05Z deps/pkg/tool deps/pkg/lock; ln -s ../pkg/tool deps/.bin/tool',
];
const SEEDED = { setup: MAKE, setupKey: ['lock'], seed: ['deps'] };

function seedsIn(repo: TempRepo, more: Partial<SeedsPlace> = {}): Seeds {
  return new Seeds({
    folder: join(repo.commonDir, 'landfast', 'seeds'),
    temp: join(`${repo.dir}.worktrees`, 'landfast.pool'),
    patterns: ['deps'],
    by: 'auto',
    most: 4,
    disk: null,
    me: thisClaimOwner(),
    ...more,
  });
}

async function seededContext(
  repo: TempRepo,
  seeds = seedsIn(repo),
  workspace: Partial<Plan['workspace']> = {},
): Promise<RunContext> {
  return testContext(repo, { ...SEEDED, ...workspace }, { seeds });
}

const setupsIn = (repo: TempRepo): number =>
  readFileSync(join(repo.outside, 'setups'), 'utf8').split('\n').length - 1;

function sh(cwd: string, script: string): string {
  return execFileSync('sh', ['-ec', script], { cwd, encoding: 'utf8' });
}

test('a new workspace with the same key gets it, with links, modes and times', async () => {
  await using repo = await tempRepo({ files: FILES });
  const one = await openTask(await seededContext(repo), 'one');
  const two = await openTask(await seededContext(repo), 'two');
  expect([one.setup, two.setup]).toEqual(['ran', 'seeded']);
  const look = 'find deps web/deps -printf "%p %y %m %l %T@\\n" | grep -v " d " | sort';
  expect(sh(two.dir, look)).toBe(sh(one.dir, look));
  expect(sh(two.dir, 'cat deps/pkg/lock deps/.bin/tool web/deps/x; git status --short')).toBe(
    `1\n#!${two.dir}/deps/python\n1\n`,
  );
  expect(readdirSync(seedsIn(repo).place.temp)).toEqual([]);
});

test('tasks that start together wait for the first one and copy what it made', async () => {
  await using repo = await tempRepo({ files: FILES });
  const context = await seededContext(repo);
  const opened = ['one', 'two', 'three', 'four'].map((task) => openTask(context, task));
  const setups = (await Promise.all(opened)).map(({ setup }) => setup);
  expect(setups.sort()).toEqual(['ran', 'seeded', 'seeded', 'seeded']);
  expect(setupsIn(repo)).toBe(1);
});

test('changes of a task to its copy stay in its copy', async () => {
  await using repo = await tempRepo({ files: FILES });
  const context = await seededContext(repo);
  const one = await openTask(context, 'one');
  const two = await openTask(context, 'two');
  for (const { dir } of [one, two]) sh(dir, 'echo harm >> deps/pkg/lock; rm deps/.bin/tool');
  const three = await openTask(context, 'three');
  expect(three.setup).toBe('seeded');
  expect(sh(three.dir, 'cat deps/pkg/lock; readlink deps/.bin/tool')).toBe('1\n../pkg/tool\n');
});

test('another key is another seed, and both stay', async () => {
  await using repo = await tempRepo({ files: FILES });
  const context = await seededContext(repo);
  await openTask(context, 'one');
  await repo.commit('other', { lock: '2\n' });
  expect(await openTask(context, 'two', 1, 'other')).toMatchObject({ setup: 'ran' });
  const three = await openTask(context, 'three');
  const four = await openTask(context, 'four', 1, 'other');
  expect([three.setup, four.setup]).toEqual(['seeded', 'seeded']);
  expect(sh(three.dir, 'cat deps/pkg/lock') + sh(four.dir, 'cat deps/pkg/lock')).toBe('1\n2\n');
});

test('a seed replaces the files kept for another key', async () => {
  await using repo = await tempRepo({ files: FILES });
  await repo.commit('other', { lock: '2\n' });
  const context = await seededContext(repo, seedsIn(repo), { keepFiles: ['deps/'] });
  await openTask(context, 'one');
  const two = await openTask(context, 'two', 1, 'other');
  sh(two.dir, 'echo x > deps/stale');
  await closeTask(context, 'two');
  const three = await openTask(context, 'three');
  expect(three.setup).toBe('seeded');
  expect(sh(three.dir, 'ls deps; cat deps/pkg/lock')).toBe('pkg\n1\n');
});

test.each<[string, readonly string[], string]>([
  ['makes something else, too', ['mkdir deps; echo 1 > .env'], 'does not name .env'],
  ['changes what git holds', ['mkdir deps; touch deps/x; echo x >> a'], 'git does not ignore'],
  ['makes nothing', ['true'], 'makes no ignored files'],
])('where set-up %s there is no seed, and it says why', async (_, setup, why) => {
  await using repo = await tempRepo({ files: FILES });
  const context = await seededContext(repo, seedsIn(repo), { setup });
  const prepared = { setup: 'ran', why: expect.stringContaining(why) };
  for (const task of ['one', 'two']) expect(await openTask(context, task)).toMatchObject(prepared);
  expect(seedsIn(repo).list()).toEqual([]);
});

test('hard-linked files are read-only, and a seed that was changed is discarded', async () => {
  await using repo = await tempRepo({ files: FILES });
  const context = await seededContext(repo, seedsIn(repo, { by: 'link' }));
  const one = await openTask(context, 'one');
  const two = await openTask(context, 'two');
  const file = join(two.dir, 'deps/pkg/lock');
  expect([two.setup, statSync(file).nlink, statSync(file).mode & 0o222]).toEqual(['seeded', 2, 0]);
  expect(statSync(join(one.dir, 'deps/pkg/lock')).nlink).toBe(1);
  expect(sh(two.dir, 'cat deps/pkg/tool')).toBe(`#!${two.dir}/deps/python\n`);
  sh(two.dir, 'rm deps/pkg/lock; echo own > deps/pkg/lock');
  const three = await openTask(context, 'three');
  expect([three.setup, sh(three.dir, 'cat deps/pkg/lock')]).toEqual(['seeded', '1\n']);
  sh(three.dir, 'chmod u+w web/deps/x; echo harm >> web/deps/x');
  const four = await openTask(context, 'four');
  expect([four.setup, sh(four.dir, 'cat web/deps/x')]).toEqual(['ran', '1\n']);
});

test('a seed of which a part is lost is no more', async () => {
  await using repo = await tempRepo({ files: FILES });
  const context = await seededContext(repo);
  await openTask(context, 'one');
  const [seed] = seedsIn(repo).list();
  sh(join(seedsIn(repo).place.folder, seed?.name ?? ''), ': > files/web/deps/x');
  expect(await openTask(context, 'two')).toMatchObject({ setup: 'ran' });
  expect(await openTask(context, 'three')).toMatchObject({ setup: 'seeded' });
});

test('there are never more than allowed: the one that was not used for longest goes', async () => {
  await using repo = await tempRepo({ files: FILES });
  const seeds = seedsIn(repo, { most: 2 });
  const context = await seededContext(repo, seeds);
  for (const [nth, task] of ['one', 'two', 'three'].entries()) {
    await repo.commit('main', { lock: `${nth}\n` });
    await openTask(context, task);
    if (nth === 2) break;
    const [newest] = seeds.list();
    const at = new Date(Date.now() - (nth === 0 ? 60_000 : 120_000)); // The first was used since.
    utimesSync(join(seeds.place.folder, newest?.name ?? '', 'seed.json'), at, at);
  }
  const sets = seeds
    .list()
    .map(({ name }) => readFileSync(join(seeds.place.folder, name, 'files/deps/pkg/lock'), 'utf8'));
  expect(sets).toEqual(['2\n', '0\n']);
  const bytes = seeds.list()[0]?.bytes ?? 0;
  expect(bytes).toBeGreaterThan(0);
  const small = await seededContext(repo, seedsIn(repo, { disk: bytes - 1 }), {
    setup: ['mkdir deps; cp lock deps'],
  });
  await openTask(small, 'four');
  expect(seeds.list().length).toBeLessThan(2);
});

test('a half-made seed of a dead process is removed, that of a live one is not', async () => {
  await using repo = await tempRepo({ files: FILES });
  const dead = Buffer.from(JSON.stringify({ ...thisProcess(), start: 'x:1' })).toString(
    'base64url',
  );
  const other = { ...thisClaimOwner(), name: 'other', isAlive: (name: string) => name === 'other' };
  const { folder, temp } = seedsIn(repo).place;
  const [live, half] = [`.new-other.1`, `.seed-${dead}.1`];
  for (const path of [join(folder, `.new-${dead}.1`), join(folder, live), join(temp, half)]) {
    mkdirSync(join(path, 'files'), { recursive: true });
  }
  const me = { ...thisClaimOwner(), isAlive: other.isAlive };
  await openTask(await seededContext(repo, seedsIn(repo, { me })), 'one');
  expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([live]);
  expect(existsSync(join(temp, half))).toBe(false);
  expect(seedsIn(repo).list()).toHaveLength(1);
});

test('a half-made seed of another host is removed once it has been untouched for an hour', async () => {
  await using repo = await tempRepo({ files: FILES });
  const far = Buffer.from(JSON.stringify({ ...thisProcess(), host: 'far' })).toString('base64url');
  const { folder, temp } = seedsIn(repo).place;
  const old = [join(folder, `.new-${far}.1`), join(temp, `.seed-${far}.1`)];
  const young = [join(folder, `.new-${far}.2`), join(temp, `.seed-${far}.2`)];
  for (const path of [...old, ...young]) mkdirSync(join(path, 'files'), { recursive: true });
  const then = new Date(Date.now() - 7_200_000);
  for (const path of old)
    for (const each of [join(path, 'files'), path]) utimesSync(each, then, then);
  utimesSync(young[0]!, then, then); // Something is still put into it.
  await openTask(await seededContext(repo, seedsIn(repo)), 'one');
  expect([...old, ...young].filter((path) => existsSync(path))).toEqual(young);
});

test('a copy that is stopped half way leaves nothing, in the workspace or beside it', async () => {
  await using repo = await tempRepo({ files: FILES });
  const many = 'mkdir deps; for i in $(seq 300); do echo $i > deps/$i; done';
  const seeds = seedsIn(repo);
  const context = await seededContext(repo, seeds, { setup: [many] });
  const one = await openTask(context, 'one');
  const key = setupIn(one.dir)?.key ?? '';
  const dir = join(repo.outside, 'new');
  await repo.git('worktree', 'add', '-q', '--detach', dir);
  const stop = new AbortController();
  const laid = seeds.copyInto(dir, key, stop.signal);
  const { temp } = seeds.place;
  while (!existsSync(temp) || readdirSync(temp).length === 0) await new Promise(setImmediate);
  stop.abort(new Error('stopped'));
  await expect(laid).rejects.toThrow('stopped');
  expect([existsSync(join(dir, 'deps')), readdirSync(temp)]).toEqual([false, []]);
  expect(await seeds.copyInto(dir, key, repo.signal)).toBe(true);
  expect(readdirSync(join(dir, 'deps'))).toHaveLength(300);
});

test('runs, gates and the pool command know of seeds, and nothing is left beside them', async () => {
  await using repo = await tempRepo({ files: FILES });
  const more = { workspace: { setup: MAKE, setup_key: ['lock'], seed: ['deps'], pool: 0 } };
  const gates = [{ name: 'deps', run: 'cmp lock deps/pkg/lock && grep -q "$PWD/" deps/pkg/tool' }];
  const run = await runPlan(repo, { tasks: { one: 'echo 1 > one' }, gates, more });
  expect(run).toMatchObject({ code: 0 });
  expect(setupsIn(repo)).toBe(1);
  expect(existsSync(`${repo.dir}.worktrees`)).toBe(false);
  const pool = async (...args: readonly string[]) =>
    JSON.parse((await landfast(['pool', ...args, '--json'], { cwd: repo.dir })).stdout);
  const seed = {
    path: expect.stringContaining('landfast/seeds/'),
    holds: ['deps/', 'web/deps/'],
    bytes: expect.any(Number),
    age_sec: expect.any(Number),
    unused_sec: expect.any(Number),
  };
  expect((await pool('status')).seeds).toEqual([seed]);
  expect(await pool('drain')).toEqual({ removed: 0, seeds: 1 });
  expect((await pool('status')).seeds).toEqual([]);
});
