/** Work that is staged and committed by one process of git is, bit for bit, what git itself makes. */

import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cleanMessage, quickStage } from '../../src/git/quick-stage.ts';
import { closeRefWriter } from '../../src/git/ref-writer.ts';
import { change, generator } from '../support/random-changes.ts';
import { runGit, type TempRepo, tempRepo } from '../support/temp-repo.ts';

const ATTRIBUTES = `*.txt text eol=crlf
*.big filter=pointer
*.bin binary
d/** text
`;
const FILES = {
  '.gitattributes': ATTRIBUTES,
  '.gitignore': 'ignored/\n*.tmp\n',
  a: 'a\n',
  'd/e': 'e\n',
  'd/g/h': 'h\n',
  'i/j': 'j\n',
  'one.txt': 'one\n',
  'two.big': 'large\n',
};

let repo: TempRepo;

beforeEach(async () => {
  repo = await tempRepo({ files: FILES });
  // What large-file storage does: the repository holds a short text that names the contents.
  await repo.git('config', 'filter.pointer.clean', 'printf "pointer "; wc -c');
  await repo.git('config', 'filter.pointer.smudge', 'cat');
  await repo.git('add', '--renormalize', '.');
  await repo.git('commit', '-q', '-m', 'attributes');
});

afterEach(async () => {
  await closeRefWriter(repo.commonDir);
  await repo[Symbol.asyncDispose]();
});

const headOf = () => repo.git('rev-parse', 'HEAD');

/** As a workspace begins: git has noted in the index which tree it is. */
async function newCheckout(): Promise<string> {
  await repo.git('reset', '-q', '--hard');
  return headOf();
}

/** The tree of everything in the checkout, by git alone, in an index that began with the base. */
function treeByGit(base: string): string {
  const env = { ...process.env, GIT_INDEX_FILE: join(repo.outside, 'index-of-git') };
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: repo.dir, env, encoding: 'utf8' }).trim();
  git('read-tree', base);
  git('add', '-A');
  return git('write-tree');
}

async function stage(base: string) {
  return quickStage({ commonDir: repo.commonDir, dir: repo.dir, base, times: null }, repo.signal);
}

function oddChanges(dir: string, random: (below: number) => number): void {
  const pick = random(6);
  if (pick === 0) writeFileSync(join(dir, 'one.txt'), `one\r\n${random(9)}\r\n`);
  if (pick === 1) writeFileSync(join(dir, 'two.big'), 'x'.repeat(random(500)));
  if (pick === 2) writeFileSync(join(dir, `three${random(3)}.big`), 'y'.repeat(random(500)));
  if (pick === 3) chmodSync(join(dir, '.gitignore'), 0o755);
  if (pick === 4)
    writeFileSync(join(dir, Buffer.from(`caf\xe9${random(2)}`, 'latin1').toString('latin1')), 'é');
  if (pick === 5) {
    mkdirSync(join(dir, 'ignored'), { recursive: true });
    writeFileSync(join(dir, 'ignored', 'x'), 'x');
    writeFileSync(join(dir, 'y.tmp'), 'y');
  }
}

test('random changes are committed as git commits them', async () => {
  const random = generator(11);
  for (let round = 0; round < 40; round += 1) {
    const base = await newCheckout();
    change(repo.dir, random);
    oddChanges(repo.dir, random);
    const index = readFileSync(join(repo.commonDir, 'index'));
    const expected = treeByGit(base);
    const files = (
      await repo.git(
        '-c',
        'core.quotePath=false',
        'diff-tree',
        '-r',
        '-z',
        '--name-only',
        '--no-renames',
        base,
        expected,
      )
    ).split('\0');

    const staged = await stage(base);

    expect(staged?.files, `round ${round}`).toEqual(files.filter((file) => file !== ''));
    expect(readFileSync(join(repo.commonDir, 'index'))).toEqual(index);
    const done = await staged?.commit(`Round ${round}\n\nBody.`, repo.signal);
    if (expected === (await repo.git('rev-parse', `${base}^{tree}`))) {
      expect(done).toBeNull(); // There is nothing to commit.
      continue;
    }
    expect(done).toEqual({ kind: 'committed', commit: await headOf() });
    expect(await repo.git('rev-parse', 'HEAD^{tree}', 'HEAD^')).toBe(`${expected}\n${base}`);
    expect(await repo.git('log', '-1', '--format=%an <%ae>%n%B')).toBe(
      `Ada Lovelace <ada@example.com>\nRound ${round}\n\nBody.`,
    );
    expect(await repo.git('status', '--porcelain')).toBe('');
  }
  await repo.git('fsck', '--no-dangling', '--strict');
}, 120_000);

