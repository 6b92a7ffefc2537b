/** The config.json of claude-orchestra. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const config = (repo: TempRepo, ...args: readonly string[]) =>
  landfast(['config', ...args], { cwd: repo.dir, env: { HOME: repo.outside } });

function putGlobal(repo: TempRepo, values: object): void {
  const folder = join(repo.outside, '.config', 'claude-orchestra');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.json'), JSON.stringify(values));
}

test('R4: a key that nobody knows is a warning', async () => {
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
