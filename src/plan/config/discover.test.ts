import { expect, test } from 'vitest';
import { discover, firstConfig, type ProjectGate, projectGate } from './discover.ts';

function found(files: Readonly<Record<string, string>>) {
  return discover({ paths: Object.keys(files).sort(), read: (path) => files[path] ?? null });
}

test.each([
  [{ 'pyproject.toml': '[tool.pytest]', 'package.json': '{}' }, 'pytest tests/'],
  [{ 'pyproject.toml': '[tool.poetry]' }, 'poetry run pytest tests/'],
  [{ 'pyproject.toml': '', 'package.json': '{}' }, 'npm test'],
  [{ 'Cargo.toml': '' }, 'cargo test'],
  [{ 'go.mod': '' }, 'go test ./...'],
  [{ 'setup.py': '' }, undefined],
])('of %j the test command is %j', (files, command) => {
  expect(found(files).test_command).toBe(command);
});

test('key files are ten at most, sources first', () => {
  const many = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`top${i}.py`, '']));
  const { key_files } = found({ ...many, 'src/a.js': '', 'src/deep/b.py': '', 'docs/c.py': '' });
  expect(key_files).toEqual(['src/deep/b.py', 'src/a.js', ...Object.keys(many).sort().slice(0, 8)]);
});

test('instructions for agents are found where users keep them', () => {
  expect(found({ '.claude/AGENT_INSTRUCTIONS.md': '' })).toEqual({
    agent_instructions: '.claude/AGENT_INSTRUCTIONS.md',
  });
});

test('a first configuration says what is known and nothing else', () => {
  const facts = { provider: 'unknown', base: 'develop', destination: 'develop' } as const;
  expect(firstConfig(facts, { paths: [], read: () => null })).toMatchInlineSnapshot(`
    "# Landfast settings for this project. All keys: landfast config
    # No tests were found: without a gate work lands untested. To add one:
    # gates:
    #   - name: tests
    #     run: make test
    git:
      provider: auto
      base_branch: develop
      destination_branch: develop
    worktree_dir: ../worktrees
    "
  `);
});

function gateOf(files: Readonly<Record<string, string>>): ProjectGate | null {
  return projectGate({ paths: Object.keys(files).sort(), read: (path) => files[path] ?? null });
}

const tested = JSON.stringify({ scripts: { test: 'node --test' } });
const needing = JSON.stringify({ scripts: { test: 'vitest' }, devDependencies: { vitest: '1' } });
const initial = JSON.stringify({ scripts: { test: 'echo "Error: no test specified" && exit 1' } });
const bare = { setup: [], setupKey: [] };

test.each([
  [{ 'package.json': tested }, { run: 'npm test', ...bare }],
  [
    { 'package.json': needing },
    { run: 'npm test', setup: ['npm install'], setupKey: ['package.json'] },
  ],
  [
    { 'package.json': needing, 'package-lock.json': '' },
    { run: 'npm test', setup: ['npm ci'], setupKey: ['package-lock.json'] },
  ],
  [
    { 'package.json': needing, 'pnpm-lock.yaml': '' },
    {
      run: 'pnpm test',
      setup: ['pnpm install --frozen-lockfile'],
      setupKey: ['pnpm-lock.yaml'],
    },
  ],
  [
    { 'package.json': needing, 'yarn.lock': '', '.yarnrc.yml': '' },
    { run: 'yarn test', setup: ['yarn install --immutable'], setupKey: ['yarn.lock'] },
  ],
  [
    { 'pyproject.toml': '[tool.pytest]', 'tests/test_a.py': '' },
    { run: 'pytest tests/', ...bare },
  ],
  [
    { 'pytest.ini': '', 'shop/test_a.py': '' },
    { run: 'pytest', ...bare },
  ],
  [
    { 'pyproject.toml': 'pytest', 'uv.lock': '', 'tests/a_test.py': '' },
    { run: 'uv run pytest tests/', setup: ['uv sync'], setupKey: ['uv.lock'] },
  ],
  [{ 'Cargo.toml': '' }, { run: 'cargo test', ...bare }],
  [
    { 'go.mod': '', Makefile: 'test:\n\tgo test\n' },
    { run: 'go test ./...', ...bare },
  ],
  [{ Makefile: 'all:\n\ntest: all\n\t./run\n' }, { run: 'make test', ...bare }],
  [
    { Gemfile: '', 'spec/a_spec.rb': '' },
    { run: 'bundle exec rspec', setup: ['bundle install'], setupKey: ['Gemfile.lock'] },
  ],
])('the gate of %j', (files, expected) => {
  expect(gateOf(files)).toEqual(expected);
});

test.each([
  [{ 'package.json': '{}' }],
  [{ 'package.json': initial }],
  [{ 'package.json': 'no JSON' }],
  [{ 'package.json': '[1]' }],
  [{ 'pyproject.toml': '[tool.pytest]' }],
  [{ 'README.md': 'npm test' }],
])('%j tells no gate: it would always be red', (files) => {
  expect(gateOf(files)).toBeNull();
});
