/** Repositories and machines as they are found: what works there, and what is said where it cannot. */

import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { nativePlan } from '../support/native-plan.ts';
import { runPlan } from '../support/run-plan.ts';
import { tempDir } from '../support/temp-dir.ts';
import { tempRepo } from '../support/temp-repo.ts';

const PLAN = { tasks: { one: 'echo new > a.txt' } };

test('no repository, no commits, a detached HEAD, a bare repository: exit 3 with a way out', async () => {
  await using nowhere = await tempDir();
  const plan = join(nowhere.path, 'plan.yaml');
  writeFileSync(plan, nativePlan(PLAN));
  mkdirSync(join(nowhere.path, 'plain'));
  const outside = await landfast(['run', plan], { cwd: join(nowhere.path, 'plain') });
  expect(outside).toMatchObject({ code: 3, stderr: expect.stringContaining('git init') });

  await using unborn = await tempRepo({ files: null });
  expect(await runPlan(unborn, PLAN)).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('no commits yet'),
  });

  await using repo = await tempRepo();
  await repo.git('checkout', '-q', '--detach');
  expect(await runPlan(repo, PLAN)).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('detached'),
  });
  expect(await runPlan(repo, PLAN, { args: ['--target', 'main'] })).toMatchObject({ code: 0 });

  await repo.git('clone', '-q', '--bare', '.', join(repo.outside, 'bare.git'));
  const bare = await landfast(['run', plan], { cwd: join(repo.outside, 'bare.git') });
  expect(bare).toMatchObject({ code: 3, stderr: expect.stringContaining('git worktree add') });
});

test('a missing identity is found before anything starts', async () => {
  await using repo = await tempRepo();
  await repo.git('config', '--unset', 'user.name');
  await repo.git('config', '--unset', 'user.email');
  await repo.git('config', 'user.useConfigOnly', 'true');
  const run = await runPlan(repo, PLAN);
  expect(run).toMatchObject({ code: 3, stderr: expect.stringContaining('git config --global') });
  expect(run.facts).toEqual([]);
});

test('a failing pre-commit hook fails the task and keeps the work', async () => {
  await using repo = await tempRepo();
  const hook = join(repo.commonDir, 'hooks', 'pre-commit');
  writeFileSync(hook, '#!/bin/sh\necho "no way: lint is red" >&2\nexit 1\n');
  chmodSync(hook, 0o755);
  const run = await runPlan(repo, PLAN);
  expect(run).toMatchObject({ code: 1 });
  expect(run.failure('one')).toMatchObject({
    kind: 'commit-failed',
    message: expect.stringContaining('lint is red'),
  });
  const kept = join(repo.outside, 'repo.worktrees', run.run, 'one', 'a.txt');
  expect(readFileSync(kept, 'utf8')).toBe('new\n');
});

test('commit.gpgsign without a key is found before anything starts', async () => {
  await using repo = await tempRepo();
  await repo.git('config', 'commit.gpgsign', 'true');
  await repo.git('config', 'gpg.program', join(repo.outside, 'gpg'));
  writeFileSync(join(repo.outside, 'gpg'), '#!/bin/sh\necho "gpg: no secret key" >&2\nexit 2\n');
  chmodSync(join(repo.outside, 'gpg'), 0o755);
  const run = await runPlan(repo, PLAN);
  expect(run).toMatchObject({ code: 3, stdout: '' });
  expect(run.stderr).toContain('commits cannot be signed without a prompt: error: gpg failed');
});

test('a repository with a submodule: changed, landed and cleaned up', async () => {
  await using repo = await tempRepo();
  await using library = await tempRepo({ files: { 'lib.txt': 'lib\n' } });
  const allow = ['-c', 'protocol.file.allow=always'];
  await repo.git(...allow, 'submodule', 'add', '-q', library.dir, 'lib');
  await repo.git('commit', '-qm', 'Add lib');
  const run = await runPlan(repo, PLAN);
  expect(run).toMatchObject({ code: 0 });
  expect(await repo.git('status', '--porcelain')).toBe('');
  expect(await repo.git('worktree', 'list', '--porcelain')).not.toContain('repo.worktrees');
  expect(await repo.git('ls-tree', '--name-only', 'HEAD')).toBe(
    '.gitmodules\nREADME.md\na.txt\nlib',
  );
});

