/**
 * A landing is the merge that `git merge` makes in a checkout of the head: the head's
 * `.gitattributes` decide how files merge. Each case is compared with what git itself makes of it.
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { start } from '../support/landfast.ts';
import { liveRun } from '../support/live-run.ts';
import { runGit, type TempRepo, tempRepo } from '../support/temp-repo.ts';

type Texts = Readonly<Record<string, string>>;

/** The result of a merge. */
type Outcome =
  | { readonly kind: 'clean'; readonly tree: string }
  | { readonly kind: 'conflict'; readonly files: readonly string[] };

interface Case {
  readonly name: string;
  /** Files to which both branches append a line: a conflict unless an attribute helps. */
  readonly met: readonly string[];
  /** Files that they change in different places: clean unless an attribute forbids it. */
  readonly apart?: readonly string[];
  /** Other files of the first commit. */
  readonly base?: Texts;
  /** Other files that each branch adds. */
  readonly one?: Texts;
  readonly two?: Texts;
  /** Files that are only in the user's checkout. */
  readonly uncommitted?: Texts;
  /** Files that conflict. */
  readonly conflicts: readonly string[];
}

/** `tools/append` is tracked, so it is found only where the head is checked out. */
const DRIVERS = {
  'merge.append.driver': '{ sed 1,7d %B; echo driven; } >> %A',
  'merge.script.driver': 'sh tools/append %A %B',
  'merge.fails.driver': 'exit 1',
};
const TOOLS = { 'tools/append': 'sed 1,7d "$2" >> "$1"\n' };

const CASES: readonly Case[] = [
  {
    name: 'union and drivers, in subfolders too',
    met: ['union', 'driver', 'script', 'sub/union', 'sub/deep/script'],
    base: {
      ...TOOLS,
      '.gitattributes': '/union merge=union\ndriver merge=append\nscript merge=script\n',
      'sub/.gitattributes': 'union merge=union\n',
    },
    conflicts: [],
  },
  {
    name: '-merge, a failing driver, a folder that overrides',
    met: ['plain', 'sub/union', 'union'],
    apart: ['binary', 'fails', 'sub/plain'],
    base: {
      '.gitattributes': 'binary -merge\nfails merge=fails\nunion merge=union\n',
      'sub/.gitattributes': 'union merge=text\n',
    },
    conflicts: ['binary', 'fails', 'plain', 'sub/union'],
  },
  {
    name: 'attributes that landed first',
    met: ['sub/union', 'union'],
    apart: ['binary', 'plain'],
    one: {
      '.gitattributes': 'union merge=union\nbinary -merge\n',
      'sub/.gitattributes': 'union merge=text\n',
    },
    conflicts: ['binary', 'sub/union'],
  },
  {
    name: 'attributes only in the work or in a checkout',
    met: ['sub/union', 'union'],
    apart: ['plain'],
    two: { 'sub/.gitattributes': 'union merge=union\n' },
    uncommitted: { '.gitattributes': '* merge=union\nplain -merge\n' },
    conflicts: ['sub/union', 'union'],
  },
];

const LINES = '1\n2\n3\n4\n5\n6\n7\n';

/** The files with one more line at the end. */
function longer(files: readonly string[], line: string): Texts {
  return Object.fromEntries(files.map((file) => [file, `${LINES}${line}\n`]));
}

/** A repository with branches `one` and `two`. */
async function prepared({ met, apart = [], ...also }: Omit<Case, 'name' | 'conflicts'>) {
  const files = Object.fromEntries([...met, ...apart].map((file) => [file, LINES]));
  const repo = await tempRepo({ files: { ...files, ...also.base } });
  for (const [name, value] of Object.entries(DRIVERS)) await repo.git('config', name, value);
  const top = Object.fromEntries(apart.map((file) => [file, `top\n${LINES}`]));
  await repo.commit('one', { ...longer(met, 'one'), ...top, ...also.one });
  await repo.commit('two', { ...longer([...met, ...apart], 'two'), ...also.two });
  await repo.write(also.uncommitted ?? {});
  return repo;
}

/** Merges with `git merge` in a checkout of the head. */
async function byGit(repo: TempRepo, onto: string, work: string): Promise<Outcome> {
  const dir = join(repo.outside, 'by-git');
  await repo.git('worktree', 'add', '-q', '--detach', dir, onto);
  await runGit(dir, ['merge', '-q', '--no-ff', '-m', 'By git', work]).catch(() => '');
  const files = await runGit(dir, ['diff', '--name-only', '--diff-filter=U']);
  if (files !== '') return { kind: 'conflict', files: files.split('\n') };
  return { kind: 'clean', tree: await runGit(dir, ['rev-parse', 'HEAD^{tree}']) };
}

/** Lands `one`, then `two`; answers for the second, with the head it was merged onto. */
async function byLandfast(
  repo: TempRepo,
  ...args: readonly string[]
): Promise<{ readonly onto: string; readonly outcome: Outcome }> {
  const engine = start(['land', 'one', 'two', '--events', ...args], { cwd: repo.dir });
  await engine.ended;
  for (const { event } of engine.entries) {
    if (event.type === 'merge.landed' && event.task === 'two') {
      const tree = await repo.git('rev-parse', `${event.commit}^{tree}`);
      return { onto: event.onto, outcome: { kind: 'clean', tree } };
    }
    if (event.type === 'merge.rejected' && event.failure.kind === 'conflict') {
      return { onto: event.onto, outcome: { kind: 'conflict', files: event.failure.files } };
    }
  }
  throw new Error(`two neither landed nor conflicted:\n${engine.stderr}`);
}

test.each(CASES)('same as git merge: $name', async ({ conflicts, ...from }) => {
  await using repo = await prepared(from);
  const { onto, outcome } = await byLandfast(repo);
  const merged = await byGit(repo, onto, 'two');
  expect(merged.kind === 'conflict' ? merged.files : []).toEqual(conflicts);
  expect(outcome).toEqual(merged);
});

test.each(['squash', 'rebase'])('union applies with strategy %s', async (strategy) => {
  await using repo = await prepared({
    met: ['union'],
    base: { '.gitattributes': 'union merge=union\n' },
  });
  expect((await byLandfast(repo, '--strategy', strategy)).outcome.kind).toBe('clean');
  expect(await repo.git('show', 'main:union')).toBe(`${LINES}one\ntwo`);
});

test.each([
  { says: 'merge=union', mine: `${LINES}mine\n`, code: 0, text: `${LINES}mine\nits` },
  { says: '-merge', mine: `mine\n${LINES}`, code: 1, text: `mine\n${LINES}`.trim() },
])('$says applies when a target that moved is merged with the run', async (each) => {
  const files = { file: LINES, '.gitattributes': `file ${each.says}\n` };
  await using repo = await tempRepo({ files });
  const wait = 'while test ! -e ../../../go; do sleep 0.02; done';
  const { engine } = await liveRun(repo, { one: `${wait}; echo its >> file` });
  await repo.commit('main', { file: each.mine });
  writeFileSync(join(repo.outside, 'go'), '');
  expect(await engine.ended).toMatchObject({ code: each.code });
  expect(await repo.git('show', 'main:file')).toBe(each.text);
});
