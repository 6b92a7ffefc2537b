/** In a large working tree only some folders are read, and still all is staged that git stages. */

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { assert } from '../../src/base/assert.ts';
import { type FolderTimes, folderTimesIn } from '../../src/git/folder-times.ts';
import { stageByHand } from '../../src/git/hand-stage.ts';
import { IndexTree } from '../../src/git/index-tree.ts';
import { generator } from '../support/random-changes.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

type Random = (below: number) => number;

/** More files than are looked at one by one, in folders of folders with equal names. */
const FOLDERS = ['', 'a/', 'b/', 'c/'].flatMap((top) =>
  ['', 'x/', 'x/y/', 'z/'].map((in_) => top + in_),
);
const FILES = Object.fromEntries(
  FOLDERS.flatMap((folder, which) =>
    Array.from({ length: 20 + (which % 3) }, (_, nth) => [`${folder}${nth}`, `${which} ${nth}\n`]),
  ),
);

let repo: TempRepo;
let start: string;

beforeAll(async () => {
  repo = await tempRepo({ files: FILES });
  start = await repo.git('rev-parse', 'HEAD');
});

beforeEach(() => repo.git('reset', '-q', '--hard', start));

afterAll(() => repo[Symbol.asyncDispose]());

const at = (name: string): string => join(repo.dir, name);
const own = (): string => join(repo.commonDir, 'index');

/** The working tree as it is committed, and nothing else, and its folders then. */
async function settled(): Promise<FolderTimes> {
  await repo.git('reset', '-q', '--hard');
  await repo.git('clean', '-qffdx');
  await repo.git('reset', '-q', '--hard'); // Links to folders can make it remove too much.
  const done = Date.now();
  await expect.poll(() => Date.now() - done, { interval: 5 }).toBeGreaterThan(30);
  renameSync(repo.dir, `${repo.dir}.moved`); // As it happens to one that comes from the pool.
  renameSync(`${repo.dir}.moved`, repo.dir);
  const times = folderTimesIn(repo.dir);
  assert(times !== null, 'large enough');
  return times;
}

async function byHand(times: FolderTimes) {
  const { commonDir, dir, signal } = repo;
  const aside = join(repo.outside, 'by-hand');
  const tree = await repo.git('rev-parse', 'HEAD^{tree}');
  return stageByHand({ commonDir, dir, own: own(), aside, tree, times }, signal);
}

function gitWith(index: string, ...args: readonly string[]): string {
  const env = { ...process.env, GIT_INDEX_FILE: index };
  return execFileSync('git', args, { cwd: repo.dir, env, encoding: 'utf8' }).trim();
}

/** Compares all that both know; false where it was left to git. */
async function isAsByGit(times: FolderTimes, what: string): Promise<boolean> {
  const [hand, git] = [join(repo.outside, 'by-hand'), join(repo.outside, 'by-git')];
  const before = IndexTree.read(own())!;
  writeFileSync(git, readFileSync(own()));
  const done = await byHand(times);
  if (done === null) return false;
  gitWith(git, 'add', '--all');
  expect(gitWith(hand, 'ls-files', '--stage'), what).toBe(gitWith(git, 'ls-files', '--stage'));
  expect(done.tree, what).toBe(gitWith(git, 'write-tree'));
  expect(done.files, what).toEqual(IndexTree.read(git)!.changedSince(before));
  expect(gitWith(hand, 'write-tree'), what).toBe(done.tree); // What is noted is true.
  expect(gitWith(hand, 'diff-files', '--name-only'), what).toBe(''); // All times are noted.
  gitWith(hand, 'fsck', '--cache', '--no-dangling');
  return true;
}

