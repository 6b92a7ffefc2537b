/**
 * File names are bytes. A name that is not UTF-8 (Latin-1 `caf\xe9.txt`) survives work elsewhere in
 * its folder, packed or not, and such a file conflicts and merges like any other.
 */

import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

/** macOS refuses to create such a file. */
const onBytes = test.skipIf(process.platform === 'darwin');

const LIST = 'one\ntwo\nthree\nfour\nfive\n';
/** The path as git prints it with `core.quotePath`, and as a shell word. */
const CAFE = String.raw`"docs/caf\351.txt"`;
const CAFE_IN_SHELL = String.raw`"docs/$(printf 'caf\351').txt"`;

/** A packed repository with `docs/caf\xe9.txt`; its last commit added `docs/old.txt`. */
async function cafe(): Promise<TempRepo> {
  const repo = await tempRepo({ files: { 'docs/list.txt': LIST } });
  writeFileSync(Buffer.from(`${repo.dir}/docs/caf\xe9.txt`, 'latin1'), 'black\n');
  await repo.commit('main', {});
  await repo.commit('main', { 'docs/old.txt': 'old\n' });
  await repo.git('gc', '--quiet');
  return repo;
}

/** The blobs of `main` by path. */
async function filesOf(repo: TempRepo): Promise<ReadonlyMap<string, string>> {
  const lines = await repo.git('-c', 'core.quotePath=true', 'ls-tree', '-r', 'main');
  const files = lines.split('\n').map((line) => /^\d+ blob (\w+)\t(.*)$/.exec(line) ?? []);
  return new Map(files.map(([, blob = '', name = '']) => [name, blob]));
}

/** The text of a file of `main`. */
const textOf = async (repo: TempRepo, name: string): Promise<string> =>
  repo.git('cat-file', 'blob', (await filesOf(repo)).get(name) ?? `${name} is gone`);

/** `main` and its checkout have the new file, and the untouched one is as before. */
async function expectUntouched(repo: TempRepo, before: ReadonlyMap<string, string>) {
  const after = await filesOf(repo);
  expect([...after.keys()]).toEqual(['docs/a.txt', CAFE, 'docs/list.txt']);
  expect(after.get(CAFE)).toBe(before.get(CAFE));
  expect(await repo.git('status', '--porcelain')).toBe('');
  const names = readdirSync(join(repo.dir, 'docs'), 'latin1');
  expect(names.sort()).toEqual(['a.txt', 'caf\xe9.txt', 'list.txt']);
}

onBytes.each([
  ['beside each other', 'true', 'true'],
  ['in the same file', 'sed -i s/one/first/ docs/list.txt', 'sed -i s/five/last/ docs/list.txt'],
])('agents that work %s in its folder do not touch it', async (_, here, there) => {
  await using repo = await cafe();
  const before = await filesOf(repo);
  const run = await runPlan(repo, {
    tasks: {
      adds: `echo a > docs/a.txt; ${here}`,
      // Without an edit, this restores a state of the folder that git has only in a pack.
      removes: `git rm -q docs/old.txt; ${there}; git commit -qam 'Remove it'`,
    },
  });
  expect(run).toMatchObject({ code: 0 });
  await expectUntouched(repo, before);
});

onBytes('packed branches that merge in its folder do not touch it', async () => {
  await using repo = await cafe();
  const before = await filesOf(repo);
  await repo.commit('one', { 'docs/a.txt': 'a\n', 'docs/list.txt': `zero\n${LIST}` });
  await repo.commit('two', { 'docs/old.txt': null, 'docs/list.txt': `${LIST}six\n` });
  await repo.git('gc', '--quiet');
  expect(await landfast(['land', 'one', 'two'], { cwd: repo.dir })).toMatchObject({ code: 0 });
  await expectUntouched(repo, before);
});

/** Changes the file once `when` holds; in later attempts it runs `again` instead. */
const rival = (word: string, { when = 'true', again = 'true' }) => ({
  agent: 'command',
  command: [
    'sh',
    '-c',
    `touch ../../../began.$LANDFAST_TASK
    if test $LANDFAST_ATTEMPT -gt 1; then ${again}; exit; fi
    until ${when}; do sleep 0.02; done
    echo ${word} > ${CAFE_IN_SHELL}`,
  ],
  prompt: 'Change it.',
});

const HAS_BEGUN = 'test -e ../../../began.second';
const HAS_LANDED = 'test "$(git rev-parse landfast/$LANDFAST_RUN)" != "$(git rev-parse HEAD)"';

onBytes.each([
  { answer: 'resolves', again: `echo both > ${CAFE_IN_SHELL}`, failure: undefined, text: 'both' },
  { answer: 'leaves', again: 'true', failure: 'checks-failed', text: 'first' },
])('a conflict in it goes back to the agent, which $answer it', async (answer) => {
  await using repo = await cafe();
  const run = await runPlan(repo, {
    land: { reworks: 1 },
    tasks: {
      first: rival('first', { when: HAS_BEGUN }),
      second: rival('second', { when: HAS_LANDED, again: answer.again }),
    },
  });
  expect(run.of('merge.rejected').map(({ failure }) => failure.kind)).toEqual(['conflict']);
  expect(run.failure('second')?.kind).toBe(answer.failure);
  expect(await textOf(repo, CAFE)).toBe(answer.text);
});

onBytes('agents can change, add and delete files and folders with such names', async () => {
  await using repo = await cafe();
  const tea = String.raw`"$(printf 'th\351')"`;
  const run = await runPlan(repo, {
    tasks: {
      change: `echo white > ${CAFE_IN_SHELL}`,
      add: `mkdir ${tea}; echo green > ${tea}/${tea}`,
      remove: { needs: ['change', 'add'], prompt: `git rm -q ${CAFE_IN_SHELL}` },
      edit: { needs: ['change', 'add'], prompt: `echo black > ${tea}/${tea}` },
    },
  });
  expect(run).toMatchObject({ code: 0 });
  const made = String.raw`"th\351/th\351"`;
  expect([...(await filesOf(repo)).keys()]).toEqual(['docs/list.txt', 'docs/old.txt', made]);
  expect(await textOf(repo, made)).toBe('black');
  expect(await repo.git('status', '--porcelain')).toBe('');
});
