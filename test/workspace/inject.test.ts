/** Folders of the user's in a workspace: what is there, and that nothing of it is ever committed. */

import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { git } from '../../src/git/git.ts';
import type { InjectSpec } from '../../src/model/plan.ts';
import { createWorkspace, type WorkspaceOrder } from '../../src/workspace/create.ts';
import { judgeWork } from '../../src/workspace/judge.ts';
import { isIdle } from '../../src/workspace/pool/idle-worktrees.ts';
import { removeWorkspace } from '../../src/workspace/remove.ts';
import { type RunContext, runContext } from '../../src/workspace/run-context.ts';
import { planOf, taskSpec } from '../support/journal-builder.ts';
import { MARK } from '../support/mark.ts';
import { NO_MEMORY, NO_RESOLUTIONS } from '../support/no-memory.ts';
import { testPool } from '../support/pool.ts';
import { writeFiles } from '../support/temp-dir.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const SPEC: InjectSpec = {
  from: '.conf',
  to: '.conf',
  skip: ['RULES.md', 'logs'],
  blank: ['RULES.md'],
};

interface Scene {
  readonly context: RunContext;
  readonly dir: string;
  readonly base: string;
  again(kind: 'fresh' | 'continue'): Promise<string>;
  judge(): ReturnType<typeof judgeWork>;
  /** What git sees in the workspace. */
  status(): Promise<string>;
  read(path: string): string | null;
}

async function scene(
  repo: TempRepo,
  more: Partial<InjectSpec> = {},
  mode: 'write' | 'read' = 'write',
  sparse: 'off' | readonly string[] = 'off',
) {
  const workspace = { setup: [], setupKey: [], copy: [], inject: [{ ...SPEC, ...more }], sparse };
  const plan = planOf([{ id: 'a', mode }], { workspace });
  const dir = join(repo.outside, 'repo.worktrees', 'r1', 'a');
  const repository = {
    ...{ dir: repo.dir, commonDir: repo.commonDir, worktreesDir: join(dir, '../..') },
    stateDir: join(repo.commonDir, 'landfast'),
  };
  const env = { PATH: process.env.PATH ?? '' };
  const context = runContext({
    repository,
    run: 'r1',
    plan,
    env,
    pool: testPool(repo, 4),
    verdicts: NO_MEMORY,
    resolutions: NO_RESOLUTIONS,
    assertHeld: () => undefined,
  });
  const base = await repo.git('rev-parse', 'HEAD');
  let attempt = 0;
  const again = async (kind: 'fresh' | 'continue'): Promise<string> => {
    attempt += 1;
    const start = kind === 'fresh' ? { kind } : { kind, session: null };
    const order: WorkspaceOrder = { task: 'a', attempt, base, start, mark: MARK };
    const created = await createWorkspace(context, order, repo.signal);
    if (created.kind !== 'ready') throw new Error(JSON.stringify(created));
    return created.dir;
  };
  await again('fresh');
  const task = taskSpec({ id: 'a', mode });
  const made: Scene = {
    context,
    dir,
    base,
    again,
    judge: () => judgeWork(context, { task, dir, base, mark: MARK, mended: false }, repo.signal),
    status: async () =>
      (await git(dir, ['status', '--porcelain', '-uall'], repo.signal)).stdout.trimEnd(),
    read: (path) => (existsSync(join(dir, path)) ? readFileSync(join(dir, path), 'utf8') : null),
  };
  return made;
}

const commitIn = async (repo: TempRepo, dir: string): Promise<void> => {
  await git(dir, ['add', '-A'], repo.signal);
  await git(dir, ['commit', '-qm', 'All I see'], repo.signal);
};

const filesOf = (repo: TempRepo, commit: string | null) =>
  repo.git('ls-tree', '-r', '--name-only', commit ?? 'HEAD').then((text) => text.split('\n'));

test('untracked files are injected, and git does not see them', async () => {
  await using repo = await tempRepo({ files: { '.conf/known.md': 'committed\n' } });
  await repo.write({
    '.conf/known.md': 'edited\n',
    '.conf/RULES.md': 'mine\n',
    '.conf/logs/1.log': 'x\n',
    '.conf/agents/dev.md': 'You develop.\n',
    '.conf/odd [x] *.md': 'odd\n',
  });
  await mkdir(join(repo.outside, 'far/.git'), { recursive: true });
  await symlink('agents/dev.md', join(repo.dir, '.conf/linked.md'));
  await symlink('nowhere', join(repo.dir, '.conf/broken.md'));
  await symlink('.', join(repo.dir, '.conf/round'));
  await symlink(join(repo.outside, 'far'), join(repo.dir, '.conf/repository'));
  const { read, status, judge, dir } = await scene(repo);

  expect({
    known: read('.conf/known.md'),
    rules: read('.conf/RULES.md'),
    log: read('.conf/logs/1.log'),
    agent: read('.conf/agents/dev.md'),
    odd: read('.conf/odd [x] *.md'),
    linked: read('.conf/linked.md'),
    broken: read('.conf/broken.md'),
    round: existsSync(join(dir, '.conf/round')),
    repository: existsSync(join(dir, '.conf/repository')),
  }).toEqual({
    known: 'committed\n',
    rules: '',
    log: null,
    agent: 'You develop.\n',
    odd: 'odd\n',
    linked: 'You develop.\n',
    broken: null,
    round: false,
    repository: false,
  });
  expect(await status()).toBe('');
  expect(await repo.git('status', '--porcelain', '-uall')).toContain('?? .conf/agents/dev.md');
  expect(await judge()).toMatchObject({ kind: 'bad', failure: { kind: 'no-change' } });
});

