/** Runtimes of one process: each has its own variables, shells, git processes and caches. */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { currentRuntime, environment, PerRuntime, Runtime } from '../../src/base/runtime.ts';
import { type Span, timed } from '../../src/base/timing.ts';
import { git } from '../../src/git/git.ts';
import { nameOf } from '../../src/git/long-lived.ts';
import { treeOf } from '../../src/git/refs.ts';
import { settingsIn } from '../../src/git/settings.ts';
import { addWorktree, listWorktrees, removeWorktree } from '../../src/git/worktree.ts';
import { processList } from '../../src/process/process-list.ts';
import { giveScratch, takeScratch } from '../../src/process/scratch.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

function open(name: string, repository: TempRepo, onSpan?: (span: Span) => void): Runtime {
  const env = { ...process.env, SECRET: name, TMPDIR: repository.outside };
  return new Runtime({ env, run: name, repository, onSpan: onSpan ?? null });
}

/** What git sees of a variable that we set. */
async function secretSeen({ dir, signal }: TempRepo): Promise<string> {
  const config = { 'alias.secret': '!printf %s "$SECRET"' };
  return (await git(dir, ['secret'], signal, { config })).stdout;
}

function children(): ReadonlySet<number> {
  const mine = processList().filter(({ parent }) => parent === process.pid);
  return new Set(mine.map(({ pid }) => pid));
}

test('one is closed while the other works: nothing of either is seen or ended by the other', async () => {
  await using first = await tempRepo();
  await using second = await tempRepo();
  const before = children();
  const one = open('one', first);
  const two = open('two', second);

  const work = (runtime: Runtime, repo: TempRepo) =>
    runtime.enter(async () => {
      const head = await repo.git('rev-parse', 'main');
      expect(await nameOf(repo.commonDir, 'refs/heads/main')).toBe(head);
      const scratch = takeScratch(runtime.run ?? '');
      await giveScratch(scratch);
      return { secret: await secretSeen(repo), scratch, used: children() };
    });
  const [ofOne, ofTwo] = await Promise.all([work(one, first), work(two, second)]);
  expect([ofOne.secret, ofTwo.secret]).toEqual(['one', 'two']);
  expect(ofOne.scratch.startsWith(first.outside)).toBe(true);
  expect(ofTwo.scratch.startsWith(second.outside)).toBe(true);
  // The processes of one repository answer nothing in the runtime of the other.
  expect(await two.enter(() => nameOf(first.commonDir, 'refs/heads/main'))).toBe(null);

  const config = { 'alias.slow': '!sleep 0.3; printf %s "$SECRET"' };
  const slow = two.enter(() => git(second.dir, ['slow'], second.signal, { config }));
  await one[Symbol.asyncDispose]();
  expect((await slow).stdout).toBe('two');
  expect((await work(two, second)).secret).toBe('two');
  // Whoever still is in a closed one starts git directly, with the same variables.
  expect(await one.enter(() => secretSeen(first))).toBe('one');
  expect(await one.enter(() => nameOf(first.commonDir, 'refs/heads/main'))).toBe(null);

  await two[Symbol.asyncDispose]();
  expect([...children()].filter((pid) => !before.has(pid))).toEqual([]);
  const places = [first.outside, second.outside].flatMap((dir) => readdirSync(dir));
  expect(places.filter((name) => name.startsWith('landfast-'))).toEqual([]);
});

test('an answer that one remembers is not told to the other, nor outside of both', async () => {
  await using repo = await tempRepo();
  const { commonDir, signal } = repo;
  const read = async () => (await settingsIn(commonDir, signal)).get('some.value');
  const withConfig = (name: string): Runtime => {
    const GIT_CONFIG_PARAMETERS = `'some.value=${name}'`;
    return new Runtime({ env: { ...process.env, GIT_CONFIG_PARAMETERS } });
  };
  await using one = withConfig('one');
  await using two = withConfig('two');
  for (let twice = 0; twice < 2; twice += 1) {
    expect(await Promise.all([one.enter(read), two.enter(read), read()])).toEqual([
      'one',
      'two',
      undefined,
    ]);
  }
  // A replaced commit has another tree for whoever asks git again.
  const commit = await repo.commit('main', { a: 'a\n' });
  const other = await repo.commit('other', { a: 'b\n' });
  const tree = () => treeOf(repo.dir, commit, signal);
  const old = await one.enter(tree);
  await repo.git('replace', commit, other);
  expect(await one.enter(tree)).toBe(old);
  expect(await two.enter(tree)).toBe(await repo.git('rev-parse', 'other^{tree}'));
});

test('the current one is that of the call, through awaits and timers; spans go to it alone', async () => {
  const told: string[] = [];
  const runtimes = ['a', 'b'].map(
    (name) => new Runtime({ env: { name }, onSpan: ({ of }) => void told.push(`${name} ${of}`) }),
  );
  const names = runtimes.map(({ env, enter }, nth) =>
    enter.call(runtimes[nth]!, async () => {
      await timed({ kind: 'test', of: env.name ?? '', name: '' }, () => sleep(5 * (2 - nth)));
      return environment().name;
    }),
  );
  expect(await Promise.all(names)).toEqual(['a', 'b']);
  expect(told).toEqual(['b b', 'a a']);
  expect([currentRuntime(), environment()]).toEqual([null, process.env]);
});

test('every value is closed, also where another one fails to', async () => {
  const closed: string[] = [];
  const failing = new PerRuntime(
    () => 'failing',
    async () => Promise.reject(new Error('stuck')),
  );
  const good = new PerRuntime(
    () => 'good',
    async (value) => void closed.push(value),
  );
  const unused = new PerRuntime(
    () => 'unused',
    async (value) => void closed.push(value),
  );
  const runtime = new Runtime({ env: {} });
  expect(runtime.enter(() => [failing.current, good.current, good.current])).toEqual([
    'failing',
    'good',
    'good',
  ]);
  await expect(runtime[Symbol.asyncDispose]()).rejects.toThrow('stuck');
  expect([closed, runtime.enter(() => unused.current), good.current]).toEqual([
    ['good'],
    null,
    null,
  ]);
});

test('three runs of one repository add and remove worktrees at the same time', async () => {
  await using repo = await tempRepo();
  const { commonDir, signal } = repo;
  const commit = await repo.git('rev-parse', 'main');
  const rounds = Array.from({ length: 8 }, (_, nth) => nth);
  const work = (name: string) => async () => {
    for (const round of rounds) {
      const paths = [1, 2].map((n) => join(repo.outside, `trees-${name}`, `${round}-${n}`));
      await Promise.all(
        paths.map((path) =>
          addWorktree(commonDir, { path, branch: `${name}-${path.slice(-3)}`, commit }, signal),
        ),
      );
      await Promise.all(paths.map((path) => removeWorktree(commonDir, path, signal)));
    }
  };
  const names = ['one', 'two', 'three'];
  const runtimes = names.map((run) => new Runtime({ env: process.env, run, repository: repo }));
  try {
    await Promise.all(runtimes.map((runtime, nth) => runtime.enter(work(names[nth]!))));
  } finally {
    await Promise.all(runtimes.map((runtime) => runtime[Symbol.asyncDispose]()));
  }
  expect(await listWorktrees({ commonDir }, signal)).toHaveLength(1);
});
