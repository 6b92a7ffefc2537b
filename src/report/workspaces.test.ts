import { expect, test } from 'vitest';
import { JournalBuilder } from '../../test/support/journal-builder.ts';
import { conflicted, HOSTILE, interrupted } from '../../test/support/runs.ts';
import { NATIVE_CONVENTIONS } from '../model/plan.ts';
import { claim, pooledRow, type RunPlace, workspaceRow, workspacesText } from './workspaces.ts';

const place = (run: string, journal: JournalBuilder, live = false): RunPlace => ({
  run,
  state: journal.state(),
  live,
  folder: '/w',
  gates: `/w/${run}.gates`,
});

const at = (path: string, branch: string | null = null, gone = false) => ({ path, branch, gone });

test('a worktree is claimed by the run that made it; the user’s own are not', () => {
  const runs = [place('r2', interrupted(), true), place('r1', conflicted())];
  const listed = [
    at('/home/ada/repo', 'main'),
    at('/w/r1/login', 'landfast/r1.login'),
    at('/w/r2/login', 'landfast/r2.login'),
    at('/w/r2.gates/gate-0'),
    at('/w/r2/mine', 'mine'),
    at('/w/r3/login'),
  ];
  expect(
    claim(listed, runs).map(({ path, of, kind, task }) => [path, of.run, kind, task?.spec.id]),
  ).toEqual([
    ['/w/r1/login', 'r1', 'task', 'login'],
    ['/w/r2/login', 'r2', 'task', 'login'],
    ['/w/r2.gates/gate-0', 'r2', 'gate', undefined],
  ]);
});

test('a folder that runs use in turn belongs to the newest that has not given it back', () => {
  const conventions = { ...NATIVE_CONVENTIONS, workspace: 'task-{task}' };
  const journal = () => new JournalBuilder([{ id: 'fix' }], { conventions }).start('fix');
  const givenBack = journal()
    .finish('fix')
    .land('fix')
    .add({ type: 'workspace.removed', task: 'fix' });
  const runs = [place('r3', givenBack), place('r2', journal()), place('r1', journal())];
  const listed = [at('/w/task-fix')];
  expect(claim(listed, runs).map(({ of }) => of.run)).toEqual(['r2']);
  expect(claim(listed, [runs[0]!]).map(({ of }) => of.run)).toEqual(['r3']);
});

test('each row says what it is, what would be lost, and what to do', () => {
  const runs = [place('r2', interrupted()), place('r1', conflicted()), place('r0', live(), true)];
  const listed = [
    at('/w/r1/login', 'landfast/r1.login'),
    at('/w/r2/login', null),
    at('/w/r2/users', 'landfast/r2.users', true),
    at('/w/r2.gates/gate-0'),
    at('/w/r0/users', 'landfast/r0.users'),
  ];
  const measured = [
    { commits: 2, files: 1 },
    { commits: 0, files: 3 },
    null,
    null,
    { commits: 0, files: 0 },
    null,
  ];
  const rows = claim(listed, runs).map((one, i) => workspaceRow(one, measured[i] ?? null));
  expect(workspacesText(rows)).toMatchInlineSnapshot(`
    "login  kept  r1  landfast/r1.login  2 commits not merged, 1 file not committed
        /w/r1/login
        its work has not landed
        landfast resume r1
        landfast cleanup --all --run r1
    login  left  r2  landfast/r2.login  3 files not committed
        /w/r2/login
        its run was interrupted
        landfast resume r2
        landfast cleanup --all --run r2
    users  gone  r2  landfast/r2.users
        /w/r2/users
        its folder is missing; perhaps its disk is not mounted
        landfast resume r2
        git worktree remove /w/r2/users
    gate  left  r2
        /w/r2.gates/gate-0
        its run was interrupted
        git worktree remove /w/r2.gates/gate-0
    users  live  r0  landfast/r0.users  nothing to lose
        /w/r0/users
    "
  `);
  expect(rows[0]).toMatchInlineSnapshot(`
    {
      "branch": "landfast/r1.login",
      "kind": "task",
      "path": "/w/r1/login",
      "remove": "landfast cleanup --all --run r1",
      "resume": "landfast resume r1",
      "run": "r1",
      "state": "kept",
      "task": "login",
      "unmerged": {
        "commits": 2,
        "files": 1,
      },
      "why": "its work has not landed",
    }
  `);
});

test('git alone removes what loses nothing by that', () => {
  const removed = (branch: string | null, commits: number, files: number) => {
    const [one] = claim([at('/w/r1/login', branch)], [place('r1', conflicted())]);
    return workspaceRow(one!, { commits, files }).remove;
  };
  const [byGit, keeping] = ['git worktree remove /w/r1/login', 'landfast cleanup --all --run r1'];
  expect(removed('landfast/r1.login', 2, 0)).toBe(byGit);
  expect(removed('landfast/r1.login', 0, 1)).toBe(keeping);
  expect(removed(null, 0, 0)).toBe(byGit);
  expect(removed(null, 1, 0)).toBe(keeping);
});

function live(): JournalBuilder {
  return new JournalBuilder([{ id: 'users' }]).start('users');
}

test('nothing from outside reaches the terminal as it is', () => {
  const journal = live().keep('users', HOSTILE);
  const [one] = claim([at('/w/r1/users', HOSTILE)], [place('r1', journal)]);
  const text = workspacesText([workspaceRow(one!, null)]);
  expect(text).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/);
  expect(workspacesText([])).toBe('No workspaces.\n');
});

test('a workspace of the pool is no run’s, and says what is the matter with it', () => {
  const states = ['idle', 'claimed', 'broken', 'gone'] as const;
  const rows = states.map((state, nth) =>
    pooledRow({ path: `/w/landfast.pool/${nth}`, state, since: 0 }),
  );
  expect(workspacesText(rows)).toMatchInlineSnapshot(`
    "pool  idle
        /w/landfast.pool/0
        ready for the next task
        landfast pool drain
    pool  live
        /w/landfast.pool/1
        a process is using it
    pool  left
        /w/landfast.pool/2
        it was changed while idle
        landfast pool drain
    pool  gone
        /w/landfast.pool/3
        its folder is missing; perhaps its disk is not mounted
        git worktree remove /w/landfast.pool/3
    "
  `);
});
