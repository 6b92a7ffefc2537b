/** The configuration of claude-code-orchestrator: its files, keys and command. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const FILE = '.claude-orchestrator.yaml';
const GLOBAL = '.config/claude-orchestrator/config.yaml';

const config = (repo: TempRepo, ...args: readonly string[]) =>
  landfast(['config', ...args], { cwd: repo.dir, env: { HOME: repo.outside } });

async function list(repo: TempRepo): Promise<Readonly<Record<string, unknown>>> {
  const { stdout } = await config(repo, '--list', '--json');
  return JSON.parse(stdout) as Record<string, unknown>;
}

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

test('C1: without any file there are defaults, and the repository is looked at all the same', async () => {
  await using repo = await tempRepo();
  await repo.git('checkout', '-q', '-b', 'develop');
  await repo.git('remote', 'add', 'origin', 'git@github.com:o/r.git');
  expect(await list(repo)).toMatchObject({
    'git.provider': 'github',
    'git.base_branch': 'develop',
    'git.destination_branch': 'develop',
    'git.repo_slug': 'r',
    worktree_dir: '../worktrees',
    'workflow.mode': 'review',
    'workflow.auto_pr': true,
    'tools.permission_mode': 'default',
    'agent.inactivity_timeout': 300,
    'agent.max_runtime': 3600,
    'agent.max_retries': 2,
    'agent.retry_delay': 5,
    'review.automerge': false,
  });
});

test('C2: the project is laid over the global file, key by key', async () => {
  await using repo = await tempRepo();
  put(join(repo.outside, GLOBAL), 'agent:\n  max_runtime: 100\n');
  await repo.write({ [FILE]: 'agent:\n  max_retries: 0\n' });
  expect(await list(repo)).toMatchObject({
    'agent.max_runtime': 100,
    'agent.max_retries': 0,
    'agent.inactivity_timeout': 300,
  });
  const { stdout } = await config(repo, '--list', '--origin');
  expect(stdout.replaceAll(repo.outside, '').split('\n')).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^default +agent\.inactivity_timeout = 300$/),
      expect.stringMatching(
        /^\/\.config\/claude-orchestrator\/config\.yaml +agent\.max_runtime = 100$/,
      ),
      expect.stringMatching(/^\/repo\/\.claude-orchestrator\.yaml +agent\.max_retries = 0$/),
    ]),
  );
});

test('C4: a broken file is named with its line, and nothing starts', async () => {
  await using repo = await tempRepo();
  await repo.write({ [FILE]: 'git:\n  base_branch: [main\n' });
  const { code, stderr, facts } = await runPlan(repo, { tasks: { a: 'touch a' } });
  expect({ code, facts }).toEqual({ code: 2, facts: [] });
  expect(stderr).toContain(`${join(repo.dir, FILE)}:3:1: error: not YAML`);
});

test('C5: a section with nothing in it is an empty one', async () => {
  await using repo = await tempRepo();
  await repo.write({ [FILE]: 'git:\nagent:\n  max_retries: 1\n' });
  const { code, stdout } = await config(repo, 'agent.max_retries');
  expect({ code, stdout }).toEqual({ code: 0, stdout: '1\n' });
});

test.each([
  ['C7', 'agent.max_retries', 'x'],
  ['C8', 'workflow.auto_approve', 'maybe'],
  ['C8', 'workflow.mode', 'yollo'],
  ['C8', 'git.base', 'main'],
])('%s: %s cannot be set to %s, and the file stays as it is', async (_, key, value) => {
  await using repo = await tempRepo();
  const text = '# mine\nagent: { max_retries: 1 }\n';
  await repo.write({ [FILE]: text });
  const { code, stderr } = await config(repo, key, value);
  expect({ code, said: stderr.startsWith('landfast: ') }).toEqual({ code: 2, said: true });
  expect(readFileSync(join(repo.dir, FILE), 'utf8')).toBe(text);
});

test('C10: test instructions are taken from a file', async () => {
  await using repo = await tempRepo();
  await repo.write({ [FILE]: '# mine\n', 'f.md': '# Tests\n\nRun: all of them\n' });
  const { code } = await config(repo, 'project.test_instructions', '@f.md');
  const { stdout } = await config(repo, 'project.test_instructions', '--json');
  expect({ code, text: JSON.parse(stdout) }).toEqual({
    code: 0,
    text: '# Tests\n\nRun: all of them\n',
  });
  expect(readFileSync(join(repo.dir, FILE), 'utf8')).toMatch(/^# mine\n/);
  expect((await config(repo, 'project.test_instructions', '@none.md')).code).toBe(2);
});

test('C11: a global number is a number, and a run goes by it', async () => {
  await using repo = await tempRepo();
  put(join(repo.outside, GLOBAL), '{}\n');
  await config(repo, '--global', 'agent.max_retries', '0');
  expect(readFileSync(join(repo.outside, GLOBAL), 'utf8')).toContain('max_retries: 0');
  const plan = 'landfast: 1\ntasks: [{ id: a, agent: shell, prompt: exit 1 }]\n';
  const { of, code } = await runPlan(repo, plan);
  expect({ code, attempts: of('attempt.started').length }).toEqual({ code: 1, attempts: 1 });
});

test('C11: what the old command stored as text is read as what it stands for', async () => {
  await using repo = await tempRepo();
  put(join(repo.outside, GLOBAL), "agent: {max_retries: '0'}\ntools: {allowed_cli: 'gh,az'}\n");
  expect(await list(repo)).toMatchObject({
    'agent.max_retries': 0,
    'tools.allowed_cli': ['gh', 'az'],
  });
});

test.each([
  ['C16', 'git@github.com:o/r.git', { provider: 'github', owner: 'o', repo: 'r' }],
  ['C16', 'https://bitbucket.org/ws/r.git', { provider: 'bitbucket', owner: 'ws', repo: 'r' }],
  ['C16', 'ssh://git@github.com:22/o/r.git', { provider: 'github', owner: 'o', repo: 'r' }],
  ['C16', '/srv/o/r.git', { provider: 'auto', owner: undefined, repo: undefined }],
  [
    'C17',
    'https://github.com/o/my.github.io.git',
    { provider: 'github', owner: 'o', repo: 'my.github.io' },
  ],
  [
    'C17',
    'https://github.com/o/my.github.io/',
    { provider: 'github', owner: 'o', repo: 'my.github.io' },
  ],
])('%s: origin %s', async (_, address, expected) => {
  await using repo = await tempRepo();
  await repo.git('remote', 'add', 'origin', address);
  const found = await list(repo);
  expect({
    provider: found['git.provider'],
    owner: found['git.owner'],
    repo: found['git.repo'],
  }).toEqual(expected);
});
