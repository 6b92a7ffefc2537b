/** The config.json of claude-orchestra. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { runPlan } from '../support/run-plan.ts';
import { tempDir } from '../support/temp-dir.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const config = (repo: TempRepo, ...args: readonly string[]) =>
  landfast(['config', ...args], { cwd: repo.dir, env: { HOME: repo.outside } });

function putGlobal(repo: TempRepo, values: object): void {
  const folder = join(repo.outside, '.config', 'claude-orchestra');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.json'), JSON.stringify(values));
}

test('R1: init --format orchestra writes what their init does, in an empty folder', async () => {
  await using dir = await tempDir();
  const home = { env: { HOME: dir.path } };
  const { code } = await landfast(['init', '--format', 'orchestra'], { cwd: dir.path, ...home });
  const read = (name: string) => readFileSync(join(dir.path, name), 'utf8');
  expect(code).toBe(0);
  expect(Object.keys(JSON.parse(read('.orchestra/config.json')))).toHaveLength(11);
  expect(JSON.parse(read('.orchestra/config.json'))).toMatchObject({
    branch_prefix: 'orchestra',
    worktree_dir: '.worktrees',
    default_parallel: 3,
  });
  expect(existsSync(join(dir.path, '.worktrees'))).toBe(true);
  expect(read('.gitignore')).toBe('.worktrees\n.orchestra/\n');
});

test('R2: .gitignore gets what it lacks on lines of its own, and a second init nothing', async () => {
  await using repo = await tempRepo();
  await repo.write({ '.gitignore': 'node_modules/\n.worktrees' });
  const init = (...args: readonly string[]) =>
    landfast(['init', '--format', 'orchestra', ...args], {
      cwd: repo.dir,
      env: { HOME: repo.outside },
    });
  const file = join(repo.dir, '.orchestra/config.json');
  await init();
  expect(readFileSync(join(repo.dir, '.gitignore'), 'utf8')).toBe(
    'node_modules/\n.worktrees\n.orchestra/\n',
  );
  writeFileSync(file, '{"branch_prefix": "mine"}');
  const again = await init();
  expect([again.code, again.stderr]).toMatchObject([0, expect.stringContaining('already exists')]);
  expect(readFileSync(file, 'utf8')).toContain('mine');
  await init('--force');
  expect(readFileSync(file, 'utf8')).not.toContain('mine');
  expect((await config(repo, 'branch_prefix')).stdout).toBe('orchestra\n');
});

test('init keeps a state file that is not JSON aside, and says so', async () => {
  await using repo = await tempRepo();
  putGlobal(repo, {});
  const state = join(repo.outside, '.config', 'claude-orchestra', 'state.json');
  const init = () =>
    landfast(['init', '--format', 'orchestra', '--force'], {
      cwd: repo.dir,
      env: { HOME: repo.outside },
    });
  for (const [text, aside] of [
    ['{"agents": [', `${state}.broken`],
    ['', `${state}.broken-2`],
  ] as const) {
    writeFileSync(state, text);
    const { code, stderr } = await init();
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: `landfast: warning: ${state} is not JSON; it is kept as ${aside}.\n`,
    });
    expect([existsSync(state), readFileSync(aside, 'utf8')]).toEqual([false, text]);
  }
  writeFileSync(state, '{"agents": []}');
  expect((await init()).stderr).toBe('');
  expect(readFileSync(state, 'utf8')).toBe('{"agents": []}');
});

test('R4: an unknown key is a warning', async () => {
  await using repo = await tempRepo();
  putGlobal(repo, { comment: 'mine', branch_prefix: 'team' });
  const { code, stdout, stderr } = await config(repo, 'branch_prefix');
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'team\n' });
  expect(stderr).toMatch(/config\.json:1:2: warning: unknown key "comment"/);
});

test('R5: ~ in a path is the home', async () => {
  await using repo = await tempRepo();
  putGlobal(repo, { worktree_dir: '~/trees' });
  const { code } = await runPlan(repo, { tasks: { a: 'pwd > where' } });
  expect(code).toBe(0);
  const where = readFileSync(join(repo.dir, 'where'), 'utf8');
  expect(where.startsWith(join(repo.outside, 'trees'))).toBe(true);
});

test('R7: the file of a project is honoured above the global one', async () => {
  await using repo = await tempRepo();
  putGlobal(repo, { branch_prefix: 'global', max_parallel: 2 });
  await repo.write({ '.orchestra/config.json': '{\n  "branch_prefix": "team"\n}\n' });
  const { stdout } = await config(repo, '--list', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ branch_prefix: 'team', 'limits.workers': 2 });
  await config(repo, 'branch_prefix', 'ours');
  expect(readFileSync(join(repo.dir, '.orchestra/config.json'), 'utf8')).toBe(
    '{\n  "branch_prefix": "ours"\n}\n',
  );
});
