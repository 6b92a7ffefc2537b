/** Task files of claude-code-orchestrator, run: which tasks, where, and what becomes of them. */

import { existsSync } from 'node:fs';
import { chmod, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runGit } from '../support/temp-repo.ts';
import { ccoProject, entry, workspaces } from './cco-project.ts';

const WORK = 'echo new > "$task.txt"; git add -A; git commit -qm "feat: $task"';

test('each task is pushed on its own branch, and nothing else of the repository changes', async () => {
  await using project = await ccoProject({ agents: { a: WORK, b: 'echo left > left.txt' } });
  const { code, stdout } = await project.run();
  expect([code, stdout]).toMatchObject([0, expect.stringContaining('2/2 completed')]);
  expect(await project.pushed()).toEqual(['feature/a', 'feature/b', 'main']);
  expect(await runGit(project.origin, ['show', 'feature/b:left.txt'])).toBe('left');
  expect(await runGit(project.origin, ['log', '-1', '--format=%s', 'feature/b'])).toBe('feat: b');
  expect(await project.repo.git('status', '--porcelain')).toBe('');
  expect(await project.repo.git('branch', '--format=%(refname:short)')).toBe(
    'feature/a\nfeature/b\nmain',
  );
  expect(await workspaces(project)).toEqual([]);
});

test('C25: only the tasks named get a workspace and an agent', async () => {
  await using project = await ccoProject({ agents: { t1: WORK, t2: WORK } });
  const { code } = await project.run('--tasks', 't1', '--keep-worktrees');
  expect([code, await project.calls(), await workspaces(project)]).toEqual([0, ['t1'], ['t1']]);
});

test('C26: naming no task of the file is a notice, and nothing is created', async () => {
  await using project = await ccoProject({ agents: { t1: WORK } });
  const { code, stderr } = await project.run('--tasks', 'nope');
  expect([code, stderr]).toMatchObject([0, expect.stringContaining('there is no task nope')]);
  expect(await project.calls()).toEqual([]);
  expect(existsSync(join(project.repo.dir, '.claude-orchestrator'))).toBe(false);
});

test('an empty list of tasks is a notice as well', async () => {
  await using project = await ccoProject({ agents: {}, tasks: 'tasks: []\n' });
  expect(await project.run()).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('nothing to do'),
  });
});

test.each([
  ['settings: { base_branch: main }\n', 'tasks'],
  ['tasks:\n', 'tasks'],
  ['# nothing yet\n', 'mapping'],
])('C26: a task file without its list (%j) is exit 1 with that reason', async (tasks, reason) => {
  await using project = await ccoProject({ agents: { t1: WORK }, tasks });
  const { code, stderr } = await project.run();
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(new RegExp(`^task_config.*${reason}`, 'm')),
  ]);
  expect(await project.calls()).toEqual([]);
});

test.each([[['task_config.yaml']], [['-c', 'other.yaml']]])(
  'C26: a task file that is missing (%j) is exit 1 with that reason',
  async (args) => {
    await using project = await ccoProject({ agents: { t1: WORK } });
    await rm(join(project.repo.dir, 'task_config.yaml'));
    expect(await project.run(...args)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`There is no task file ${args.at(-1)}`),
    });
  },
);

test('C28: a dry run shows every task as skipped and keeps the state of the last run', async () => {
  await using project = await ccoProject({ agents: { a: WORK, b: WORK } });
  await project.run('--tasks', 'a');
  const before = await project.results();
  const { code, stdout } = await project.run('--dry-run');
  expect(code).toBe(0);
  expect(stdout).toContain('○ b (feature/b)\n  Status: skipped\n');
  expect(await project.results()).toEqual(before);
  expect(await project.calls()).toEqual(['a']);
});

test('the settings of the file take effect', async () => {
  const settings = [
    'settings:',
    '  worktree_dir: ../trees',
    '  auto_cleanup: false',
    '  base_branch: develop',
    '  destination_branch: release',
  ].join('\n');
  await using project = await ccoProject({
    agents: { a: WORK },
    tasks: `${settings}\ntasks:\n${entry('a')}`,
    config: 'git: { provider: github, base_branch: main }\nworktree_dir: ../other\n',
  });
  await project.repo.commit('develop', { 'develop.txt': 'new\n' });
  await project.repo.git('push', '--quiet', 'origin', 'develop');
  expect((await project.run()).code).toBe(0);
  expect(await workspaces(project, 'trees')).toEqual(['a']);
  expect(await runGit(project.origin, ['show', 'feature/a:develop.txt'])).toBe('new');
  const { prompt, cwd } = await project.call('a');
  expect(prompt).toContain("--base 'release'");
  expect(cwd).toBe(join(project.repo.outside, 'trees', 'feature', 'a'));
});

test('work starts from what origin has now, not from what was fetched last', async () => {
  await using project = await ccoProject({ agents: { a: WORK } });
  const other = join(project.repo.outside, 'other');
  await runGit(project.repo.outside, ['clone', '--quiet', project.origin, other]);
  const who = ['-c', 'user.name=B', '-c', 'user.email=b@example.com'];
  await runGit(other, [...who, 'commit', '--quiet', '--allow-empty', '-m', 'Newer']);
  await runGit(other, ['push', '--quiet']);
  expect((await project.run()).code).toBe(0);
  const log = await runGit(project.origin, ['log', '--format=%s', 'feature/a']);
  expect(log.split('\n')).toEqual(['feat: a', 'Newer', 'Change']);
});

