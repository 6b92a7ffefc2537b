/** `init` of claude-code-orchestrator: a first configuration from what the repository tells. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

function init(repo: TempRepo, ...args: readonly string[]) {
  return landfast(['init', ...args], { cwd: repo.dir, env: { HOME: repo.outside } });
}

const written = (repo: TempRepo) => readFile(join(repo.dir, 'landfast.yaml'), 'utf8');

test('C13: provider, branches, slug, key files and test command are found without a model', async () => {
  const files = { 'pyproject.toml': '[tool.pytest.ini_options]\n', 'src/a.py': 'x = 1\n' };
  await using repo = await tempRepo({ files });
  await repo.git('remote', 'add', 'origin', 'git@github.com:o/shop.git');
  expect((await init(repo, '--no-claude')).code).toBe(0);
  expect(await written(repo)).toBe(`# Landfast settings for this project. All keys: landfast config
# No tests were found: without a gate work lands untested. To add one:
# gates:
#   - name: tests
#     run: make test
git:
  provider: github
  base_branch: main
  destination_branch: main
  repo_slug: shop
  owner: o
  repo: shop
worktree_dir: ../worktrees
project:
  # for plans made by a model, which come later: no effect yet
  key_files:
    - src/a.py
  test_command: pytest tests/
`);
  const { stdout } = await landfast(['config', 'project.test_command'], {
    cwd: repo.dir,
    env: { HOME: repo.outside },
  });
  expect(stdout).toBe('pytest tests/\n');
});

test('C14: a second time the file stays as it is, until --force', async () => {
  await using repo = await tempRepo();
  expect((await init(repo)).code).toBe(0);
  await repo.write({ 'landfast.yaml': '# mine\n' });
  expect(await init(repo)).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('landfast.yaml already exists'),
  });
  expect(await written(repo)).toBe('# mine\n');
  expect((await init(repo, '--force')).code).toBe(0);
  expect(await written(repo)).toContain('base_branch: main');
});

test('C14: a configuration of another tool is not hidden behind a new one', async () => {
  await using repo = await tempRepo();
  await repo.write({ '.claude-orchestrator.yaml': 'worktree_dir: ../w\n' });
  expect(await init(repo)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('.claude-orchestrator.yaml already exists'),
  });
});
