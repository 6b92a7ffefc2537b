/** What is staged without a process is, bit for bit, what git stages; what is not plain is git's. */

import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { stageByHand } from '../../src/git/hand-stage.ts';
import { IndexTree } from '../../src/git/index-tree.ts';
import { change, generator } from '../support/random-changes.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const FILES = { a: 'a\n', 'd/e': 'e\n', 'd/g/h': 'h\n', 'i/j': 'j\n', 'i-j': '-\n', link: 'x' };

let repo: TempRepo;

beforeEach(async () => {
  repo = await tempRepo({ files: FILES });
});

afterEach(() => repo[Symbol.asyncDispose]());

const own = (): string => join(repo.commonDir, 'index');

/** The new index; null where git has to make it. */
async function byHand(): Promise<Buffer | null> {
  const { commonDir, dir, signal } = repo;
  const aside = join(repo.outside, 'aside');
  const tree = await repo.git('rev-parse', 'HEAD^{tree}');
  const what = { commonDir, dir, own: own(), aside, tree, times: null };
  const done = await stageByHand(what, signal);
  if (done === null) return null;
  const after = IndexTree.read(aside)!;
  expect(after.known).toBe(done.tree);
  expect(after.changedSince(IndexTree.read(own())!)).toEqual(done.files);
  return after.bytes;
}

/** Runs git with an index of its own. */
function gitWith(index: string, ...args: readonly string[]): string {
  const env = { ...process.env, GIT_INDEX_FILE: index };
  return execFileSync('git', args, { cwd: repo.dir, env, encoding: 'utf8' }).trim();
}

/** Stages by hand and by git, and compares all that both know. */
async function expectAsByGit(what: string): Promise<void> {
  const hand = join(repo.outside, 'by-hand');
  const git = join(repo.outside, 'by-git');
  writeFileSync(git, readFileSync(own()));
  const { atime, mtime } = statSync(own());
  utimesSync(git, atime, mtime); // From a younger one git misses what changed in that second.
  const bytes = await byHand();
  expect(bytes, what).not.toBeNull();
  writeFileSync(hand, bytes!);
  gitWith(git, 'add', '--all');
  expect(gitWith(hand, 'ls-files', '--stage'), what).toBe(gitWith(git, 'ls-files', '--stage'));
  const after = IndexTree.of(bytes!)!;
  expect(after.writeTree(repo.commonDir), what).toBe(gitWith(git, 'write-tree'));
  expect(gitWith(hand, 'write-tree'), what).toBe(gitWith(git, 'write-tree')); // What is noted is true.
  expect(gitWith(hand, 'diff-files', '--name-only'), what).toBe('');
  gitWith(hand, 'fsck', '--cache', '--no-dangling');
}

test('random changes are staged as git stages them', async () => {
  const random = generator(7);
  for (let round = 0; round < 60; round += 1) {
    await repo.git('reset', '-q', '--hard');
    await repo.git('clean', '-qffdx');
    for (let times = random(3); times >= 0; times -= 1) change(repo.dir, random);
    await expectAsByGit(`round ${round}`);
    if (random(3) === 0) {
      await repo.git('add', '--all');
      await repo.git('commit', '-q', '--allow-empty', '-m', `round ${round}`);
    }
  }
}, 120_000);

test('a change in the tick in which the index was written is not missed', async () => {
  for (let nth = 0; nth < 20; nth += 1) {
    await repo.git('reset', '-q', '--hard');
    const { atime, mtime } = statSync(join(repo.dir, 'a'));
    writeFileSync(join(repo.dir, 'a'), 'b\n');
    utimesSync(join(repo.dir, 'a'), atime, mtime);
    const after = IndexTree.of((await byHand())!)!;
    expect(after.changedSince(IndexTree.read(own())!)).toEqual(['a']);
  }
});

test('a file that was touched but not changed keeps the note of its folder', async () => {
  utimesSync(join(repo.dir, 'd/e'), 1_000_000_000, 1_000_000_000);
  const before = IndexTree.read(own())!;
  const after = IndexTree.of((await byHand())!)!;
  expect(after.known).toBe(before.known);
  expect(after.changedSince(before)).toEqual([]);
  expect(after.bytes.equals(before.bytes)).toBe(false); // Its new time is noted.
});