test('a file that was changed in the tick in which the index was written is not missed', async () => {
  for (let nth = 0; nth < 30; nth += 1) {
    const base = await headOf();
    await repo.git('checkout', '-q', '--detach', base);
    await repo.git('checkout', '-q', '-B', 'work', base);
    writeFileSync(join(repo.dir, 'a'), nth % 2 === 0 ? 'b\n' : 'a\n');
    const staged = await stage(base);
    expect(staged?.files).toEqual(['a']);
    await staged?.commit('Same size, same time', repo.signal);
  }
}, 60_000);

test('dropped work is as if it had not been looked at', async () => {
  const base = await newCheckout();
  writeFileSync(join(repo.dir, 'a'), 'changed\n');
  const before = statSync(join(repo.commonDir, 'index')).mtimeMs;
  const staged = await stage(base);
  staged?.drop();
  expect(staged?.files).toEqual(['a']);
  expect(existsSync(join(repo.commonDir, 'landfast-stage'))).toBe(false);
  expect(statSync(join(repo.commonDir, 'index')).mtimeMs).toBe(before);
  expect(await repo.git('diff', '--cached', '--name-only')).toBe('');
});

test('submodules are committed as git commits them', async () => {
  await using other = await tempRepo();
  await repo.git(
    '-c',
    'protocol.file.allow=always',
    'submodule',
    '--quiet',
    'add',
    other.dir,
    'sub',
  );
  await repo.git('commit', '-q', '-m', 'submodule');
  const base = await newCheckout();
  const [name, email] = ['user.name=a', 'user.email=b'];
  await runGit(join(repo.dir, 'sub'), [
    '-c',
    name,
    '-c',
    email,
    'commit',
    '-q',
    '--allow-empty',
    '-m',
    'x',
  ]);
  writeFileSync(join(repo.dir, 'new'), '');
  const expected = treeByGit(base);
  const staged = await stage(base);
  expect(staged?.files).toEqual(['new', 'sub']);
  await staged?.commit('Move the submodule on', repo.signal);
  expect(await repo.git('rev-parse', 'HEAD^{tree}')).toBe(expected);
});

describe('left to git', () => {
  const cases: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['what was staged before', () => repo.git('add', 'a')],
    ['a hook', async () => hook('post-commit')],
    ['a signature', () => repo.git('config', 'commit.gpgSign', 'true')],
    [
      'messages that are cleaned in another way',
      () => repo.git('config', 'commit.cleanup', 'strip'),
    ],
    ['a merge that waits', async () => writeFileSync(join(repo.commonDir, 'MERGE_HEAD'), '')],
    [
      'files that git was told not to look at',
      () => repo.git('update-index', '--assume-unchanged', 'a'),
    ],
    ['a repository inside that has no commit', () => runGit(repo.dir, ['init', '-q', 'nested'])],
  ];

  test.each(cases)('%s', async (_what, make) => {
    const base = await newCheckout();
    writeFileSync(join(repo.dir, 'a'), 'changed\n');
    await make();
    const index = readFileSync(join(repo.commonDir, 'index'));
    expect(await stage(base)).toBeNull();
    expect(readFileSync(join(repo.commonDir, 'index'))).toEqual(index);
    expect(existsSync(join(repo.commonDir, 'landfast-stage'))).toBe(false);
  });

  test('commits of the agent itself, and a HEAD that is on no branch', async () => {
    const base = await newCheckout();
    writeFileSync(join(repo.dir, 'a'), 'changed\n');
    await repo.git('checkout', '-q', '--detach');
    const staged = await stage(base);
    expect(await staged?.commit('x', repo.signal)).toBeNull();
    await repo.git('commit', '-q', '-a', '-m', 'own');
    expect(await stage(base)).toBeNull();
  });

  function hook(name: string): void {
    const folder = join(repo.commonDir, 'hooks');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, name), '#!/bin/sh\n', { mode: 0o755 });
  }
});

test('a message is cleaned as git cleans it', async () => {
  const random = generator(3);
  const parts = ['a', ' ', '\t', '\n', '\n\n', '# b', '\r', 'ü', '\f'];
  for (let round = 0; round < 60; round += 1) {
    const message = Array.from({ length: random(12) }, () => parts[random(parts.length)]).join('');
    const before = await headOf();
    const args = ['commit', '-q', '--allow-empty', '--allow-empty-message', '--file=-'];
    await runGit(repo.dir, args, message);
    const raw = await repo.git('cat-file', 'commit', 'HEAD');
    const said = raw.includes('\n\n') ? raw.slice(raw.indexOf('\n\n') + 2) : '';
    expect(cleanMessage(message).trimEnd(), JSON.stringify(message)).toBe(said.trimEnd());
    await repo.git('reset', '-q', '--soft', before);
  }
}, 60_000);
