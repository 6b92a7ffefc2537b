/** Workspaces with some folders of the repository: what is in them, and that nothing is lost. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { type PlanRun, runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const FILES = {
  'README.md': 'hello\n',
  '.tool/settings': 'x\n',
  'app/web/page': '1\n',
  'app/web/deep/part': '1\n',
  'app/api/server': '1\n',
  'app/notes': '1\n',
  'lib/one': '1\n',
  'lib/two': '1\n',
  'tools/make': '1\n',
};

const AUTO = { workspace: { sparse: 'auto' } };
const LIST = `find . -type f ! -name .git ! -name seen | sort`;
const WEB = [
  './.tool/settings',
  './README.md',
  './app/notes',
  './app/web/deep/part',
  './app/web/page',
];
const ALL = Object.keys(FILES)
  .map((path) => `./${path}`)
  .sort();

const linesOf = (text: string): readonly string[] => text.trim().split('\n');
const landed = (repo: TempRepo, path: string) => repo.git('show', `main:${path}`).then(linesOf);
const changed = (repo: TempRepo, from: string, to = 'main') =>
  repo.git('diff', '--name-status', '--no-renames', from, to).then(linesOf);
const headOf = (repo: TempRepo) => repo.git('rev-parse', 'HEAD');
const configOf = (repo: TempRepo) => readFileSync(join(repo.commonDir, 'config'), 'utf8');
const kept = (repo: TempRepo, { run }: PlanRun, ...path: readonly string[]) =>
  join(repo.outside, 'repo.worktrees', run, ...path);

test('a task finds the folders of its scope, the root, and what is named besides', async () => {
  await using repo = await tempRepo({ files: FILES });
  const before = configOf(repo);
  const seen = (writes: readonly string[] | undefined, to: string) => ({
    ...(writes === undefined ? {} : { writes }),
    prompt: `${LIST} > ${to}/seen`,
  });
  const run = await runPlan(repo, {
    gates: [{ name: 'all', run: `test "$(${LIST} | wc -l)" -ge ${ALL.length}` }],
    tasks: {
      web: seen(['app/web/**'], 'app/web'),
      lib: { ...seen(['lib/one', 'lib/seen', 'app/{web,api}/*.md'], 'lib'), needs: ['web'] },
      wide: seen(['app/api/seen', 'app/*/x'], 'app/api'),
      free: { ...seen(undefined, 'tools'), needs: ['lib', 'wide'] },
      everywhere: { ...seen(['**/seen'], '.'), needs: ['free'] },
    },
    more: { workspace: { sparse: 'auto', sparse_also: ['tools/**'] } },
  });
  expect(run).toMatchObject({ code: 0 });
  expect(await landed(repo, 'app/web/seen')).toEqual([...WEB, './tools/make']);
  expect(await landed(repo, 'lib/seen')).toEqual(
    [...WEB, './app/api/server', './lib/one', './lib/two', './tools/make'].sort(),
  );
  expect(await landed(repo, 'app/api/seen')).not.toContain('./lib/one');
  expect(await landed(repo, 'tools/seen')).toEqual(ALL);
  expect(await landed(repo, 'seen')).toEqual(ALL);
  expect(configOf(repo)).toBe(before);
});

test('folders that the plan names are there for every task', async () => {
  await using repo = await tempRepo({ files: FILES });
  const run = await runPlan(repo, {
    tasks: {
      a: `${LIST} > seen`,
      b: { needs: ['a'], writes: ['lib/**'], prompt: `${LIST} > lib/seen` },
    },
    more: { workspace: { sparse: ['app/web'] } },
  });
  expect(run).toMatchObject({ code: 0 });
  expect(await landed(repo, 'seen')).toEqual(WEB);
  expect(await landed(repo, 'lib/seen')).toEqual([...WEB, './lib/one', './lib/two'].sort());
});

/** Every kind of change where nothing is checked out. */
const ELSEWHERE = [
  'echo 2 > app/web/page; rm app/web/deep/part',
  'mkdir -p lib new; echo 2 > lib/one; echo new > lib/new; echo new > new/file',
  'git rm -q --sparse tools/make',
].join('; ');