test('without a remote the branches stay here, and that is said', async () => {
  await using project = await ccoProject({ agents: { a: WORK } });
  await project.repo.git('remote', 'remove', 'origin');
  const { code, stderr } = await project.run();
  expect([code, stderr]).toMatchObject([0, expect.stringContaining('no remote origin')]);
  expect(await project.repo.git('log', '-1', '--format=%s', 'feature/a')).toBe('feat: a');
});

test('C32: .env reaches a workspace only where the configuration names it', async () => {
  const show = 'cat .env > "$OUT/$task.$nth/env" 2>/dev/null; echo x > x';
  await using project = await ccoProject({
    agents: { a: show },
    files: { '.gitignore': '.env\n' },
  });
  await project.repo.write({ '.env': 'SECRET=1\n' });
  const seen = (nth: number) => readFile(join(project.repo.outside, `out/a.${nth}/env`), 'utf8');
  await project.run();
  expect(await seen(1)).toBe('');
  await project.repo.git('branch', '-D', 'feature/a');
  await runGit(project.origin, ['branch', '-D', 'feature/a']);
  await project.repo.write({ 'landfast.yaml': 'workspace: { copy: [.env] }\n' });
  await project.run();
  expect(await seen(2)).toBe('SECRET=1\n');
});

test('C44: without retries an agent that exits with 1 fails after one attempt', async () => {
  await using project = await ccoProject({
    agents: { a: 'exit 1' },
    config: 'agent: { max_retries: 0 }\n',
  });
  expect((await project.run()).code).toBe(1);
  expect(await project.results()).toMatchObject([{ status: 'failed', attempts: 1 }]);
  expect(await project.pushed()).toEqual(['main']);
});

test('C46: a base branch that origin does not have starts nothing', async () => {
  await using project = await ccoProject({
    agents: { a: WORK },
    config: 'git: { base_branch: nowhere }\n',
  });
  const { code, stderr } = await project.run();
  expect(code).toBe(1);
  expect(stderr).toContain('origin has no branch nowhere');
  expect(stderr).toContain("couldn't find remote ref");
  expect(await project.calls()).toEqual([]);
});

test('C47: a branch with commits of its own is refused, and keeps them', async () => {
  await using project = await ccoProject({ agents: { a: WORK } });
  const tip = await project.repo.commit('feature/a', { 'mine.txt': 'mine\n' });
  const { code, stderr } = await project.run();
  expect([code, stderr]).toMatchObject([1, expect.stringContaining('holds commits of its own')]);
  expect(await project.repo.git('rev-parse', 'feature/a')).toBe(tip);
  expect(await project.calls()).toEqual([]);
});

test('C49: an id or a branch that appears twice is refused, with its line', async () => {
  await using project = await ccoProject({
    agents: { a: WORK },
    tasks: `tasks:\n${entry('a')}${entry('a')}`,
  });
  const { code, stderr } = await project.run();
  expect(code).toBe(1);
  expect(stderr).toContain('task_config.yaml:6:9: error: duplicate task id "a"');
  expect(stderr).toContain('task_config.yaml:7:13: error: duplicate branch "feature/a"');
  expect(await project.calls()).toEqual([]);
});

test('an id that leads out of its folder writes nothing there', async () => {
  await using project = await ccoProject({
    agents: {},
    tasks: `tasks:\n${entry('x').replace('id: x', 'id: ../../../x')}`,
  });
  expect((await project.run()).code).toBe(1);
  expect(existsSync(join(project.repo.outside, 'x.log'))).toBe(false);
});

test('a workspace whose task failed stays, and a push that is refused fails the task', async () => {
  await using project = await ccoProject({
    agents: { a: 'echo half > half.txt; exit 1', b: WORK },
    config: 'agent: { max_retries: 0 }\n',
  });
  const hook = join(project.origin, 'hooks', 'pre-receive');
  await project.repo.write({ '../origin.git/hooks/pre-receive': '#!/bin/sh\nexit 1\n' });
  await chmod(hook, 0o755);
  expect((await project.run()).code).toBe(1);
  expect(await workspaces(project)).toContain('a');
  const [a, b] = await project.results();
  expect([a, b]).toMatchObject([
    { status: 'failed' },
    { status: 'failed', error: expect.stringContaining('could not be pushed to origin') },
  ]);
  expect(await project.repo.git('log', '-1', '--format=%s', 'feature/b')).toBe('feat: b');
});

test('the file can be named with --config, and only one can be named', async () => {
  await using project = await ccoProject({ agents: { a: WORK } });
  await project.repo.git('mv', 'task_config.yaml', 'work.yaml');
  expect((await project.run('-c', 'work.yaml', '--dry-run')).code).toBe(0);
  expect((await project.run()).code).toBe(2);
  expect(await project.run('work.yaml', '-c', 'work.yaml')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Two plans are given'),
  });
});
