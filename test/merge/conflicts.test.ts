/** Every way in which two pieces of work can disagree: named for people, and laid out for agents. */

import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { buildCandidate } from '../../src/merge/candidate.ts';
import { conflictLine } from '../../src/model/conflict.ts';
import { runPlan } from '../support/run-plan.ts';
import { runGit, type TempRepo, tempRepo } from '../support/temp-repo.ts';

const LINES = Array.from({ length: 30 }, (_, at) => `line ${at + 1}\n`);
const text = (changes: Readonly<Record<number, string>> = {}): string =>
  LINES.map((line, at) => changes[at + 1] ?? line).join('');

type Change = (dir: string) => Promise<void> | void;

/** A commit on a branch of its own, made in a worktree: any kind of change. */
async function change(repo: TempRepo, branch: string, what: Change): Promise<string> {
  const dir = join(repo.outside, branch);
  await repo.git('worktree', 'add', '--quiet', '-b', branch, dir, 'main');
  await what(dir);
  await runGit(dir, ['add', '--all']);
  await runGit(dir, ['commit', '--quiet', '--message', branch]);
  return runGit(dir, ['rev-parse', 'HEAD']);
}

const write =
  (file: string, content: string): Change =>
  (dir) => {
    mkdirSync(join(dir, file, '..'), { recursive: true });
    writeFileSync(join(dir, file), content);
  };

const remove =
  (file: string): Change =>
  (dir) =>
    rmSync(join(dir, file), { recursive: true });

const move =
  (from: string, to: string): Change =>
  async (dir) => {
    await runGit(dir, ['mv', from, to]);
  };

const both =
  (...changes: readonly Change[]): Change =>
  async (dir) => {
    for (const each of changes) await each(dir);
  };

interface Case {
  readonly name: string;
  readonly there: Change;
  readonly here: Change;
  readonly says: readonly string[];
}

const CASES: readonly Case[] = [
  {
    name: 'lines of a text, in two places',
    there: write('text', text({ 10: 'there\n', 25: 'there\n' })),
    here: write('text', text({ 10: 'here\nand here\n', 25: 'here\n' })),
    says: ['text: both changed lines 10-11, 26'],
  },
  {
    name: 'a file that both added',
    there: write('new', 'there\n'),
    here: write('new', 'here\n'),
    says: ['new: both added it, and differ in line 1'],
  },
  {
    name: 'a binary file',
    there: write('img.png', 'a\0there'),
    here: write('img.png', 'a\0here'),
    says: ['img.png: both changed a binary file'],
  },
  {
    name: 'deleted there',
    there: remove('text'),
    here: write('text', text({ 3: 'here\n' })),
    says: ['text: changed here, deleted there'],
  },
  {
    name: 'deleted here',
    there: write('text', text({ 3: 'there\n' })),
    here: remove('text'),
    says: ['text: deleted here, changed there'],
  },
  {
    name: 'renamed to two names',
    there: move('text', 'there'),
    here: move('text', 'here'),
    says: ['here: renamed in two ways', 'text: renamed in two ways', 'there: renamed in two ways'],
  },
  {
    name: 'renamed there, deleted here',
    there: move('text', 'there'),
    here: remove('text'),
    says: ['there: renamed in two ways'],
  },
  {
    name: 'renamed here, deleted there',
    there: remove('text'),
    here: move('text', 'here'),
    says: ['here: renamed in two ways'],
  },
  {
    name: 'two files renamed to one name',
    there: move('text', 'both'),
    here: move('README.md', 'both'),
    says: ['both: both added it, and differ in line 1'],
  },
  {
    name: 'renamed here, the same name added there',
    there: write('both', 'there\n'),
    here: move('README.md', 'both'),
    says: ['both: both added it, and differ in line 1'],
  },
  {
    name: 'renamed and changed here, the same lines changed there',
    there: write('text', text({ 4: 'there\n' })),
    here: both(move('text', 'here'), write('here', text({ 4: 'here\n' }))),
    says: ['here: both changed line 4'],
  },
  {
    name: 'a folder here, a file there',
    there: write('text', text({ 5: 'there\n' })),
    here: both(remove('text'), write('text/inner', 'x\n')),
    says: ['text: a file on one side, a folder on the other'],
  },
  {
    name: 'a link to two places',
    there: (dir) => symlinkSync('text', join(dir, 'new')),
    here: (dir) => symlinkSync('README.md', join(dir, 'new')),
    says: ['new: changed in two incompatible ways'],
  },
  {
    name: 'a file here, a folder there',
    there: both(remove('text'), write('text/inner', 'x\n')),
    here: write('text', text({ 5: 'here\n' })),
    says: ['text: a file on one side, a folder on the other'],
  },
  {
    name: 'a link there, a file here',
    there: (dir) => symlinkSync('README.md', join(dir, 'new')),
    here: write('new', 'here\n'),
    says: ['new: a file here, something else there', 'new: a file here, something else there'],
  },
  {
    name: 'executable there, not here',
    there: both(write('new', 'same\n'), (dir) => chmodSync(join(dir, 'new'), 0o755)),
    here: write('new', 'same\n'),
    says: ['new: both changed its mode, differently'],
  },
];