test.each([
  ['the repository', () => appendFileSync(join(repo.commonDir, 'info', 'exclude'), '\n*.tmp\n')],
  ['a file', () => writeFileSync(join(repo.dir, '.gitignore'), '*.tmp\n!d/keep.tmp\n')],
  ['a new folder', () => repo.write({ 'new/.gitignore': '*.tmp\n/in/\n' })],
  ['a file in a folder', () => writeFileSync(join(repo.dir, 'd/.gitignore'), '*\n!e\n!.git*\n')],
])('what %s tells git to ignore is not staged', async (_where, rule) => {
  await rule();
  await repo.write({ a: 'x\n', 'y.tmp': '', 'new/z.tmp': '', 'new/in/w': '', 'new/v': '' });
  await repo.write({ 'd/keep.tmp': '', 'd/g/u.tmp': '', 'd/e': 'other\n', 'new.tmp/in/t': '' });
  await expectAsByGit('rules');
  await repo.git('add', '--all');
  await repo.git('commit', '-qm', 'rules');
  await repo.write({ 's.tmp': '', 'deep/r.tmp': '', 'd/q': '' });
  await expectAsByGit('rules that are committed');
});

test('files in a folder that is ignored are not even looked at', async () => {
  await repo.write({ '.gitignore': 'node_modules/\n', 'node_modules/a/.gitattributes': '* text' });
  for (let nth = 0; nth < 700; nth += 1) writeFileSync(join(repo.dir, `node_modules/${nth}`), '');
  await expectAsByGit('ignored folder');
});

test('names that git only refuses where they are new', async () => {
  await repo.write({ '.github/a.yml': '', '.gitlab-ci.yml': '' });
  await repo.git('add', '--all');
  await repo.git('commit', '-qm', 'names');
  await repo.write({ '.github/b.yml': '', '.gitlab-ci.yml': 'x' });
  await expectAsByGit('names');
});

describe('left to git', () => {
  const at = (name: string): string => join(repo.dir, name);
  const cases: readonly (readonly [string, () => unknown])[] = [
    ['attributes', () => writeFileSync(at('.gitattributes'), '* text\n')],
    ['attributes in a folder', () => writeFileSync(at('d/.gitattributes'), '* text\n')],
    [
      'attributes that are gone, which git still finds in the index',
      async () => {
        await repo.commit('main', { 'd/.gitattributes': '* text\n' });
        rmSync(at('d/.gitattributes'));
      },
    ],
    [
      'attributes of the repository',
      () => writeFileSync(join(repo.commonDir, 'info/attributes'), ''),
    ],
    ['a repository inside', () => repo.git('init', '-q', 'd/inner')],
    [
      'a submodule that nobody names',
      () => repo.git('update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},sub`),
    ],
    ['a pipe', () => execFileSync('mkfifo', [at('pipe')])],
    ['a name that git may refuse', () => writeFileSync(at('git~1'), '')],
    ['a name that may be short for one', () => symlinkSync('a', at('GITMOD~1'))],
    ['the same for a folder', () => repo.write({ 'new/gi7eba~1/x': '' })],
    [
      'a link where git takes a file only',
      async () => {
        await repo.commit('main', { '.gitmodules': '' });
        rmSync(at('.gitmodules'));
        symlinkSync('a', at('.gitmodules'));
      },
    ],
    ['a large file', () => writeFileSync(at('large'), Buffer.alloc(2_000_000))],
    ['line ends', () => repo.git('config', 'core.autocrlf', 'input')],
    ['modes that do not count', () => repo.git('config', 'core.fileMode', 'false')],
    ['an index of another version', () => repo.git('update-index', '--index-version', '4')],
    [
      'many files',
      () => {
        mkdirSync(at('many'));
        for (let nth = 0; nth < 700; nth += 1) writeFileSync(at(`many/${nth}`), '');
      },
    ],
  ];

  test.each(cases)('%s', async (_what, make) => {
    await make();
    const index = IndexTree.read(own());
    expect(index === null ? null : await byHand()).toBeNull();
  });
});

test('a deep folder before a short name at the end', async () => {
  const deep = join(repo.dir, 'folder/'.repeat(40));
  mkdirSync(deep, { recursive: true });
  writeFileSync(join(deep, 'file'), '1\n');
  writeFileSync(join(repo.dir, 'z'), '1\n');
  await repo.git('add', '--all');
  await repo.git('commit', '-qm', 'deep');
  writeFileSync(join(deep, 'file'), '2\n');
  await expectAsByGit('deep folder');
});

test('a link that leads nowhere and a program are what they are', async () => {
  chmodSync(join(repo.dir, 'd/e'), 0o755);
  symlinkSync('nowhere/at all', join(repo.dir, 'd/l'));
  await expectAsByGit('link');
});
