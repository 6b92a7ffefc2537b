import { expect, test } from 'vitest';
import { manifest, readDirectory } from '../../../../../test/support/cpo-directory.ts';

function packages(dependencies: unknown, root: Readonly<Record<string, string>> = {}) {
  const files = { 'prompts/task-001.txt': 'x' };
  const { task, problems } = readDirectory({ ...manifest(['task-001']), dependencies }, files, {
    root,
  });
  const commands = task('dependencies')?.prompt.split('\n').slice(1, -1);
  return { commands, problems, needs: task('task-001')?.needs };
}

const ALL = { add: ['a==1'], upgrade: ['b>=2,<3'], remove: ['c'], add_dev: ['d[x]==4'] };

test('packages are removed, upgraded and added in that order, before wave 1', () => {
  expect(packages({ python: ALL }, { 'pyproject.toml': '' })).toEqual({
    commands: [
      'uv remove c',
      "uv add --upgrade 'b>=2,<3'",
      'uv add a==1',
      "uv add --dev 'd[x]==4'",
    ],
    problems: [],
    needs: ['dependencies'],
  });
});

test.each([
  ['node', { 'package.json': '{}', 'pnpm-lock.yaml': '' }, 'pnpm add zod@3.22.4'],
  ['node', { 'package.json': '{}', 'yarn.lock': '' }, 'yarn add zod@3.22.4'],
  ['node', { 'package.json': '{}', 'bun.lock': '' }, 'bun add zod@3.22.4'],
  ['node', { 'package.json': '{"packageManager":"pnpm@9.1.0"}' }, 'pnpm add zod@3.22.4'],
  ['node', { 'package.json': '{}' }, 'npm install zod@3.22.4'],
  ['rust', { 'Cargo.toml': '' }, 'cargo add zod@3.22.4'],
])('%s with %j: %s', (ecosystem, root, command) => {
  expect(packages({ [ecosystem]: { add: ['zod@3.22.4'] } }, root).commands).toEqual([command]);
});

test('go removes by asking for none; poetry has its own words; pip rewrites its file', () => {
  const go = packages({ go: { remove: ['example.com/a'], add: ['example.com/b@v1.0.0'] } });
  const poetry = packages({ python: ALL }, { 'pyproject.toml': '[tool.poetry]\n' });
  const pip = packages({ python: { add: ['a==1'], remove: ['c'] } }, { 'requirements.txt': '' });

  expect(go.commands).toEqual(['go get example.com/a@none', 'go get example.com/b@v1.0.0']);
  expect(poetry.commands?.[0]).toBe('poetry remove c');
  expect(pip.commands?.join('\n')).toContain(' requirements.txt -c +a==1\n');
});

test.each([[{ python: { add: [], remove: [] } }], [{}], [null], [undefined]])(
  '%j brings nothing',
  (dependencies) => {
    expect(packages(dependencies)).toEqual({ commands: undefined, problems: [], needs: [] });
  },
);

test.each([
  '--index-url=https://evil.example',
  '-r',
  'a; rm -rf /',
  'a b',
  '$(id)',
  '`id`',
  'git+https://evil.example/x',
  '../local',
  'a @ https://evil.example/x.whl',
  "a'b",
])('the package %j is refused before anything runs', (entry) => {
  for (const ecosystem of ['python', 'node', 'rust', 'go']) {
    const { problems } = packages({ [ecosystem]: { add: [entry] } });
    const message = `dependencies.${ecosystem}.add: ${JSON.stringify(entry)} is not a package`;
    expect(problems.filter((line) => line.includes(`error: ${message}`))).toHaveLength(1);
  }
});

test.each([
  ['python', 'pydantic', 'pydantic==2.5.3'],
  ['node', '@scope/zod', 'zod@3.22.4'],
  ['rust', 'serde', 'serde@1.0.200'],
  ['go', 'github.com/google/uuid', 'github.com/google/uuid@v1.6.0'],
])('P43: a package of %s without a version is an error', (ecosystem, entry, example) => {
  for (const list of ['add', 'upgrade', 'add_dev']) {
    const { problems } = packages({ [ecosystem]: { [list]: [entry] } });
    const message = `dependencies.${ecosystem}.${list}: ${JSON.stringify(entry)} has no version`;
    const remedy = `write a name and a version, such as ${example}`;
    expect(problems.filter((line) => line.includes(`error: ${message}\n  ${remedy}`))).toHaveLength(
      1,
    );
  }
});

test.each([
  ['3.11', {}, []],
  ['3.11', { 'pyproject.toml': '[project]\nrequires-python = ">=3.10,<3.13"\n' }, []],
  ['3.11', { 'pyproject.toml': 'requires-python = "~=3.11"' }, []],
  ['3.11', { 'pyproject.toml': 'requires-python = ">=3.11.4"' }, []],
  ['3.11', { '.python-version': '3.11.9\n' }, []],
  ['python3', {}, ['error: python_version "python3" is not a version\n  write it as "3.12"']],
  [3.11, {}, ['error: python_version must be text, found 3.11 (a number)\n  put it in quotes']],
  [
    '3.11',
    { 'pyproject.toml': 'requires-python = ">=3.12"' },
    [
      'error: python_version "3.11" does not match the project\'s requires-python\n' +
        '  pyproject.toml says ">=3.12": change one of them',
    ],
  ],
  [
    '3.11',
    { '.python-version': '3.12\n' },
    [
      'warning: python_version "3.11" is not the project\'s own, 3.12\n' +
        '  agents work with that of .python-version',
    ],
  ],
])('P43: python_version %j in a project with %j', (python_version, root, expected) => {
  const files = { 'prompts/task-001.txt': 'x' };
  const { problems } = readDirectory({ ...manifest(['task-001']), python_version }, files, {
    root,
  });
  expect(problems.map((line) => line.replace(/^\S+ /, ''))).toEqual(expected);
});

test('a package to remove has no version, and other lists are unknown', () => {
  const node = { remove: ['zod@3', '@a/b'], install: [] };
  const { problems } = packages({ node, ruby: {} }, { 'package.json': '{}' });

  expect(problems.map((line) => line.replace(/^.*?error: /, ''))).toEqual([
    'dependencies.node.remove: "zod@3" is not a package\n  give the name alone',
    'dependencies.node.install is unknown\n  known lists: remove, upgrade, add, add_dev',
    'dependencies for "ruby" are unknown\n  known: python, node, rust, go',
  ]);
});