test('changes elsewhere are seen, committed and reported; the rest stays as it is', async () => {
  await using repo = await tempRepo({ files: FILES });
  const base = await headOf(repo);
  const run = await runPlan(repo, {
    tasks: { a: { writes: ['app/web/**'], outside: 'report', prompt: ELSEWHERE } },
    more: AUTO,
  });
  expect(run).toMatchObject({ code: 0 });
  const outside = ['lib/new', 'lib/one', 'new/file', 'tools/make'];
  expect(run.of('attempt.finished')[0]).toMatchObject({ outside });
  expect(await changed(repo, base)).toEqual([
    'D\tapp/web/deep/part',
    'M\tapp/web/page',
    'A\tlib/new',
    'M\tlib/one',
    'A\tnew/file',
    'D\ttools/make',
  ]);
});

test('they fail a task that keeps to its scope, and nothing of them is lost', async () => {
  await using repo = await tempRepo({ files: FILES });
  const base = await headOf(repo);
  const run = await runPlan(repo, {
    retries: 1,
    tasks: {
      a: {
        writes: ['app/web/**'],
        retry: { session: 'new' },
        prompt: `${LIST} > ../../../seen.$LANDFAST_ATTEMPT; git sparse-checkout add app/api; ${ELSEWHERE}; exit 1`,
      },
      b: {
        writes: ['app/api/**'],
        prompt: `cd app/api; ${ELSEWHERE.replaceAll('app/web/', '')}; cd ../..; ${ELSEWHERE}`,
      },
    },
    more: AUTO,
  });
  expect(run).toMatchObject({ code: 1 });
  expect(run.failure('b')).toMatchObject({
    kind: 'out-of-scope',
    files: expect.arrayContaining(['lib/new', 'lib/one', 'new/file', 'tools/make']),
  });
  // The second attempt begins as the first did, and what the first left is kept.
  expect(readFileSync(join(repo.outside, 'seen.2'), 'utf8')).toBe(
    readFileSync(join(repo.outside, 'seen.1'), 'utf8'),
  );
  const ref = `refs/landfast/kept/${run.run}/a.1`;
  expect(await changed(repo, base, ref)).toEqual([
    'D\tapp/web/deep/part',
    'M\tapp/web/page',
    'A\tlib/new',
    'M\tlib/one',
    'A\tnew/file',
    'D\ttools/make',
  ]);
});

test('an agent gets more folders from git, and can commit what it does there', async () => {
  await using repo = await tempRepo({ files: FILES });
  const before = configOf(repo);
  const base = await headOf(repo);
  const script = [
    'git sparse-checkout add lib && test -e lib/one && test ! -e tools',
    'echo 2 >> lib/one && git add -A && git commit -qm mine && git status --porcelain > ../../../status && echo 2 > app/web/page',
  ].join(' && ');
  const run = await runPlan(repo, {
    tasks: {
      a: {
        writes: ['app/web/**'],
        outside: 'report',
        prompt: script,
        checks: ['git sparse-checkout add tools; test -e tools/make'],
      },
    },
    more: AUTO,
  });
  expect(run).toMatchObject({ code: 0 });
  expect(await changed(repo, base)).toEqual(['M\tapp/web/page', 'M\tlib/one']);
  expect(readFileSync(join(repo.outside, 'status'), 'utf8')).toBe('');
  expect(configOf(repo)).toBe(before);
  expect(existsSync(join(repo.commonDir, 'config.worktree'))).toBe(false);
});

test('a conflict elsewhere is laid out for the agent, and all of the merge lands', async () => {
  await using repo = await tempRepo({ files: FILES });
  const meet = (name: string, other: string) =>
    `touch ${repo.outside}/${name}; until test -e ${repo.outside}/${other}; do sleep 0.05; done`;
  const task = (name: string, other: string, writes: string) => ({
    ...{ agent: 'command', prompt: 'Change it.', writes: [writes], outside: 'report' },
    command: [
      'sh',
      '-c',
      [
        'cat > /dev/null',
        `if grep -q '^<<<<<<<' lib/one; then echo both > lib/one; exit; fi`,
        meet(name, other),
        `mkdir -p lib tools; echo ${name} > lib/one; echo ${name} > tools/${name}; rm -f lib/two`,
      ].join('\n'),
    ],
  });
  const base = await headOf(repo);
  const run = await runPlan(repo, {
    tasks: { a: task('a', 'b', 'app/web/**'), b: task('b', 'a', 'app/api/**') },
    more: AUTO,
  });
  expect(run).toMatchObject({ code: 0 });
  expect(run.of('merge.rejected')).toHaveLength(1);
  expect(await changed(repo, base)).toEqual(['M\tlib/one', 'A\ttools/a', 'A\ttools/b']);
  expect(await repo.git('show', 'main:lib/one')).toBe('both');
});