/** Something that an agent may do with a folder or a file of it. */
const CHANGES: Readonly<Record<string, (one: string, other: string, random: Random) => void>> = {
  'a file is changed': (one, _, random) => writeFileSync(`${one}/${random(20)}`, `${random(9)}\n`),
  'a file is touched': (one, _, random) => utimesSync(`${one}/${random(20)}`, 1e9, 1e9),
  'a mode is changed': (one, _, random) => chmodSync(`${one}/${random(20)}`, 0o755),
  'a file is removed': (one, _, random) => rmSync(`${one}/${random(20)}`),
  'a file is new': (one, _, random) => writeFileSync(`${one}/new${random(3)}`, ''),
  'a file has an odd name': (one) => writeFileSync(`${one}/c ü\n"'`, ''),
  'a file is moved': (one, other, random) =>
    renameSync(`${one}/${random(20)}`, `${other}/moved${random(3)}`),
  'a file becomes a link': (one, _, random) => {
    rmSync(`${one}/${random(20)}`);
    symlinkSync('nowhere', `${one}/link${random(2)}`);
  },
  'a file becomes a folder': (one, _, random) => {
    const path = `${one}/${random(20)}`;
    rmSync(path);
    mkdirSync(path);
    writeFileSync(`${path}/in`, '');
  },
  'a folder is new': (one) => {
    mkdirSync(`${one}/new-folder/deep`, { recursive: true });
    writeFileSync(`${one}/new-folder/deep/in`, '');
    mkdirSync(`${one}/empty`, { recursive: true });
  },
  'a folder is removed': (one) => rmSync(one, { recursive: true }),
  'a folder becomes a file': (one) => {
    rmSync(one, { recursive: true });
    writeFileSync(one, 'file\n');
  },
  'a folder becomes a link to another one': (one, other) => {
    rmSync(one, { recursive: true });
    symlinkSync(other, one);
  },
  'a folder is moved, and a link leads there': (one) => {
    renameSync(one, `${one}.moved`);
    symlinkSync(`${one}.moved`, one);
  },
  'folders change places': (one, other) => {
    renameSync(one, `${one}.aside`);
    renameSync(other, one);
    renameSync(`${one}.aside`, other);
  },
  'a folder takes the place of another one': (one, other) => {
    rmSync(other, { recursive: true });
    renameSync(one, other);
  },
  'a folder is copied with its times': (one, other) =>
    cpSync(one, `${other}/copy`, { recursive: true, preserveTimestamps: true }),
};

function changeFolders(random: Random): void {
  const names = FOLDERS.filter((folder) => folder !== '').map((folder) => folder.slice(0, -1));
  const kinds = Object.values(CHANGES);
  const [one, other] = [names[random(names.length)]!, names[random(names.length)]!];
  try {
    kinds[random(kinds.length)]!(at(one), at(other), random);
  } catch {
    // It is not there any more, or a link that leads nowhere.
  }
}

test.each(Object.entries(CHANGES))('%s', async (what, make) => {
  for (const [one, other] of [
    ['a/x', 'b/x'],
    ['a/x', 'b'],
    ['c', 'a/x/y'],
  ] as const) {
    const times = await settled();
    make(at(one), at(other), generator(3));
    expect(await isAsByGit(times, what)).toBe(true);
  }
});

test('random changes are staged as git stages them', async () => {
  const random = generator(11);
  let byUs = 0;
  for (let round = 0; round < 60; round += 1) {
    const times = await settled();
    for (let times = random(3); times >= 0; times -= 1) changeFolders(random);
    if (await isAsByGit(times, `round ${round}`)) byUs += 1;
    if (random(4) > 0) continue;
    await repo.git('add', '--all');
    await repo.git('commit', '-q', '--allow-empty', '-m', `round ${round}`);
    const many = (await repo.git('ls-files')).split('\n').length > 310;
    if (!many) await repo.git('reset', '-q', '--hard', 'HEAD~1');
  }
  expect(byUs).toBeGreaterThan(50);
}, 240_000);

