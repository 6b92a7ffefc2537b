/**
 * Workspaces that are mounts over one checkout: the same to whoever works in them, and nothing is
 * lost when a mount is. Where this machine mounts none, only the fall-back is tested.
 */

import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isOverlay, mountsOf, overlayProblem } from '../../src/git/overlay.ts';
import { removeWorktree } from '../../src/git/worktree.ts';
import { repair } from '../../src/merge/run-branch.ts';
import { createWorkspace } from '../../src/workspace/create.ts';
import { floorDir } from '../../src/workspace/floor.ts';
import type { Ground } from '../../src/workspace/ground.ts';
import { judgeWork } from '../../src/workspace/judge.ts';
import { removeRunFolder } from '../../src/workspace/remove.ts';
import { closeTask, openTask, testGround } from '../support/ground.ts';
import { taskSpec } from '../support/journal-builder.ts';
import { landfast } from '../support/landfast.ts';
import { MARK } from '../support/mark.ts';
import { change, generator, PLACES } from '../support/random-changes.ts';
import { runPlan } from '../support/run-plan.ts';
import { tempDir } from '../support/temp-dir.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const FILES = {
  ...Object.fromEntries(PLACES.map((path) => [path, `${path}\n`])),
  '.gitignore': '*.log\n',
};
const OVERLAY = { overlay: true } as const;

const problem = await (async () => {
  await using place = await tempDir();
  return await overlayProblem(place.path, place.path, new AbortController().signal);
})();

/** A repository of which no mount stays. */
async function mountRepo(files: Readonly<Record<string, string>> = FILES): Promise<TempRepo> {
  const repo = await tempRepo({ files });
  const dispose = async (): Promise<void> => {
    for (const dir of mountsIn(repo)) execFileSync('umount', ['-l', dir]);
    await repo[Symbol.asyncDispose]();
  };
  return { ...repo, [Symbol.asyncDispose]: dispose };
}

function mountsIn(repo: TempRepo): readonly string[] {
  const places = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '');
  return places.filter((dir) => dir.startsWith(`${repo.outside}/`));
}

const head = (repo: TempRepo): Promise<string> => repo.git('rev-parse', 'HEAD');
const status = (repo: TempRepo, dir: string): Promise<string> =>
  repo.git('-C', dir, 'status', '--porcelain');

async function judged(
  ground: Ground,
  repo: TempRepo,
  dir: string,
  task: string,
): Promise<string | null> {
  const work = {
    task: taskSpec({ id: task }),
    dir,
    base: await head(repo),
    mark: MARK,
    mended: false,
  };
  const answer = await judgeWork(ground, work, repo.signal);
  return answer.kind === 'good' && answer.commit !== null
    ? repo.git('rev-parse', `${answer.commit}^{tree}`)
    : null;
}

if (problem !== null) console.warn(`Mounts are not tested: ${problem}`);