const FILES = { text: text(), 'img.png': 'a\0b', 'README.md': 'hello\n' };

describe('a conflict is named', () => {
  test.each(CASES)('$name', async ({ there, here, says }) => {
    await using repo = await tempRepo({ files: FILES });
    const onto = await change(repo, 'there-branch', there);
    const work = await change(repo, 'here-branch', here);
    const merge = { work, onto, message: 'x', strategy: 'merge' } as const;
    const candidate = await buildCandidate(repo.commonDir, merge, repo.signal);
    if (candidate.kind !== 'conflict') throw new Error(`it is ${candidate.kind}`);
    expect(candidate.conflicts.map(conflictLine)).toEqual(says);
    expect(candidate.files.filter((file) => file.includes('~'))).toEqual([]);
  });

  test('a submodule that moved to two commits', async () => {
    await using repo = await tempRepo({ files: FILES });
    const first = await repo.git('rev-parse', 'HEAD');
    const second = await repo.commit('other', { x: 'x' });
    const third = await repo.commit('third', { y: 'y' });
    await repo.git('update-index', '--add', '--cacheinfo', `160000,${first},lib`);
    await repo.git('commit', '--quiet', '--message', 'module');
    const at = async (branch: string, commit: string): Promise<string> => {
      await repo.git('checkout', '--quiet', '-B', branch, 'main');
      await repo.git('update-index', '--cacheinfo', `160000,${commit},lib`);
      await repo.git('commit', '--quiet', '--message', branch);
      return repo.git('rev-parse', 'HEAD');
    };
    const onto = await at('there-branch', second);
    const work = await at('here-branch', third);
    const merge = { work, onto, message: 'x', strategy: 'merge' } as const;
    const candidate = await buildCandidate(repo.commonDir, merge, repo.signal);
    expect(candidate).toMatchObject({
      kind: 'conflict',
      conflicts: [{ path: 'lib', kind: 'submodule' }],
    });
  });
});

/** Two tasks that have both begun before either goes on. */
const together = (name: string, other: string, script: string): string =>
  `touch ../../../${name}; while test ! -e ../../../${other}; do sleep 0.05; done; ${script}`;

/** The second waits until the first has landed; its script is run again for a rework. */
const afterwards = (script: string): string =>
  [
    'touch ../../../b',
    'while ! git log --all --format=%s | grep -q "^Land a$"; do sleep 0.05; done',
    script,
  ].join('; ');

test('on_conflict: fail keeps everything and names the files and lines', async () => {
  await using repo = await tempRepo({ files: FILES });
  const run = await runPlan(repo, {
    land: { on_conflict: 'fail' },
    tasks: {
      a: together('a', 'b', "sed -i 's/^line 7$/there/' text; printf 'a\\0there' > img.png"),
      b: afterwards("sed -i 's/^line 7$/here/' text; printf 'a\\0here' > img.png"),
    },
  });
  expect(run).toMatchObject({ code: 1 });
  expect(run.failure('b')).toEqual({
    kind: 'conflict',
    message:
      'Conflicts with what landed meanwhile (a): ' +
      'img.png: both changed a binary file; text: both changed line 7.',
    files: ['img.png', 'text'],
    conflicts: [
      { path: 'img.png', kind: 'binary' },
      { path: 'text', kind: 'content', lines: [[7, 7]] },
    ],
    landedSince: ['a'],
  });
  const dir = join(repo.outside, 'repo.worktrees', run.run, 'b');
  expect(existsSync(dir)).toBe(true);
  expect(readFileSync(join(dir, 'text'), 'utf8')).toBe(text({ 7: 'here\n' }));
  expect(run.stderr).toContain('text: both changed line 7');
});