test('names that git would take for patterns, or that it only refuses where they are new', async () => {
  await repo.write({
    '.gitignore': 'n*\n',
    '.github/a.yml': '',
    '.gitlab-ci.yml': '',
    '.mailmap': '',
  });
  await repo.git('add', '--all');
  await repo.git('commit', '-qm', 'names');
  const times = await settled();
  await repo.write({
    '.github/b.yml': '',
    '.gitlab-ci.yml': 'x',
    'a/*': '',
    'a/[1]': '',
    '-n': '',
  });
  expect(await isAsByGit(times, 'names')).toBe(true);
  await repo.write({ ':(top)n\nx': '' });
  expect(await byHand(times)).toBeNull();
});

test('a name that is no text is staged as it is', async () => {
  const times = await settled();
  writeFileSync(Buffer.concat([Buffer.from(at('a/')), Buffer.from('\xe9', 'latin1')]), 'x');
  expect(await isAsByGit(times, 'bytes')).toBe(true);
});

test('rules say what of it is ignored', async () => {
  await repo.write({ '.gitignore': '*.tmp\nnode_modules/\n', 'a/.gitignore': '!keep.tmp\n' });
  await repo.git('add', '--all');
  await repo.git('commit', '-qm', 'rules');
  const times = await settled();
  await repo.write({ 'x.tmp': '', 'a/keep.tmp': '', 'b/new/y': '', 'b/new/y.tmp': '' });
  for (let nth = 0; nth < 700; nth += 1) await repo.write({ [`b/node_modules/${nth}`]: '' });
  expect(await isAsByGit(times, 'rules')).toBe(true);
  await repo.write({ '.gitignore': 'a/new\n', 'a/new': '', 'c/z/deep/.gitignore': '/in\n' });
  await repo.write({ 'c/z/deep/in': '', 'c/z/deep/out': '' });
  rmSync(at('b/node_modules'), { recursive: true });
  expect(await isAsByGit(times, 'other rules')).toBe(true);
});

describe('left to git', () => {
  const cases: readonly (readonly [string, () => unknown])[] = [
    ['attributes', () => writeFileSync(at('a/.gitattributes'), '* text\n')],
    ['a repository inside', () => repo.git('init', '-q', 'a/inner')],
    ['a pipe', () => execFileSync('mkfifo', [at('a/pipe')])],
    [
      'many changes',
      () => {
        for (const name of readdirSync(repo.dir)) {
          if (name !== '.git') rmSync(at(name), { recursive: true });
        }
      },
    ],
    [
      'many new files',
      () => Array.from({ length: 700 }, (_, nth) => writeFileSync(at(`new${nth}`), '')),
    ],
    ['a large file', () => writeFileSync(at('large'), Buffer.alloc(2_000_000))],
    [
      'large files',
      () =>
        Array.from({ length: 10 }, (_, nth) =>
          writeFileSync(at(`l${nth}`), Buffer.alloc(1_000_000)),
        ),
    ],
  ];

  test.each(cases)('%s', async (_what, make) => {
    const times = await settled();
    await make();
    expect(await byHand(times)).toBeNull();
  });

  test('a link to where the working tree is by now', async () => {
    const times = await settled();
    writeFileSync(at('a/1'), 'changed\n');
    renameSync(repo.dir, `${repo.dir}.moved`);
    symlinkSync(`${repo.dir}.moved`, repo.dir);
    const done = await byHand(times);
    rmSync(repo.dir);
    renameSync(`${repo.dir}.moved`, repo.dir);
    expect(done).toBeNull();
  });

  test('an index that is not the one of that time', async () => {
    const times = await settled();
    expect(await byHand({ ...times, tree: '0'.repeat(40) })).toBeNull();
  });

  test('attributes that are committed', async () => {
    await repo.write({ 'a/x/.gitattributes': '* text\n' });
    await repo.git('add', '--all');
    await repo.git('commit', '-qm', 'attributes');
    await repo.git('reset', '-q', '--hard');
    expect(folderTimesIn(repo.dir)).toBeNull();
  });
});
