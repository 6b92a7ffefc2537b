/** Ad hoc tasks, as users of claude-orchestra start them. */

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { orchestraProject, waitFor } from './orchestra-project.ts';

const CONFIG = { branch_prefix: 'orchestra', worktree_dir: '.worktrees', max_parallel: 2 };

test('R22: branch and worktree are found by the task, from the current branch', async () => {
  const scripts = { implement: `${waitFor()}; echo 1 > auth.txt; echo "auth is there"` };
  await using project = await orchestraProject({ scripts, config: CONFIG });
  await project.repo.git('switch', '-q', '-c', 'topic');
  const base = await project.repo.git('rev-parse', 'HEAD');
  const running = project.startSpawn('implement auth', '--events');
  await running.untilFact('attempt.started', 'implement-auth');
  const worktree = join(project.dir, '.worktrees', 'task-implement-auth');
  while (!existsSync(join(worktree, '.git'))) await project.cli('status');
  expect(await project.repo.git('rev-parse', 'orchestra/implement-auth')).toBe(base);
  expect(JSON.parse((await project.cli('status', '--json')).stdout).tasks).toMatchObject([
    { id: 'implement-auth', state: 'running' },
  ]);
  expect(JSON.parse((await project.cli('worktrees', '--json')).stdout)).toMatchObject([
    { path: worktree, branch: 'orchestra/implement-auth', state: 'live' },
  ]);
  project.release();
  expect((await running.ended).code).toBe(0);
  expect(await project.branches()).toEqual(['main', 'orchestra/implement-auth', 'topic']);
  expect(await project.repo.git('show', 'orchestra/implement-auth:auth.txt')).toBe('1');
  expect(await project.repo.git('rev-parse', 'topic')).toBe(base);
  expect(JSON.parse((await project.cli('collect', '--json')).stdout).tasks).toMatchObject([
    {
      branch: 'orchestra/implement-auth',
      landed: false,
      status: 'succeeded',
      text: 'auth is there',
    },
  ]);
});

test('R23: blanks and slashes become dashes, capitals become small', async () => {
  await using project = await orchestraProject({ scripts: {}, config: CONFIG });
  expect((await project.spawn('Add Tests/unit')).code).toBe(0);
  expect(await project.branches()).toEqual(['main', 'orchestra/add-tests-unit']);
});

// Fix: it crashed, because branch and folder were there already.
test('the same task again gets a branch of its own, also while the first one waits', async () => {
  const scripts = { slow: waitFor() };
  await using project = await orchestraProject({ scripts, config: CONFIG });
  expect((await project.spawn('do it')).code).toBe(0);
  await project.spawn('slow', 'do it', '--detach', '-p', '1');
  expect((await project.spawn('do it')).code).toBe(0);
  project.release();
  const [, second] = JSON.parse((await project.cli('runs', '--json')).stdout);
  await project.cli('attach', second.run);
  expect((await project.branches()).filter((name) => name.includes('do-it'))).toEqual([
    'orchestra/do-it',
    'orchestra/do-it-2',
    'orchestra/do-it-3',
  ]);
});

test('more than max_parallel are not run at a time, and that is said', async () => {
  await using project = await orchestraProject({ scripts: {}, config: CONFIG });
  const ended = await project.spawn('a', 'b', 'c', '-p', '9');
  expect(ended.code).toBe(0);
  expect(ended.stderr).toContain('max_parallel is 2');
  const report = await project.spawn('d', '-p', '2');
  expect(report.stderr).not.toContain('max_parallel');
});

test('a folder of workspaces in the checkout is no change of it', async () => {
  const scripts = { look: 'git -C "$OUT/repo" status --porcelain > "$OUT/status"; echo 1 > x.txt' };
  await using project = await orchestraProject({ scripts });
  writeFileSync(join(project.dir, 'landfast.yaml'), 'branch_prefix: team\nworktree_dir: trees\n');
  await project.repo.git('add', '.');
  await project.repo.git('commit', '-qm', 'Configure');
  const ended = await project.spawn('look around');
  expect(ended.code).toBe(0);
  expect(ended.stderr).not.toMatch(/checkout/);
  expect(await project.read('status')).toBe('');
  expect(await project.branches()).toEqual(['main', 'team/look-around']);
});

test('work that should not land stays on its branch', async () => {
  await using project = await orchestraProject({ scripts: {} });
  const before = await project.repo.git('rev-parse', 'main');
  const ended = await project.spawn('add docs', '--no-land');
  expect(ended.code).toBe(0);
  expect(await project.repo.git('rev-parse', 'main')).toBe(before);
  const [branch = ''] = (await project.branches()).filter((name) => name.startsWith('landfast/'));
  expect(branch).toMatch(/^landfast\/[^/]+\.add-docs$/);
  expect(ended.stdout).toContain(branch);
  expect(await project.repo.git('show', `${branch}:add-docs.txt`)).toBe('add docs');
});

// Fix: 3 were started and the fourth was dropped without a word.
test('R25: of four tasks three run at a time, and all four run', async () => {
  const wait = `echo in >> "$OUT/at-work"; ${waitFor()}; echo 1 > "$LANDFAST_TASK.txt"`;
  await using project = await orchestraProject({ scripts: { slow: wait } });
  const running = project.startSpawn('slow a', 'slow b', 'slow c', 'slow d', '-p', '3', '--events');
  await running.untilFact('attempt.started', 'slow-c');
  while ((await project.read('at-work')).split('\n').length < 3) await project.cli('status');
  const status = JSON.parse((await project.cli('status', '--json')).stdout);
  expect(status.tasks.map(({ id, state }: { id: string; state: string }) => [id, state])).toEqual([
    ['slow-a', 'running'],
    ['slow-b', 'running'],
    ['slow-c', 'running'],
    ['slow-d', 'waiting'],
  ]);
  project.release();
  expect((await running.ended).code).toBe(0);
  expect(await project.repo.git('ls-files')).toBe(
    'README.md\nslow-a.txt\nslow-b.txt\nslow-c.txt\nslow-d.txt',
  );
});

