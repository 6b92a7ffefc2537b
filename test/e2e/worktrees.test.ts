/** Workspaces as `landfast worktrees` lists them: of a live run, a failed one, a dead one. */

import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { landfast, start } from '../support/landfast.ts';
import { nativePlan } from '../support/native-plan.ts';
import { runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

interface Row {
  readonly path: string;
  readonly state: string;
  readonly remove: string | null;
}

const list = async (repo: TempRepo): Promise<readonly Row[]> =>
  JSON.parse((await landfast(['worktrees', '--json'], { cwd: repo.dir })).stdout);

test('a kept workspace says why, what is not merged, and how to go on or remove it', async () => {
  await using repo = await tempRepo();
  await repo.git('worktree', 'add', '-q', '-b', 'mine', join(repo.outside, 'mine'));
  const bad =
    'echo 1 > a.txt; git add .; git commit -qm one; echo 2 > b.txt; echo 3 > c.txt; exit 1';
  const { run } = await runPlan(repo, { tasks: { bad, good: 'echo 1 > good.txt' } });
  const path = join(repo.outside, 'repo.worktrees', run, 'bad');
  expect(await list(repo)).toEqual([
    {
      path,
      kind: 'task',
      state: 'kept',
      why: 'it holds work that has not landed',
      run,
      task: 'bad',
      branch: `landfast/${run}.bad`,
      unmerged: { commits: 1, files: 2 },
      resume: `landfast resume ${run}`,
      remove: `landfast cleanup --all --run ${run}`,
    },
  ]);
  const text = (await landfast(['worktrees'], { cwd: repo.dir })).stdout;
  expect(text).toContain('1 commit not merged, 2 files not committed');
  await expect(repo.git('worktree', 'remove', path)).rejects.toThrow(/untracked/);
  rmSync(join(path, 'b.txt'));
  rmSync(join(path, 'c.txt'));
  const [{ remove } = { remove: null }] = await list(repo);
  expect(remove).toBe(`git worktree remove ${path}`);
  await repo.git('worktree', 'remove', path);
  expect(await list(repo)).toEqual([]);
  expect(await repo.git('show', `landfast/${run}.bad:a.txt`)).toBe('1');
});

test('a workspace is live while its run is, and left when the engine is dead', async () => {
  await using repo = await tempRepo();
  const slow =
    'touch ../../../up; n=0; until test -e ../../../go || test $n -gt 4000; do n=$((n+1)); sleep 0.05; done';
  writeFileSync(join(repo.outside, 'plan.yaml'), nativePlan({ tasks: { slow } }));
  const engine = start(['run', '../plan.yaml', '--events'], { cwd: repo.dir });
  await vi.waitUntil(() => existsSync(join(repo.outside, 'up')), { timeout: 60_000 }); // It is made.
  expect(await list(repo)).toMatchObject([{ task: 'slow', state: 'live', remove: null }]);
  engine.child.kill('SIGKILL');
  await engine.ended;
  expect(await list(repo)).toMatchObject([
    {
      task: 'slow',
      state: 'left',
      why: 'its run was interrupted',
      unmerged: { commits: 0, files: 0 },
    },
  ]);
  writeFileSync(join(repo.outside, 'go'), '');
  await landfast(['resume'], { cwd: repo.dir });
  expect((await landfast(['worktrees'], { cwd: repo.dir })).stdout).toBe('No workspaces.\n');
});

test('a missing folder is reported, and its entry can be removed', async () => {
  await using repo = await tempRepo();
  await runPlan(repo, { tasks: { bad: 'echo 1 > a.txt; exit 1' } });
  const [kept] = await list(repo);
  rmSync(kept?.path ?? '', { recursive: true });
  const [gone] = await list(repo);
  expect(gone).toMatchObject({ task: 'bad', state: 'gone', unmerged: null });
  await repo.git(...(gone?.remove ?? '').split(' ').slice(1));
  expect(await list(repo)).toEqual([]);
});

test('outside of a repository it is refused with exit 3', async () => {
  await using repo = await tempRepo();
  const refused = await landfast(['worktrees'], { cwd: repo.outside });
  expect(refused).toMatchObject({ code: 3, stdout: '' });
});
