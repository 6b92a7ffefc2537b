import { expect, test } from 'vitest';
import { discover, firstConfig } from './discover.ts';

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
  expect(firstConfig(facts, {})).toMatchInlineSnapshot(`
    "# What landfast is told for this project. All keys: landfast config --list
    git:
      provider: auto
      base_branch: develop
      destination_branch: develop
    worktree_dir: ../worktrees
    "
  `);
});
