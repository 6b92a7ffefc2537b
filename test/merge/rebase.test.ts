/** Strategy rebase: a line of commits with their authors, dates and messages, built in memory. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readCommit } from '../../src/git/commit.ts';
import { readRef } from '../../src/git/refs.ts';
import { openRepository } from '../../src/git/repository.ts';
import { buildCandidate } from '../../src/merge/candidate.ts';
import { mergeWork } from '../../src/merge/land.ts';
import { isResult, lostFrom } from '../../src/merge/proof.ts';
import type { Event } from '../../src/model/event.ts';
import { runContext } from '../../src/workspace/run-context.ts';
import { planOf } from '../support/journal-builder.ts';
import { landfast } from '../support/landfast.ts';
import { NO_MEMORY, NO_RESOLUTIONS } from '../support/no-memory.ts';
import { testPool } from '../support/pool.ts';
import { runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const REBASE = { strategy: 'rebase', message: 'All of it' } as const;

const build = (repo: TempRepo, work: string, onto: string) =>
  buildCandidate(repo.commonDir, { ...REBASE, work, onto }, repo.signal);

const subjects = async (repo: TempRepo, range: string) =>
  (await repo.git('log', '--reverse', '--format=%an: %s', range)).split('\n');

/** Commits in the checkout with a given author and time. */
async function commitAs(repo: TempRepo, who: string, file: string, text: string): Promise<string> {
  await repo.write({ [file]: text });
  await repo.git('add', '--all');
  const author = `${who} <${who}@example.com>`;
  await repo.git(
    'commit',
    '-q',
    '-m',
    `Write ${file}`,
    '--author',
    author,
    '--date',
    '1700000000 +0130',
  );
  return repo.git('rev-parse', 'HEAD');
}

test('each commit is made again on the head, by its author and at its time', async () => {
  await using repo = await tempRepo();
  await repo.git('checkout', '-q', '-b', 'work');
  await commitAs(repo, 'Grace', 'a.txt', 'a\n');
  const work = await commitAs(repo, 'Linus', 'b.txt', 'b\n');
  await repo.git('checkout', '-q', 'main');
  const onto = await repo.commit('main', { 'c.txt': 'c\n' });
  const candidate = await build(repo, work, onto);
  if (candidate.kind !== 'built') throw new Error(candidate.kind);
  expect(await subjects(repo, `${onto}..${candidate.commit}`)).toEqual([
    'Grace: Write a.txt',
    'Linus: Write b.txt',
  ]);
  expect(await readCommit(repo.dir, candidate.commit, repo.signal)).toMatchObject({
    tree: candidate.tree,
    author: { name: 'Linus', email: 'Linus@example.com', date: '1700000000 +0130' },
    message: 'Write b.txt\n',
  });
  expect(await repo.git('ls-tree', '--name-only', candidate.tree)).toBe(
    'README.md\na.txt\nb.txt\nc.txt',
  );
  expect(await repo.git('log', '--merges', '--format=%s', candidate.commit)).toBe('');
});

test('work that stands on the head already is the candidate itself', async () => {
  await using repo = await tempRepo();
  const onto = await repo.git('rev-parse', 'main');
  const work = await repo.commit('work', { 'a.txt': 'a\n' });
  expect(await build(repo, work, onto)).toMatchObject({ kind: 'built', commit: work });
});

test('a commit that changes nothing any more is left out, and so is all of the work', async () => {
  await using repo = await tempRepo();
  await repo.commit('work', { 'a.txt': 'a\n' });
  const work = await repo.commit('work', { 'b.txt': 'b\n' });
  const some = await repo.commit('main', { 'a.txt': 'a\n' });
  const candidate = await build(repo, work, some);
  if (candidate.kind !== 'built') throw new Error(candidate.kind);
  expect(await repo.git('rev-list', '--count', `${some}..${candidate.commit}`)).toBe('1');
  const all = await repo.commit('main', { 'b.txt': 'b\n' });
  expect(await build(repo, work, all)).toMatchObject({ kind: 'built', commit: all });
});

test('work that holds a merge becomes one commit of the difference', async () => {
  await using repo = await tempRepo();
  await repo.git('checkout', '-q', '-b', 'work');
  await commitAs(repo, 'Grace', 'a.txt', 'a\n');
  const other = await repo.commit('other', { 'b.txt': 'b\n' });
  await repo.git('merge', '-q', '--no-ff', '-m', 'Merge', 'other');
  const work = await commitAs(repo, 'Linus', 'a.txt', 'a2\n');
  const candidate = await build(repo, work, other);
  if (candidate.kind !== 'built') throw new Error(candidate.kind);
  expect(await subjects(repo, `${other}..${candidate.commit}`)).toEqual(['Linus: All of it']);
  expect(await repo.git('show', `${candidate.tree}:a.txt`)).toBe('a2');
});

test('commits that apply only together become one; a conflict of the whole is a conflict', async () => {
  await using repo = await tempRepo();
  await repo.commit('work', { 'README.md': 'theirs\n' });
  await repo.commit('work', { 'README.md': 'hello\n' });
  const back = await repo.commit('work', { 'a.txt': 'a\n' });
  const onto = await repo.commit('main', { 'README.md': 'ours\n' });
  const candidate = await build(repo, back, onto);
  if (candidate.kind !== 'built') throw new Error(candidate.kind);
  expect(await repo.git('rev-list', '--count', `${onto}..${candidate.commit}`)).toBe('1');
  expect(await repo.git('show', `${candidate.commit}:README.md`)).toBe('ours');
  const work = await repo.commit('work', { 'README.md': 'theirs\n' });
  expect(await build(repo, work, onto)).toMatchObject({ kind: 'conflict', files: ['README.md'] });
});