// Fix: it crashed, because a branch cannot have a colon.
test('R26: signs that no branch may have are no problem', async () => {
  await using project = await orchestraProject({ scripts: {} });
  const ended = await project.spawn('fix issue #42: x', '修复登录', '🚀', 'x'.repeat(300));
  expect(ended).toMatchObject({ code: 0 });
  const long = `${'x'.repeat(50)}.txt`;
  expect((await project.repo.git('ls-files')).split('\n')).toEqual(
    ['README.md', 'fix-issue-42-x.txt', 'task-2.txt', 'task.txt', long].sort(),
  );
  expect(await project.repo.git('show', 'main:task.txt')).toBe('修复登录');
});

// Fix: the second one collided with the first, which had been started already.
test('tasks that are equal in their first 50 characters run side by side', async () => {
  await using project = await orchestraProject({ scripts: {} });
  const same = 'rewrite the parser of the configuration file so that it';
  expect((await project.spawn(`${same} is fast`, `${same} is small`)).code).toBe(0);
  const slug = 'rewrite-the-parser-of-the-configuration-file-so-th';
  expect(await project.repo.git('show', `main:${slug}.txt`)).toBe(`${same} is fast`);
  expect(await project.repo.git('show', `main:${slug}-2.txt`)).toBe(`${same} is small`);
});

// Fix: it became an option of claude.
test('a task may begin with a dash', async () => {
  await using project = await orchestraProject({ scripts: {} });
  expect((await project.spawn('--', '--help', '-x')).code).toBe(0);
  expect(await project.repo.git('show', 'main:help.txt')).toContain('--help');
});

test('R28: without a worktree the agent works in the current folder', async () => {
  const scripts = { write: 'pwd > "$OUT/cwd"; echo 1 > written.txt' };
  await using project = await orchestraProject({ scripts });
  const before = await project.repo.git('rev-parse', 'HEAD');
  await project.repo.write({ 'sub/mine.txt': 'not committed\n' });
  const claude = join(project.outside, 'claude');
  const args = ['spawn', '--claude-exe', claude, '--no-worktree', 'write it'];
  const ended = await landfast(args, {
    cwd: join(project.dir, 'sub'),
    env: { HOME: project.outside },
  });
  expect(ended.code).toBe(0);
  expect(await project.read('cwd')).toBe(join(project.dir, 'sub'));
  expect(await project.repo.git('status', '--porcelain', '-uall')).toBe(
    '?? sub/mine.txt\n?? sub/written.txt',
  );
  expect(await project.repo.git('rev-parse', 'HEAD')).toBe(before);
  expect(await project.branches()).toEqual(['main']);
  expect((await project.cli('worktrees')).stdout).toBe('No workspaces.\n');
  expect(JSON.parse((await project.cli('collect', '--json')).stdout).tasks).toMatchObject([
    { task: 'write-it', status: 'succeeded', commit: null, branch: null },
  ]);
  const refused = await project.spawn('x', '--no-worktree', '--no-land');
  expect(refused).toMatchObject({ code: 2, stdout: '' });
});

test('R29: without a task it is refused with exit 2', async () => {
  await using project = await orchestraProject({ scripts: {} });
  for (const args of [[], ['  '], ['fine', '']]) {
    const refused = await project.spawn(...args);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(/No tasks given|is empty/);
  }
  expect(await project.read('prompts')).toBe('');
});

test('tasks come from standard input, one a line', async () => {
  await using project = await orchestraProject({ scripts: {} });
  writeFileSync(join(project.outside, 'list'), 'add docs\r\n\r\n  add tests  \n');
  const { repo } = project;
  const bin = join(import.meta.dirname, '..', '..', 'bin', 'landfast.cjs');
  await repo.git('config', 'alias.spawn', `!cat ../list | '${process.execPath}' '${bin}' spawn`);
  const claude = join(project.outside, 'claude');
  await repo.git('spawn', '--claude-exe', claude, '-', 'last one');
  expect((await repo.git('ls-files')).split('\n')).toEqual([
    'README.md',
    'add-docs.txt',
    'add-tests.txt',
    'last-one.txt',
  ]);
  const nothing = await project.spawn('-');
  expect(nothing.code).toBe(2);
});

test('a spawned run continues in the background', async () => {
  const scripts = { slow: `${waitFor()}; echo 1 > slow.txt` };
  await using project = await orchestraProject({ scripts });
  const detached = await project.spawn('slow work', '--detach');
  expect(detached).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^landfast: There is no gate.*\n.*\n$/),
  });
  expect(detached.stdout).toMatch(/^Run \S+ continues in the background\.$/m);
  project.release();
  expect((await project.cli('attach')).code).toBe(0);
  expect(await project.repo.git('log', '-1', '--format=%s', 'main^2')).toBe('slow work');
});

test('the configuration holds for spawned tasks, and flags win over it', async () => {
  await using project = await orchestraProject({ scripts: {} });
  writeFileSync(
    join(project.dir, 'landfast.yaml'),
    'defaults: { agent: shell }\ngates: [{ name: exists, run: test -e one.txt }]\n',
  );
  expect((await project.cli('spawn', 'echo 1 > one.txt')).code).toBe(0);
  expect((await project.cli('spawn', 'rm one.txt')).code).toBe(1);
  expect((await project.spawn('add two', '--agent', 'claude')).code).toBe(0);
  expect(await project.repo.git('ls-files')).toBe('README.md\nadd-two.txt\none.txt');
});
