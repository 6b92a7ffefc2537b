/** A working tree that is moved without a process is, in every respect, what git itself leaves. */

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { IndexTree } from '../../src/git/index-tree.ts';
import { quickCheckout } from '../../src/git/quick-checkout.ts';
import { closeRefWriter } from '../../src/git/ref-writer.ts';
import { change, generator, PLACES } from '../support/random-changes.ts';
import { runGit, type TempRepo, tempRepo } from '../support/temp-repo.ts';

let repo: TempRepo;
let space: string;

beforeEach(async () => {
  repo = await tempRepo({ files: { a: 'a\n', 'd/e': 'e\n', 'd/g/h': 'h\n', 'i/j': 'j\n' } });
  space = join(repo.outside, 'space');
  await repo.git('worktree', 'add', '-q', '--detach', space);
});

afterEach(async () => {
  await closeRefWriter(repo.commonDir);
  await repo[Symbol.asyncDispose]();
});

/** What a person sees in a working tree: every file with its kind, mode and content. */
function filesIn(dir: string, below = ''): readonly string[] {
  return readdirSync(join(dir, below)).flatMap((name) => {
    const path = below === '' ? name : `${below}/${name}`;
    if (path === '.git') return [];
    const stat = lstatSync(join(dir, path));
    if (stat.isDirectory()) return [`${path}/ ${stat.mode}`, ...filesIn(dir, path)];
    const full = join(dir, path);
    const content = stat.isSymbolicLink() ? readlinkSync(full) : readFileSync(full, 'latin1');
    return [`${path} ${stat.mode} ${content}`];
  });
}

/** Lets the index be younger than the files, as it is a moment after a checkout. */
async function settle(dir = space): Promise<void> {
  const past = new Date(Date.now() - 10_000);
  for (const name of (await runGit(dir, ['ls-files', '-z'])).split('\0')) {
    const isYoung = name !== '' && lstatSync(join(dir, name)).mtimeMs > past.getTime() + 1_000;
    if (isYoung) lutimesSync(join(dir, name), past, past); // Git looks at whole seconds only.
  }
  await runGit(dir, ['update-index', '-q', '--refresh']);
}

const headOf = (): Promise<string> => runGit(space, ['rev-parse', 'HEAD']);

async function move(to: string, branch: string | null = null): Promise<boolean> {
  const order = { dir: space, from: await headOf(), to, branch, untouched: false };
  return quickCheckout(repo.commonDir, order, repo.signal);
}

/** Git finds nothing to complain of, and has noted the right trees. */
async function expectSound(commit: string): Promise<void> {
  expect(await headOf()).toBe(commit);
  expect(await runGit(space, ['status', '--porcelain', '--ignored'])).toBe('');
  const tree = await repo.git('rev-parse', `${commit}^{tree}`);
  const gitDir = await runGit(space, ['rev-parse', '--absolute-git-dir']);
  expect(IndexTree.read(join(gitDir, 'index'))?.known).toBe(tree);
  expect(await runGit(space, ['write-tree'])).toBe(tree);
  const env = { ...process.env, GIT_TEST_CHECK_CACHE_TREE: '1' };
  execFileSync('git', ['update-index', '--force-write-index'], { cwd: space, env });
  expect(await runGit(space, ['diff-files', '--name-only'])).toBe('');
}