test('an agent that commits all it sees commits its own files only', async () => {
  await using repo = await tempRepo({ files: { '.conf/RULES.md': 'ours\n', '.conf/b.md': 'b\n' } });
  await repo.write({ '.conf/agents/dev.md': 'You develop.\n' });
  const { read, dir, judge } = await scene(repo);
  expect(read('.conf/RULES.md')).toBe('');
  await writeFiles(dir, {
    '.conf/b.md': 'better\n',
    '.conf/agents/new.md': 'A genuine one.\n',
    '.conf/agents/dev.md': 'Changed, but not ours to commit.\n',
    'one.txt': '1\n',
  });
  await commitIn(repo, dir);
  await writeFiles(dir, { 'two.txt': '2\n' });

  const judged = await judge();

  expect(judged).toMatchObject({
    kind: 'good',
    files: ['.conf/agents/new.md', '.conf/b.md', 'one.txt', 'two.txt'],
  });
  const commit = judged.kind === 'good' ? judged.commit : null;
  expect(await filesOf(repo, commit)).toEqual([
    ...['.conf/RULES.md', '.conf/agents/new.md', '.conf/b.md', 'one.txt', 'two.txt'],
  ]);
  expect(await repo.git('show', `${commit}:.conf/RULES.md`)).toBe('ours');
  expect(read('.conf/RULES.md')).toBe('ours\n');
});

test('a removed ignore file does not make what was laid in a change', async () => {
  await using repo = await tempRepo();
  await repo.write({ '.conf/agents/dev.md': 'You develop.\n' });
  const { dir, judge } = await scene(repo);
  await git(dir, ['clean', '-q', '-fdx', '.conf/.gitignore'], repo.signal);
  await writeFiles(dir, { 'one.txt': '1\n' });
  expect(await judge()).toMatchObject({ kind: 'good', files: ['one.txt'] });
});

test('a tracked link is blank itself; what it leads to is another file', async () => {
  await using repo = await tempRepo({ files: { 'AGENTS.md': 'read me\n' } });
  await mkdir(join(repo.dir, '.conf'));
  await symlink('../AGENTS.md', join(repo.dir, '.conf/RULES.md'));
  await repo.git('add', '-A');
  await repo.git('commit', '-qm', 'A link');
  const { read, status, judge } = await scene(repo);
  expect([read('.conf/RULES.md'), read('AGENTS.md'), await status()]).toEqual([
    '',
    'read me\n',
    '',
  ]);
  await judge();
  expect([read('.conf/RULES.md'), await status()]).toEqual(['read me\n', '']);
});

test('a tracked folder that is a link is not written through', async () => {
  await using repo = await tempRepo();
  await mkdir(join(repo.outside, 'target'));
  await symlink(join(repo.outside, 'target'), join(repo.dir, '.conf'));
  await repo.git('add', '-A');
  await repo.git('commit', '-qm', 'A link');
  await repo.write({ 'source/x.md': 'x\n' });
  const { status } = await scene(repo, { from: 'source' });
  expect(existsSync(join(repo.outside, 'target/x.md'))).toBe(false);
  expect(existsSync(join(repo.outside, 'target/RULES.md'))).toBe(false);
  expect(await status()).toBe('');
});

test('later attempts find it again: injected again after a reset, otherwise as it was left', async () => {
  await using repo = await tempRepo({ files: { '.conf/RULES.md': 'ours\n' } });
  await repo.write({ '.conf/local.json': '{}\n' });
  const { read, dir, again, status } = await scene(repo);
  await writeFiles(dir, { '.conf/local.json': '{"a":1}\n', 'half.txt': 'half\n' });
  await again('continue');
  expect([read('.conf/local.json'), read('.conf/RULES.md')]).toEqual(['{"a":1}\n', '']);
  await again('fresh');
  expect([read('.conf/local.json'), read('.conf/RULES.md'), await status()]).toEqual([
    '{}\n',
    '',
    '',
  ]);
  const kept = await repo.git('ls-tree', '-r', '--name-only', 'refs/landfast/kept/r1/a.2');
  expect(kept.split('\n')).toEqual(['.conf/RULES.md', 'half.txt']);
  expect(await repo.git('show', 'refs/landfast/kept/r1/a.2:.conf/RULES.md')).toBe('ours');
});