test('the proof finds a landing that lacks a change, or is not in the history', async () => {
  await using repo = await tempRepo();
  const { commonDir, signal } = repo;
  const base = await repo.git('rev-parse', 'main');
  const work = await repo.commit('work', { 'a.txt': 'a\n' });
  const onto = await repo.commit('main', { 'b.txt': 'b\n' });
  const candidate = await build(repo, work, onto);
  if (candidate.kind !== 'built') throw new Error(candidate.kind);
  const { commit } = candidate;
  const lost = (tip: string, landing: object) =>
    lostFrom(
      commonDir,
      tip,
      { works: [{ task: 'a', work, onto, commit, ...landing }], strategy: 'rebase', generated: [] },
      signal,
    );
  expect(await lost(commit, {})).toBeNull();
  expect(await lost(onto, {})).toBe(commit);
  expect(await lost(commit, { commit: onto, onto: base })).toBe(work);
  expect(await isResult(commonDir, { ...REBASE, work, onto, commit, generated: [] }, signal)).toBe(
    true,
  );
});

test('work that a dead engine has landed is found, although its commits are others now', async () => {
  await using repo = await tempRepo();
  const { commonDir, signal } = repo;
  const opened = await openRepository(repo.dir, signal);
  if (opened.kind !== 'repository') throw new Error(opened.kind);
  const plan = planOf([{ id: 'a' }], { gates: [] });
  const landing = { ...plan.landing, strategy: 'rebase' } as const;
  const context = runContext({
    repository: opened.repository,
    run: 'r1',
    plan: { ...plan, landing },
    env: {},
    pool: testPool(repo, 0),
    verdicts: NO_MEMORY,
    resolutions: NO_RESOLUTIONS,
    assertHeld: () => undefined,
  });
  const work = await repo.commit('work', { 'a.txt': 'a\n' });
  const onto = await repo.commit('main', { 'b.txt': 'b\n' });
  const effect = {
    kind: 'merge',
    ...{ task: 'a', commit: work, onto, base: null, ahead: null, lands: true, landedSince: [] },
    teaches: false,
    credit: { by: null, costUsd: 0 },
  } as const;
  const land = async () => {
    const facts: Event[] = [];
    await mergeWork(context, effect, (fact) => facts.push(fact), signal);
    return facts;
  };
  await repo.git('branch', 'landfast/r1', onto);
  const first = await land();
  const head = await repo.git('rev-parse', 'landfast/r1');
  expect(head).not.toBe(work);
  expect(first).toEqual([{ type: 'merge.landed', task: 'a', onto, commit: head }]);
  expect(await land()).toEqual(first);
  await repo.commit('landfast/r1', { 'c.txt': 'c\n' });
  expect(await land()).toMatchObject([
    { type: 'merge.rejected', failure: { kind: 'commit-failed' } },
  ]);
  expect(await readRef(commonDir, 'refs/heads/work', signal)).toBe(work);
});

/** Each begins when both have, so that they start from the same head. */
const together = (name: string, other: string, more: string): string =>
  `touch ../../../${name}; while test ! -e ../../../${other}; do sleep 0.05; done; ${more}`;

test('a run lands a line of commits, and leaves no branch and no workspace', async () => {
  await using repo = await tempRepo();
  const commits = 'echo 1 > a.txt; git add -A; git commit -qm "First"; echo 2 > b.txt';
  const run = await runPlan(repo, {
    land: { strategy: 'rebase' },
    gates: [{ name: 'there', run: 'test -e README.md' }],
    tasks: {
      one: { title: 'Second', prompt: together('one', 'two', commits) },
      two: { title: 'Third', prompt: together('two', 'one', 'echo 3 > c.txt') },
      three: { title: 'Fourth', needs: ['one', 'two'], prompt: 'echo 4 >> a.txt' },
    },
  });
  expect(run.code, run.stderr).toBe(0);
  expect(await repo.git('log', '--merges', '--format=%s')).toBe('');
  const landed = (await repo.git('log', '--format=%s')).split('\n');
  expect(landed.sort()).toEqual(['Change', 'First', 'one: Second', 'three: Fourth', 'two: Third']);
  expect(await repo.git('branch', '--format=%(refname:short)')).toBe('main');
  expect(await repo.git('status', '--porcelain')).toBe('');
  expect(existsSync(join(repo.outside, 'repo.worktrees'))).toBe(false);
});

test('a target that moved meanwhile gets the line on top, and a resume finds it done', async () => {
  await using repo = await tempRepo();
  const moves = `cd ${repo.dir} && git commit -q --allow-empty -m Mine`;
  const run = await runPlan(repo, {
    land: { strategy: 'rebase' },
    tasks: { one: `echo 1 > a.txt; (${moves})` },
  });
  expect(run.code, run.stderr).toBe(0);
  const lines = (await repo.git('log', '--format=%p|%s')).split('\n');
  expect(lines.map((line) => line.split('|')[1])).toEqual([
    expect.stringContaining('one: echo 1'),
    'Mine',
    'Change',
  ]);
  const again = await landfast(['resume'], { cwd: repo.dir, env: { HOME: repo.outside } });
  expect(again.code).toBe(0);
});
