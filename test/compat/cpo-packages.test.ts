/** `dependencies` of cpo's manifests: one commit by the project's own package manager. */

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { cpoProject, DONE, manifest, type ProjectInput } from './cpo-project.ts';

const PYTHON = { 'pyproject.toml': '[project]\nname = "shop"\n', 'uv.lock': '' };
const FILES = { 'prompts/task-001.txt': 'one\n' };
const TASKS = { 'task-001': `cat uv.lock > "$OUT/seen"; echo 1 > one.py; ${DONE}` };

/** A stub that writes its command lines to `$OUT/<name>-calls`, and changes a file. */
function withPackages(dependencies: unknown, more: ProjectInput = {}): ProjectInput {
  return {
    manifest: { ...manifest([['task-001']]), dependencies },
    files: FILES,
    root: PYTHON,
    tasks: TASKS,
    programs: { uv: recorder('uv', 'uv.lock') },
    ...more,
  };
}

function recorder(name: string, lockfile: string): string {
  return `#!/bin/sh
printf '%s' '${name}' >> "$HOME/${name}-calls"
printf ' %s' "$@" >> "$HOME/${name}-calls"
echo >> "$HOME/${name}-calls"
echo "$*" >> ${lockfile}
`;
}

/** Where the system's Python is, which a stub of the same name would hide. */
async function realPython(): Promise<string> {
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', 'command -v python3']);
  return stdout.trim();
}

// Keep.
test('P43: packages to add are one call and one commit, which the agents start from', async () => {
  await using project = await cpoProject(
    withPackages({ python: { add: ['pydantic==2.5.3', 'sqlalchemy[asyncio]==2.0.25'] } }),
  );

  const ended = await project.run();

  expect(ended.code).toBe(0);
  expect(await project.read('uv-calls')).toBe(
    'uv add pydantic==2.5.3 sqlalchemy[asyncio]==2.0.25\n',
  );
  expect((await project.subjects())[0]).toBe('chore(deps): bring the packages of the plan');
  expect(await project.read('seen')).toBe('add pydantic==2.5.3 sqlalchemy[asyncio]==2.0.25\n');
});

test('P43: the lists are taken in the order remove, upgrade, add, add_dev', async () => {
  await using project = await cpoProject(
    withPackages({
      python: { add: ['a==1'], upgrade: ['b>=2'], remove: ['c'], add_dev: ['d==4'] },
    }),
  );

  const ended = await project.run();

  expect(ended.code).toBe(0);
  expect(await project.read('uv-calls')).toBe(
    'uv remove c\nuv add --upgrade b>=2\nuv add a==1\nuv add --dev d==4\n',
  );
  expect(await project.subjects()).toHaveLength(2);
});

// Keep.
test.each([[{ python: { add: [], remove: [] } }], [undefined]])(
  'P44: %j calls no agent and commits nothing',
  async (dependencies) => {
    await using project = await cpoProject(withPackages(dependencies));

    const ended = await project.run();

    expect(ended.code).toBe(0);
    expect(await project.read('uv-calls')).toBe('');
    expect(await project.subjects()).toEqual(['feat(task-001): task-001']);
  },
);

// Keep.
test.each([
  ['package-lock.json', 'npm', 'npm install zod@3.22.4\n'],
  ['pnpm-lock.yaml', 'pnpm', 'pnpm add zod@3.22.4\n'],
  ['yarn.lock', 'yarn', 'yarn add zod@3.22.4\n'],
  ['bun.lock', 'bun', 'bun add zod@3.22.4\n'],
])('P46: a project with %s is asked by %s', async (lockfile, name, calls) => {
  await using project = await cpoProject(
    withPackages(
      { node: { add: ['zod@3.22.4'] } },
      {
        root: { 'package.json': '{}', [lockfile]: '' },
        tasks: { 'task-001': `echo 1 > one.ts; ${DONE}` },
        programs: { [name]: recorder(name, lockfile) },
      },
    ),
  );

  const ended = await project.run();

  expect(ended.code).toBe(0);
  expect(await project.read(`${name}-calls`)).toBe(calls);
  expect(await project.landed()).toEqual(['one.ts', lockfile].toSorted());
});

test('P46: a project with requirements.txt alone gets its lines rewritten and installed', async () => {
  const venv = `mkdir -p .venv/bin
printf '#!/bin/sh\\necho "$*" >> "$HOME/pip-calls"\\n' > .venv/bin/python
chmod +x .venv/bin/python`;
  const python3 = `#!/bin/sh
if [ "$1 $2" = '-m venv' ]; then ${venv}; else exec ${await realPython()} "$@"; fi
`;
  const packages = {
    add: ['new==1'],
    upgrade: ['My_Lib>=2'],
    remove: ['old'],
    add_dev: ['pytest==8'],
  };
  await using project = await cpoProject(
    withPackages(
      { python: packages },
      {
        root: { 'requirements.txt': '# ours\nmy-lib==1\nold[x]==3\nolder==4\n' },
        tasks: { 'task-001': `echo 1 > one.py; ${DONE}` },
        programs: { python3 },
      },
    ),
  );

  const ended = await project.run();

  expect(ended.code).toBe(0);
  expect(await project.repo.git('show', 'main:requirements.txt')).toBe(
    '# ours\nMy_Lib>=2\nolder==4\nnew==1\npytest==8',
  );
  expect(await project.landed()).toEqual(['one.py', 'requirements.txt']);
  expect(await project.read('pip-calls')).toBe('-m pip install --quiet -r requirements.txt\n');
});

// Fix: it was passed on to the package manager.
test('P47: an entry that is an option or obeyed by a shell is refused, and nothing runs', async () => {
  await using project = await cpoProject(
    withPackages({ python: { add: ['--index-url=https://evil.example', 'a; touch x'] } }),
  );

  const ended = await project.run();

  expect(ended.code).toBe(2);
  expect(ended.stderr).toContain('"--index-url=https://evil.example" is not a package');
  expect(ended.stderr).toContain('"a; touch x" is not a package');
  expect(await project.calls()).toEqual([]);
  expect(await project.read('uv-calls')).toBe('');
});

// Fix: nothing said what becomes of a half installed set of packages.
test('packages that cannot be had leave the branch as it was, and no agent starts', async () => {
  const broken = '#!/bin/sh\necho half >> uv.lock\n[ "$1" = remove ] || exit 1\n';
  await using project = await cpoProject(
    withPackages({ python: { remove: ['a'], add: ['b==1'] } }, { programs: { uv: broken } }),
  );

  const ended = await project.run();

  expect(ended.code).toBe(1);
  expect(await project.landed()).toEqual([]);
  expect(await project.calls()).toEqual([]);
  expect(await project.repo.git('status', '--porcelain')).toBe('');
});