test('core.autocrlf creates no spurious changes', async () => {
  await using repo = await tempRepo({ files: { 'unix.txt': 'one\ntwo\n', 'a.txt': 'x\n' } });
  await repo.git('config', 'core.autocrlf', 'true');
  const run = await runPlan(repo, PLAN);
  expect(run).toMatchObject({ code: 0 });
  expect(run.of('attempt.finished')[0]?.files).toEqual(['a.txt']);
  expect(await repo.git('config', 'core.autocrlf')).toBe('true');
});

test('a shallow clone is as good as any', async () => {
  await using repo = await tempRepo();
  await repo.commit('main', { 'b.txt': '1\n' });
  const clone = join(repo.outside, 'shallow');
  await repo.git('clone', '-q', '--depth=1', `file://${repo.dir}`, clone);
  const identity = { GIT_COMMITTER_NAME: 'A', GIT_COMMITTER_EMAIL: 'a@example.com' };
  const author = { GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@example.com' };
  const run = await runPlan(repo, PLAN, { cwd: clone, env: { ...identity, ...author } });
  expect(run).toMatchObject({ code: 0 });
  expect(readFileSync(join(clone, 'a.txt'), 'utf8')).toBe('new\n');
});

test('several worktrees around a bare repository, started inside one of them', async () => {
  await using repo = await tempRepo();
  const project = join(repo.outside, 'project');
  await repo.git('clone', '-q', '--bare', '.', join(project, '.bare'));
  const git = (...args: string[]) => repo.git('-C', join(project, '.bare'), ...args);
  await git('config', 'user.name', 'A');
  await git('config', 'user.email', 'a@example.com');
  await git('worktree', 'add', '-q', join(project, 'main'), 'main');
  await git('worktree', 'add', '-q', '-b', 'topic', join(project, 'topic'));
  mkdirSync(join(project, 'topic', 'deep'));
  const run = await runPlan(repo, PLAN, { cwd: join(project, 'topic', 'deep') });
  expect(run).toMatchObject({ code: 0 });
  expect(readFileSync(join(project, 'topic', 'a.txt'), 'utf8')).toBe('new\n');
  expect(existsSync(join(project, 'main', 'a.txt'))).toBe(false);
  const elsewhere = await landfast(['status'], { cwd: join(project, 'main') });
  expect(elsewhere.stdout).toContain(run.run);
});

test('a plan of read tasks alone runs outside of git', async () => {
  await using place = await tempDir();
  const dir = join(place.path, 'here');
  mkdirSync(dir);
  writeFileSync(join(dir, 'note.txt'), 'hello\n');
  const plan = nativePlan({ tasks: { look: { read_only: true, prompt: 'cat note.txt' } } });
  writeFileSync(join(dir, 'plan.yaml'), plan);
  const ended = await landfast(['run', 'plan.yaml', '--events'], { cwd: dir });
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('"text":"hello"') });
  expect((await landfast(['runs'], { cwd: dir })).stdout).toContain('succeeded');
});

test('a missing agent program, an unknown agent and a wrong plan are refused', async () => {
  await using repo = await tempRepo();
  const claude = { tasks: { one: { agent: 'claude', prompt: 'x' } } };
  const missing = await runPlan(repo, claude, { args: ['--claude-exe', './no-such-claude'] });
  expect(missing).toMatchObject({ code: 3, stderr: expect.stringContaining('no-such-claude') });
  const unknown = await runPlan(repo, { tasks: { one: { agent: 'clod', prompt: 'x' } } });
  expect(unknown).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('expected one of claude,'),
  });
  const wrong = await runPlan(repo, 'landfast: 1\ntasks:\n  - id: a b\n    promt: x\n');
  expect(wrong).toMatchObject({ code: 2 });
  expect(wrong.stderr).toMatch(
    /plan\.yaml:3:9: error: .*\n(.*\n)*.*plan\.yaml:4:5: error: .*promt/,
  );
  expect([missing.facts, unknown.facts, wrong.facts]).toEqual([[], [], []]);
});