test('files that git does not hold come along, and a program works in its folder', async () => {
  await using repo = await tempRepo({ files: { ...FILES, '.gitignore': '.env\n' } });
  await repo.write({ '.env': 'root\n', 'lib/.env': 'lib\n' });
  const run = await runPlan(repo, {
    tasks: {
      a: {
        ...{ writes: ['app/web/**'], cwd: 'app/api' },
        prompt: 'test -e server && cat ../../.env ../../lib/.env > ../web/page',
      },
    },
    more: { workspace: { sparse: 'auto', copy: ['.env', 'lib/.env'] } },
  });
  expect(run).toMatchObject({ code: 0 });
  expect(await landed(repo, 'app/web/page')).toEqual(['root', 'lib']);
  expect(await repo.git('ls-files', 'lib')).toBe('lib/one\nlib/two');
});

test('a submodule outside of the folders stays where it is', async () => {
  await using repo = await tempRepo({ files: FILES });
  const commit = await headOf(repo);
  await repo.git('update-index', '--add', '--cacheinfo', `160000,${commit},vendor/sub`);
  await repo.write({ '.gitmodules': '[submodule "s"]\n\tpath = vendor/sub\n\turl = ../s\n' });
  await repo.git('add', '.gitmodules');
  await repo.git('commit', '-qm', 'sub');
  const base = await headOf(repo);
  const run = await runPlan(repo, {
    workers: 1,
    tasks: {
      a: { writes: ['app/web/**'], prompt: 'echo 2 > app/web/page' },
      b: { writes: ['lib/**'], prompt: 'echo 2 > lib/one; git submodule status > ../../../subs' },
    },
    more: AUTO,
  });
  expect(run).toMatchObject({ code: 0 });
  expect(await changed(repo, base)).toEqual(['M\tapp/web/page', 'M\tlib/one']);
  expect(readFileSync(join(repo.outside, 'subs'), 'utf8')).toContain('vendor/sub');
});

test('a workspace that is kept can be looked at with git alone', async () => {
  await using repo = await tempRepo({ files: FILES });
  const run = await runPlan(repo, {
    tasks: { a: { writes: ['app/web/**'], prompt: 'echo 2 > app/web/page; exit 1' } },
    more: AUTO,
  });
  expect(run).toMatchObject({ code: 1 });
  const dir = kept(repo, run, 'a');
  expect(await repo.git('-C', dir, 'status', '--porcelain')).toBe('M app/web/page');
  await repo.git('-C', dir, 'commit', '-qam', 'By hand');
  expect(await repo.git('-C', dir, 'diff', '--name-only', 'main')).toBe('app/web/page');
});

test.each([
  ['is out of scope', '', []],
  ['fails', '; exit 1', []],
  ['is kept on demand', '; exit 1', ['--keep-worktrees']],
])('git alone shows what a task that %s wrote elsewhere, and does not lose it', async (...of) => {
  await using repo = await tempRepo({ files: FILES });
  const [, end, args] = of;
  const run = await runPlan(
    repo,
    {
      tasks: { a: { writes: ['app/web/**'], prompt: `mkdir lib; echo 2 > lib/one${end}` } },
      more: AUTO,
    },
    { args },
  );
  expect(run).toMatchObject({ code: 1 });
  const dir = kept(repo, run, 'a');
  expect(await repo.git('-C', dir, 'status', '--porcelain')).toBe('M lib/one');
  await expect(repo.git('worktree', 'remove', dir)).rejects.toThrow(/modified/);
  const listed = await landfast(['worktrees'], { cwd: repo.dir, env: { HOME: repo.outside } });
  expect(listed.stdout).toContain(`landfast cleanup --all --run ${run.run}\n`);
  await repo.git('-C', dir, 'commit', '-qam', 'By hand');
  expect(await changed(repo, 'main', `landfast/${run.run}.a`)).toEqual(['M\tlib/one']);
});