describe.skipIf(problem !== null)('a workspace that is a mount', () => {
  test('holds the files of its commit, clean, and of later ones as well', async () => {
    await using repo = await mountRepo();
    const ground = await testGround(repo, OVERLAY);
    const { dir: one } = await openTask(ground, 'one');
    await repo.commit('main', { a: 'changed\n', 'new/file': '1\n', b: null });
    const { dir: two } = await openTask(ground, 'two');
    expect([isOverlay(one), isOverlay(two)]).toEqual([true, true]);
    expect(mountsIn(repo).toSorted()).toEqual([one, two]);
    expect(await status(repo, one)).toBe('');
    expect(await status(repo, two)).toBe('');
    expect(readFileSync(join(one, 'a'), 'utf8')).toBe('a\n');
    expect(readFileSync(join(two, 'a'), 'utf8')).toBe('changed\n');
    expect([existsSync(join(two, 'b')), existsSync(join(two, 'new/file'))]).toEqual([false, true]);
    expect(await repo.git('-C', two, 'symbolic-ref', 'HEAD')).toBe('refs/heads/landfast/r1.two');
  });

  test('takes what is done in it for itself: neither the others nor what is below see it', async () => {
    await using repo = await mountRepo();
    const ground = await testGround(repo, OVERLAY);
    const [one, two] = [await openTask(ground, 'one'), await openTask(ground, 'two')];
    execFileSync('sh', ['-ec', 'mv d moved; rm a; echo x > b; chmod +x i-j; echo y > i/new'], {
      cwd: one.dir,
    });
    expect(await status(repo, two.dir)).toBe('');
    expect(await status(repo, floorDir(ground))).toBe('');
  });

  test('gives the same trees as any other, whatever is changed', async () => {
    await using repo = await mountRepo();
    const [mounted, plain] = [
      await testGround(repo, OVERLAY),
      await testGround(repo, {}, { run: 'r2' }),
    ];
    const seen = new Set<string | null>();
    for (let seed = 1; seed <= 12; seed += 1) {
      const trees: (string | null)[] = [];
      for (const ground of [mounted, plain]) {
        const { dir } = await openTask(ground, 'one');
        change(dir, generator(seed));
        trees.push(await judged(ground, repo, dir, 'one'));
        await closeTask(ground, 'one');
        await repo.git('branch', '-D', `landfast/${ground.run}.one`).catch(() => '');
      }
      expect(trees[0], `seed ${seed}`).toBe(trees[1]);
      seen.add(trees[0] ?? null);
    }
    expect(seen.size).toBeGreaterThan(6);
    expect(mountsIn(repo)).toEqual([]);
  });

  test('is there again after a restart of the machine, with all that was in it', async () => {
    await using repo = await mountRepo();
    const ground = await testGround(repo, OVERLAY);
    const { dir } = await openTask(ground, 'one');
    writeFileSync(join(dir, 'half'), 'done\n');
    execFileSync('umount', [dir]);
    expect(readdirSync(dir)).toEqual([]);
    await repo.git('worktree', 'prune', '--expire', 'now');
    await expect(removeWorktree(repo.commonDir, dir, repo.signal)).rejects.toThrow(/may hold work/);
    rmSync(dir, { recursive: true });
    await expect(removeRunFolder(ground, repo.signal)).rejects.toThrow(/may hold work/);
    await repair(ground, repo.signal);
    expect(readFileSync(join(dir, 'half'), 'utf8')).toBe('done\n');
    expect(await status(repo, dir)).toBe('?? half');
    await removeWorktree(repo.commonDir, dir, repo.signal);
    expect([mountsIn(repo), existsSync(dir)]).toEqual([[], false]);
  });

  test('is mended by the engine that has its run, and by nobody else', async () => {
    await using repo = await mountRepo();
    const ground = await testGround(repo, OVERLAY);
    const other = await testGround(repo, OVERLAY, { run: 'r2' });
    const { dir } = await openTask(ground, 'one');
    execFileSync('umount', [dir]);
    await repair(other, repo.signal);
    expect(mountsIn(repo)).toEqual([]);
    await repair(ground, repo.signal);
    expect(mountsIn(repo)).toEqual([dir]);
  });

  test.each([
    ['made', 'rm overlay/whole', false],
    ['made, without a mount', 'rm overlay/whole', true],
    ['removed', 'mv overlay overlay.gone', false],
    ['removed, without a mount', 'mv overlay overlay.gone', true],
  ])('goes if it is half %s, and is made anew', async (_, harm, isUnmounted) => {
    await using repo = await mountRepo();
    const ground = await testGround(repo, OVERLAY);
    const { dir } = await openTask(ground, 'one');
    execFileSync('sh', ['-ec', harm], { cwd: join(repo.commonDir, 'worktrees', 'one') });
    if (isUnmounted) execFileSync('umount', [dir]);
    await repair(ground, repo.signal);
    expect([mountsIn(repo), existsSync(dir)]).toEqual([[], false]);
    expect(await repo.git('worktree', 'list')).not.toContain(dir);
    expect(readdirSync(repo.commonDir).filter((name) => /landfast-worktree/.test(name))).toEqual(
      [],
    );
    expect((await openTask(ground, 'one', 2)).dir).toBe(dir);
    expect(await status(repo, dir)).toBe('');
  });

  test('is made again although an agent has removed its link to git', async () => {
    await using repo = await mountRepo();
    const ground = await testGround(repo, OVERLAY);
    const { dir } = await openTask(ground, 'one');
    rmSync(join(dir, '.git'));
    await openTask(ground, 'one', 2);
    expect(await status(repo, dir)).toBe('');
  });

  test('is not lost with another that was waited for together', async () => {
    await using repo = await mountRepo();
    const ground = await testGround(repo, OVERLAY);
    const order = {
      attempt: 1,
      base: await head(repo),
      start: { kind: 'fresh' },
      mark: MARK,
    } as const;
    const stop = new AbortController();
    const first = createWorkspace(ground, { ...order, task: 'one' }, stop.signal);
    const second = createWorkspace(ground, { ...order, task: 'two' }, repo.signal);
    stop.abort('cancelled');
    expect([(await first).kind, (await second).kind]).toEqual(['stopped', 'ready']);
  });

  test('gets what set-up has made elsewhere', async () => {
    await using repo = await mountRepo({ '.gitignore': 'deps/\nsetups\n', lock: '1\n' });
    const setup = ['mkdir deps; echo made > deps/x', `echo ran >> ${repo.outside}/setups`];
    const run = await runPlan(repo, {
      tasks: {
        one: { prompt: 'cat deps/x > one' },
        two: { prompt: 'cat deps/x > two', needs: ['one'] },
      },
      more: { workspace: { ...OVERLAY, setup, setup_key: ['lock'], seed: ['deps'] } },
    });
    expect(run.code).toBe(0);
    expect(await repo.git('show', 'main:one', 'main:two')).toBe('made\nmade');
    expect(readFileSync(join(repo.outside, 'setups'), 'utf8')).toBe('ran\n');
    expect(await repo.git('ls-tree', '--name-only', 'main')).toBe('.gitignore\nlock\none\ntwo');
  });

  test('keeps what it is mounted over, also behind a link', async () => {
    await using repo = await mountRepo();
    mkdirSync(join(repo.outside, 'real'));
    symlinkSync('real', join(repo.outside, 'link'));
    const run = await runPlan(repo, {
      tasks: { bad: { prompt: 'echo half > half; exit 1', retries: 0 } },
      more: { workspace: { ...OVERLAY, dir: '../link' } },
    });
    const dir = join(repo.outside, 'real', run.run, 'bad');
    const options = { cwd: repo.dir, env: { HOME: repo.outside } };
    const cleaned = await landfast(['cleanup', '--yes', '--json'], options);
    const { removed } = JSON.parse(cleaned.stdout) as { readonly removed: readonly string[] };
    expect([cleaned.code, removed.filter((path) => path.startsWith('/'))]).toEqual([0, []]);
    expect(await status(repo, dir)).toBe('?? half');
    execFileSync('umount', [dir]);
    await expect(removeWorktree(repo.commonDir, dir, repo.signal)).rejects.toThrow(/may hold work/);
    expect((await landfast(['cleanup', '--yes', '--all'], options)).code).toBe(0);
    expect([mountsIn(repo), existsSync(join(repo.outside, 'real'))]).toEqual([[], false]);
  });

  test('counts with what is different in it, and its floor once', async () => {
    await using repo = await mountRepo();
    const ground = await testGround(repo, OVERLAY);
    const [one, two] = [await openTask(ground, 'one'), await openTask(ground, 'two')];
    writeFileSync(join(one.dir, 'big'), 'x'.repeat(100_000));
    const mounts = mountsOf(repo.commonDir);
    expect([...mounts.keys()].toSorted()).toEqual([one.dir, two.dir]);
    const { floor, upper = '' } = mounts.get(one.dir) ?? {};
    expect([floor, statSync(join(upper, 'big')).size]).toEqual([floorDir(ground), 100_000]);
    expect(readdirSync(mounts.get(two.dir)?.upper ?? '')).toEqual(['.git']);
  });

  test('keeps what it is mounted over; without one that goes to the pool', async () => {
    await using repo = await mountRepo();
    const ground = await testGround(repo, OVERLAY);
    const { dir } = await openTask(ground, 'one');
    await expect(removeWorktree(repo.commonDir, floorDir(ground), repo.signal)).rejects.toThrow(
      /mounted over it/,
    );
    await removeRunFolder(ground, repo.signal);
    expect(await status(repo, dir)).toBe('');
    await closeTask(ground, 'one');
    await removeRunFolder(ground, repo.signal);
    expect(ground.pool.idle()).toHaveLength(1);
    expect(existsSync(floorDir(ground))).toBe(false);
    const next = await testGround(repo, OVERLAY, { run: 'r2', pool: ground.pool });
    await openTask(next, 'two');
    expect(ground.pool.idle()).toHaveLength(0);
  });

  test('goes although a process is still in it', async () => {
    await using repo = await mountRepo();
    const ground = await testGround(repo, OVERLAY);
    const { dir } = await openTask(ground, 'one');
    const before = process.cwd();
    process.chdir(dir);
    try {
      await closeTask(ground, 'one');
    } finally {
      process.chdir(before);
    }
    expect([mountsIn(repo), existsSync(dir)]).toEqual([[], false]);
  });

  test('is what all tasks of a run work in; what fails is kept, taken up again, and cleaned up', async () => {
    await using repo = await mountRepo();
    const says = 'stat -f -c %T .';
    const plan = {
      tasks: {
        one: { prompt: `${says} > one.txt` },
        two: { prompt: `${says} > two.txt; git mv d moved`, needs: ['one'] },
        bad: { prompt: 'echo half > half; test -e ../../go', retries: 0 },
      },
      gates: [{ name: 'here', run: 'test ! -e half' }],
      more: { workspace: OVERLAY },
    };
    const run = await runPlan(repo, plan);
    expect([run.code, run.failure('bad')?.kind]).toEqual([1, 'transient']);
    expect(await repo.git('show', 'main:one.txt', 'main:two.txt')).toBe('overlayfs\noverlayfs');
    expect(await repo.git('ls-tree', '--name-only', 'main', 'moved/')).toContain('moved/e');
    const dir = join(`${repo.dir}.worktrees`, run.run, 'bad');
    expect(mountsIn(repo)).toEqual([dir]);
    execFileSync('umount', [dir]);
    const env = { HOME: repo.outside };
    const { stdout } = await landfast(['worktrees'], { cwd: repo.dir, env });
    expect(stdout).toContain('landfast cleanup');
    expect(readFileSync(join(dir, 'half'), 'utf8')).toBe('half\n');
    const resumed = await landfast(['resume'], { cwd: repo.dir, env });
    expect(resumed.code).toBe(1);
    const kept = `refs/landfast/kept/${run.run}/bad.1:half`;
    expect(await repo.git('show', kept)).toBe('half');
    const cleaned = await landfast(['cleanup', '--all', '--yes'], { cwd: repo.dir, env });
    expect([cleaned.code, mountsIn(repo)]).toEqual([0, []]);
    expect(existsSync(`${repo.dir}.worktrees`)).toBe(false);
  });
});

test('where nothing can be mounted, a workspace is filled, and the run says why', async () => {
  await using repo = await tempRepo({ files: FILES });
  mkdirSync(join(repo.outside, 'a,b'));
  const run = await runPlan(repo, {
    tasks: { one: { prompt: 'stat -f -c %T . > one.txt' } },
    more: { workspace: { overlay: true, dir: '../a,b' } },
  });
  expect(run.code).toBe(0);
  expect(run.stderr).toContain('No overlay can be mounted here (');
  expect(await repo.git('show', 'main:one.txt')).not.toContain('overlay');
});