/** Contents, modes, new files and folders, deletions: what it is made for. */
function plainChange(dir: string, random: (below: number) => number): void {
  for (let nth = random(4); nth >= 0; nth -= 1) {
    const path = join(dir, PLACES[random(PLACES.length)]!);
    rmSync(path, { force: true });
    if (random(4) === 0) continue;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${'line\n'.repeat(random(3))}${random(5)}\n`);
    if (random(3) === 0) chmodSync(path, 0o755);
  }
}

test.each([
  ['of every kind', change, 3],
  ['of plain files', plainChange, 25],
] as const)('random changes %s: files, modes, index and trees are those of git', async (...how) => {
  const [, mutate, least] = how;
  const other = join(repo.outside, 'other');
  await repo.git('worktree', 'add', '-q', '--detach', other);
  let quick = 0;
  for (let seed = 1; seed <= 30; seed += 1) {
    mutate(repo.dir, generator(seed));
    await repo.git('add', '-A');
    await repo.git('commit', '-q', '--allow-empty', '-m', `${seed}`);
    const commit = await repo.git('rev-parse', 'HEAD');
    await settle();
    const isDone = await move(commit);
    quick += isDone ? 1 : 0;
    if (!isDone) await runGit(space, ['checkout', '-q', '-f', '--detach', commit]);
    await runGit(other, ['checkout', '-q', '-f', '--detach', commit]);
    expect(filesIn(space), `seed ${seed}`).toEqual(filesIn(other));
    await expectSound(commit);
  }
  expect(quick).toBeGreaterThanOrEqual(least); // Links and the like are left to git.
});

test('a branch is made, and HEAD is on it', async () => {
  await settle();
  const commit = await repo.commit('next', { 'new/deep/file': 'x\n', a: 'other\n' });
  expect(await move(commit, 'task/one')).toBe(true);
  expect(await runGit(space, ['symbolic-ref', 'HEAD'])).toBe('refs/heads/task/one');
  await expectSound(commit);
});

describe('git is asked instead, and nothing is touched, where', () => {
  /** Whether it was left as it was. */
  async function expectLeft(branch: string | null = null): Promise<void> {
    const commit = await repo.commit('next', { a: 'other\n', 'x.txt': 'x\n' });
    const before = [filesIn(space), await headOf()];
    expect(await move(commit, branch)).toBe(false);
    expect([filesIn(space), await headOf()]).toEqual(before);
  }

  test('a file is not as it was', async () => {
    await settle();
    writeFileSync(join(space, 'd/e'), 'somebody was here\n');
    await expectLeft();
  });

  test('a mode is not as it was', async () => {
    await settle();
    chmodSync(join(space, 'd/e'), 0o755);
    await expectLeft();
  });

  test('the files are as young as the index', async () => {
    const now = new Date(Date.now() + 3_600_000);
    utimesSync(join(space, 'a'), now, now);
    await runGit(space, ['update-index', '-q', '--refresh']);
    await expectLeft();
  });

  test('the branch is there already', async () => {
    await settle();
    await repo.git('branch', 'task/one');
    await expectLeft('task/one');
  });

  test.each([
    ['core.autocrlf', 'true'],
    ['core.fileMode', 'false'],
    ['core.splitIndex', 'true'],
    ['index.version', '4'],
  ])('%s is %s', async (name, value) => {
    await settle();
    await repo.git('config', name, value);
    await expectLeft();
  });

  test.each(['.gitattributes', '.gitmodules', 'git~1', 'b\\c'])('there is a %s', async (name) => {
    await settle();
    const blob = await repo.git('rev-parse', 'HEAD:a');
    const tree = await repo.git('rev-parse', 'HEAD^{tree}');
    const listed = await repo.git('ls-tree', tree);
    const lines = `${listed}\n100644 blob ${blob}\t${JSON.stringify(name)}\n`;
    const odd = await runGit(repo.dir, ['mktree'], lines);
    const commit = await repo.git('commit-tree', odd, '-p', 'HEAD', '-m', 'odd');
    expect(await move(commit)).toBe(false);
  });

  test('another commit is in its place', async () => {
    const commit = await repo.commit('new', { a: 'b\n' });
    await repo.git('replace', commit, await repo.commit('other', { a: 'c\n' }));
    await settle();
    expect(await move(commit)).toBe(false);
  });

  test('a content is in a pack', async () => {
    const commit = await repo.commit('next', { a: 'packed\n' });
    await repo.git('repack', '-adq');
    await settle();
    expect(await move(commit)).toBe(false);
  });

  test('a link leads to where a file is to be written', async () => {
    const commit = await repo.commit('next', { 'out/side': 'x\n' });
    await settle();
    symlinkSync(repo.outside, join(space, 'out'));
    expect(await move(commit)).toBe(false);
  });

  test('somebody holds the lock of the index', async () => {
    await settle();
    const commit = await repo.commit('next', { a: 'other\n' });
    const gitDir = await runGit(space, ['rev-parse', '--absolute-git-dir']);
    writeFileSync(join(gitDir, 'index.lock'), '');
    await expect(move(commit)).rejects.toThrow('index.lock');
    expect(readFileSync(join(space, 'a'), 'utf8')).toBe('a\n');
  });
});
