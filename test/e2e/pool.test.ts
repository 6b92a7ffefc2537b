/** Workspaces that outlive their run: `workspace.pool` and `landfast pool`, by the built program. */

import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { nativePlan } from '../support/native-plan.ts';
import { runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const folderOf = (repo: TempRepo): string => join(repo.outside, 'repo.worktrees', 'landfast.pool');
const namesIn = (folder: string): readonly string[] =>
  existsSync(folder) ? readdirSync(folder).sort() : [];
const POOL = { workspace: { pool: 2 } };

test('a run leaves as many workspaces as the plan says, and the next one works in them', async () => {
  await using repo = await tempRepo({ files: { '.gitignore': '*.log\n', a: '1\n' } });
  const tasks = {
    one: 'echo 1 > one; echo x > x.log',
    two: 'echo 1 > two',
    three: 'echo 1 > three',
  };
  const first = await runPlan(repo, { workers: 3, tasks, more: POOL });
  expect(first).toMatchObject({ code: 0 });
  expect(namesIn(join(repo.outside, 'repo.worktrees'))).toEqual(['landfast.pool']);
  const left = namesIn(folderOf(repo));
  expect(left).toHaveLength(2);
  const entryOf = (slot: string): string =>
    readFileSync(join(folderOf(repo), slot, '.git'), 'utf8')
      .trim()
      .replace('gitdir: ', '');
  const entries = left.map(entryOf);
  const look = 'git rev-parse --absolute-git-dir; ls -A; echo 1 > four';
  const second = await runPlan(repo, { workers: 1, tasks: { four: look }, more: POOL });
  const [entry = '', ...files] = second.of('attempt.finished', 'four')[0]?.text.split('\n') ?? [];
  expect(entries).toContain(entry);
  expect(files).toEqual(['.git', '.gitignore', 'a', 'one', 'three', 'two']);
  expect(namesIn(folderOf(repo))).toHaveLength(2);
});

test('where a workspace costs next to nothing none is kept, unless the plan asks for it', async () => {
  await using repo = await tempRepo();
  await runPlan(repo, { tasks: { one: 'echo 1 > one' } });
  expect(namesIn(repo.outside)).not.toContain('repo.worktrees');
});

test('two runs at once never have the same workspace', async () => {
  await using repo = await tempRepo();
  const warmed = await landfast(['pool', 'warm', '4', '--json'], { cwd: repo.dir });
  expect(JSON.parse(warmed.stdout).workspaces).toHaveLength(4);
  const plans = ['x', 'y'].map((name) => {
    const tasks = Object.fromEntries(
      [1, 2, 3, 4, 5].map((n) => [`${name}${n}`, `test ! -e ${name}0; echo ${n} > ${name}${n}`]),
    );
    const file = join(repo.outside, `${name}.yaml`);
    writeFileSync(file, nativePlan({ workers: 3, tasks, land: { publish: 'off' } }));
    return file;
  });
  const ended = await Promise.all(
    plans.map((file) => landfast(['run', file, '--quiet'], { cwd: repo.dir })),
  );
  expect(ended.map(({ code, stderr }) => [code, stderr])).toEqual([
    [0, ''],
    [0, ''],
  ]);
  const listed = await repo.git('worktree', 'list', '--porcelain');
  const inUse = listed.split('\n').filter((line) => line.startsWith('worktree '));
  expect(inUse.filter((line) => !line.includes('landfast.pool/'))).toHaveLength(1);
});

test('warm makes them at the head, status tells of them, drain removes them', async () => {
  await using repo = await tempRepo();
  const pool = async (...args: readonly string[]) =>
    JSON.parse((await landfast(['pool', ...args, '--json'], { cwd: repo.dir })).stdout);
  const commit = await repo.git('rev-parse', 'HEAD');
  const row = (n: number) => ({
    path: join(folderOf(repo), `${n}`),
    state: 'idle',
    commit,
    at_head: true,
    idle_sec: expect.any(Number),
    files: 1,
    bytes: expect.any(Number),
  });
  const { workspaces } = await pool('warm', '2');
  expect([...workspaces].sort((a, b) => (a.path < b.path ? -1 : 1))).toEqual([row(1), row(2)]);
  await repo.commit('main', { b: '1\n' });
  writeFileSync(join(folderOf(repo), '2', '.git'), 'gitdir: /nowhere\n');
  const states = (await pool('status')).workspaces.map((one: { state: string }) => one.state);
  expect(states.sort()).toEqual(['broken', 'idle']);
  const run = await runPlan(repo, { tasks: { t: 'cat b; echo 1 > t' } });
  expect(run).toMatchObject({ code: 0 });
  expect(run.of('attempt.finished', 't')[0]?.text).toBe('1');
  // The run may have come across the broken one, or not.
  expect([1, 2]).toContain((await pool('drain')).removed);
  expect((await pool('status')).workspaces).toEqual([]);
});

test('the pool that is off, or too small, says so', async () => {
  await using repo = await tempRepo();
  await repo.write({ 'landfast.yaml': 'workspace: { pool: 0 }\n' });
  const off = await landfast(['pool', 'warm'], { cwd: repo.dir });
  expect([off.code, off.stderr]).toEqual([
    2,
    'landfast: The pool is off: workspace.pool is 0.\n' +
      '  To turn it on: landfast config workspace.pool 4\n',
  ]);
  // What it says is to be done can be typed as it is.
  const turned = await landfast(['config', 'workspace.pool', '4'], { cwd: repo.dir });
  expect(turned).toMatchObject({ code: 0 });
  const many = await landfast(['pool', 'warm', '20'], { cwd: repo.dir });
  expect(many.stderr).toBe(
    'landfast: There is room for 16 workspaces.\n  For more: landfast config workspace.pool 20\n',
  );
  await repo.write({ 'landfast.yaml': 'workspace: { pool: 2, pool_disk: 1 }\n' });
  const small = await landfast(['pool', 'warm', '1'], { cwd: repo.dir });
  expect([small.code, small.stderr]).toEqual([
    1,
    'landfast: 1 workspace could not be kept ready: they may take 1 B of the disk.\n' +
      '  For more, such as 20 GB: landfast config workspace.pool_disk 20GB\n',
  ]);
  expect(namesIn(join(repo.outside, 'repo.worktrees'))).toEqual([]);
  expect(
    await landfast(['config', 'workspace.pool_disk', '20GB'], { cwd: repo.dir }),
  ).toMatchObject({ code: 0 });
  expect(await landfast(['pool', 'warm', '1'], { cwd: repo.dir })).toMatchObject({ code: 0 });
});

test('where a workspace could not be used twice none is made ready, and the reason is told', async () => {
  await using repo = await tempRepo();
  await repo.write({ 'landfast.yaml': 'workspace: { pool: 2 }\n' });
  const warm = async () => {
    const { code, stderr } = await landfast(['pool', 'warm', '1'], { cwd: repo.dir });
    return { code, stderr, left: namesIn(join(repo.outside, 'repo.worktrees')) };
  };
  const refused = (why: string) => ({
    code: 1,
    stderr: expect.stringContaining(
      `landfast: 1 workspace could not be kept ready: ${why}.\n  A run `,
    ),
    left: [],
  });
  const settings = join(repo.commonDir, 'config.worktree');
  writeFileSync(settings, '[core]\n\tautocrlf = false\n');
  expect(await warm()).toEqual(
    refused('new worktrees of this repository begin with settings of its own'),
  );
  rmSync(settings);
  const other = await repo.git('rev-parse', 'HEAD');
  await repo.git('update-index', '--add', '--cacheinfo', `160000,${other},sub`);
  await repo.write({ '.gitmodules': '[submodule "sub"]\n\tpath = sub\n\turl = ./x\n' });
  await repo.git('add', '.gitmodules');
  await repo.git('commit', '-qm', 'sub');
  expect(await warm()).toEqual(refused('one with submodules is never used twice'));
});

test.each(['wt', '.'])(
  'idle workspaces in the checkout, in %s, are no new files of it',
  async (dir) => {
    await using repo = await tempRepo();
    await repo.commit('main', { 'landfast.yaml': `workspace: { dir: ${dir} }\n` });
    expect(await landfast(['pool', 'warm', '1'], { cwd: repo.dir })).toMatchObject({ code: 0 });
    expect(await repo.git('worktree', 'list')).toContain(join(repo.dir, dir, 'landfast.pool-'));
    expect(await repo.git('status', '--porcelain')).toBe('');
  },
);

test('before the first commit there is nothing to make ready', async () => {
  await using repo = await tempRepo({ files: null });
  const { code, stderr } = await landfast(['pool', 'warm', '1'], { cwd: repo.dir });
  expect([code, stderr]).toEqual([
    2,
    'landfast: The repository has no commits yet: there is nothing to prepare.\n' +
      '  Commit something first; a workspace holds the files of a commit.\n',
  ]);
});
