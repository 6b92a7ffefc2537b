/**
 * The folders of examples/, as a user tries them: a repository of a copy, and the command that its
 * README names, with a stand-in for `claude`.
 */

import { execFile } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { FORMATS } from '../../src/plan/formats/index.ts';
import { BIN, bareEnv } from '../support/landfast.ts';
import { standIns } from '../support/stand-ins.ts';
import { runGit, type TempRepo, tempRepo } from '../support/temp-repo.ts';

const EXAMPLES = join(import.meta.dirname, '..', '..', 'examples');

/**
 * It adds a line with its task's id to the first file that it may change, or to a new one, says that
 * it is done, and leaves the marker that some prompts ask for.
 */
const WORKER = `hello
file=$(printf '%s\\n' "$prompt" | sed -n 's/.*Change only .\\([A-Za-z0-9/._-]*\\).*/\\1/p' | head -n 1)
file=\${file:-made.$LANDFAST_TASK}
mkdir -p "$(dirname "$file")"
echo "// made by $LANDFAST_TASK" >> "$file"
case "$prompt" in *.claude-task-complete*) touch .claude-task-complete ;; esac
result '"is_error":false'`;

/** By folder: the tasks whose work is on `main` afterwards, or on branches of these names. */
const LANDED: Readonly<Record<string, readonly string[]>> = {
  native: ['farewell', 'names', 'usage'],
  'parallel-orchestra': ['farewell', 'farewell-tests', 'names', 'names-tests'],
  'cast-dispatch': ['b1-code-writer', 'b1-code-writer-2', 'b2-code-reviewer'],
  cpo: ['task-001', 'task-002', 'task-003'],
  todo: ['greet-several-people-joined-by-and', 'take-leave-of-them'],
};
const DELIVERED: Readonly<Record<string, RegExp>> = {
  'task-config': /^feature\/(?:add-farewell|greet-several)$/,
  'claude-orchestra': /^orchestra\/write-(?:greet|farewell)/,
};

function filesOf(folder: string): Readonly<Record<string, string>> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile());
  return Object.fromEntries(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path.slice(folder.length + 1), readFileSync(path, 'utf8')];
    }),
  );
}

/** The command in the README, as a shell runs it. */
async function tryOut(repo: TempRepo): Promise<void> {
  const readme = readFileSync(join(repo.dir, 'README.md'), 'utf8');
  const [, command] = /```sh\n(landfast [^\n]*)\n```/.exec(readme) ?? [];
  const { PATH } = standIns(repo, { claude: WORKER });
  const shim = join(repo.outside, 'bin', 'landfast');
  writeFileSync(shim, `#!/bin/sh\nexec '${process.execPath}' '${BIN}' "$@"\n`);
  chmodSync(shim, 0o755);
  const env = { ...bareEnv(repo.outside), PATH: `${PATH}:${dirname(process.execPath)}` };
  await promisify(execFile)('/bin/sh', ['-c', String(command)], { cwd: repo.dir, env });
}

/** A repository of the folder, with an `origin`. */
async function copyOf(folder: string): Promise<TempRepo> {
  const repo = await tempRepo({ files: filesOf(join(EXAMPLES, folder)) });
  const origin = join(repo.outside, 'origin.git');
  await runGit(repo.outside, ['init', '--quiet', '--bare', '-b', 'main', origin]);
  await repo.git('remote', 'add', 'origin', origin);
  await repo.git('push', '--quiet', '-u', 'origin', 'main');
  return repo;
}

test.each(Object.entries(LANDED))('examples/%s runs, and its work lands', async (folder, tasks) => {
  await using repo = await copyOf(folder);
  await tryOut(repo);
  const made = await repo.git('grep', '-h', '-o', 'made by .*', 'main');
  expect(made.split('\n').sort()).toEqual(tasks.map((task) => `made by ${task}`));
  expect(await repo.git('status', '--porcelain')).toBe('');
});

test.each(Object.entries(DELIVERED))(
  'examples/%s runs, each on its branch',
  async (folder, name) => {
    await using repo = await copyOf(folder);
    await tryOut(repo);
    const branches = (await repo.git('branch', '--format=%(refname:short)')).split('\n');
    expect(branches.filter((branch) => name.test(branch))).toHaveLength(2);
  },
);

test('every format has a folder, and every folder is run here', () => {
  const folders = readdirSync(EXAMPLES).filter((name) => !['README.md', 'library'].includes(name));
  expect(folders.sort()).toEqual([...Object.keys(LANDED), ...Object.keys(DELIVERED)].sort());
  const named = FORMATS.map(({ name }) => (name === 'po-manifest' ? 'parallel-orchestra' : name));
  expect(folders).toEqual(expect.arrayContaining(named));
});