test('a merge that is laid out brings the newest content of a blank file with it', async () => {
  await using repo = await tempRepo({ files: { '.conf/RULES.md': 'ours\n', 'same.txt': '0\n' } });
  const { context, dir, read, judge, status } = await scene(repo);
  await writeFiles(dir, { 'same.txt': 'of a\n' });
  const first = await judge();
  const commit = first.kind === 'good' ? (first.commit ?? '') : '';
  const base = await repo.commit('main', { '.conf/RULES.md': 'newer\n', 'same.txt': 'of b\n' });

  const start = { kind: 'rework', session: null, commit } as const;
  const order: WorkspaceOrder = { task: 'a', attempt: 2, base, start, mark: MARK };
  expect(await createWorkspace(context, order, repo.signal)).toMatchObject({ kind: 'ready', dir });

  expect([read('.conf/RULES.md'), await status()]).toEqual(['', 'M  .conf/RULES.md\nUU same.txt']);
  await writeFiles(dir, { 'same.txt': 'of both\n' });
  await commitIn(repo, dir);
  const work = { task: taskSpec({ id: 'a' }), dir, base, mark: MARK, mended: true };
  const judged = await judgeWork(context, work, repo.signal);
  expect(judged).toMatchObject({ kind: 'good', files: ['same.txt'] });
  expect(read('.conf/RULES.md')).toBe('newer\n');
});

test('where git holds an ignore file already, the shared exclude takes its place', async () => {
  await using repo = await tempRepo({ files: { '.conf/.gitignore': '*.tmp\n' } });
  await repo.write({ '.conf/local.json': '{}\n' });
  const { read, status } = await scene(repo);
  expect([read('.conf/local.json'), await status()]).toEqual(['{}\n', '']);
  const exclude = readFileSync(join(repo.commonDir, 'info/exclude'), 'utf8');
  expect(exclude).toContain('\n/.conf/local.json\n/.conf/RULES.md\n');
});

test('a task that only reads sees tracked files as they are', async () => {
  await using repo = await tempRepo({ files: { '.conf/RULES.md': 'ours\n' } });
  await repo.write({ '.conf/local.json': '{}\n' });
  const { read } = await scene(repo, {}, 'read');
  expect([read('.conf/RULES.md'), read('.conf/local.json')]).toEqual(['ours\n', '{}\n']);
});

test('such a workspace is handed on without what was laid in', async () => {
  await using repo = await tempRepo({ files: { '.conf/RULES.md': 'ours\n' } });
  const { context, dir } = await scene(repo);
  const effect = { task: 'a', succeeded: true, safe: [await repo.git('rev-parse', 'HEAD')] };
  expect(await removeWorkspace(context, effect, repo.signal)).toEqual({ kind: 'removed' });
  expect(isIdle(dir)).toBe(true);
  const commit = effect.safe[0] ?? '';
  const wanted = { dir, commit, branch: null, owner: null };
  expect(await context.pool.take(wanted, repo.signal)).toBe(true);
  expect(readdirSync(dir).sort()).toEqual(['.conf', '.git']);
  expect(readFileSync(join(dir, '.conf/RULES.md'), 'utf8')).toBe('ours\n');
});

test('where only some folders are checked out a blank file is hidden as well', async () => {
  const files = { '.conf/RULES.md': 'ours\n', 'a/x': '1\n', 'b/y': '1\n' };
  await using repo = await tempRepo({ files });
  await repo.write({ '.conf/dev.md': 'You develop.\n' });
  const { context, dir, status, read, judge, again } = await scene(repo, {}, 'write', ['a']);
  expect(await status()).toBe('');
  expect([read('.conf/RULES.md'), read('.conf/dev.md'), read('b/y')]).toEqual([
    '',
    'You develop.\n',
    null,
  ]);
  await writeFiles(dir, { 'a/x': '2\n', 'b/y': '2\n' });
  await again('continue');
  await commitIn(repo, dir);
  await writeFiles(dir, { 'a/x': '3\n' });
  const judged = await judge();
  expect(judged).toMatchObject({ kind: 'good', files: ['a/x', 'b/y'] });
  const branch = `landfast/${context.run}.a`;
  expect(await repo.git('diff', '--name-only', 'main', branch)).toBe('a/x\nb/y');
});

test('an agent that replaces what we write by a link changes nothing behind the link', async () => {
  await using repo = await tempRepo();
  await writeFiles(repo.dir, { '.conf/a.md': 'user' });
  const { dir, judge, again } = await scene(repo);
  const secret = join(repo.outside, 'secret');
  await writeFiles(repo.outside, { secret: 'mine' });
  rmSync(join(dir, '.conf', '.gitignore'));
  await symlink(secret, join(dir, '.conf', '.gitignore'));
  rmSync(join(dir, '.conf', 'a.md'));
  await symlink(join(repo.outside, 'made'), join(dir, '.conf', 'a.md'));
  await writeFiles(dir, { 'work.txt': 'done' });
  expect(await judge()).toMatchObject({ kind: 'good', files: ['work.txt'] });
  await again('continue');
  expect(readFileSync(secret, 'utf8')).toBe('mine');
  expect(existsSync(join(repo.outside, 'made'))).toBe(false);
});
