/** What a run does with its tasks: order, judging, gates, landing, keeping. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runPlan } from '../support/run-plan.ts';
import { tempRepo } from '../support/temp-repo.ts';

test('dependants start from a head that holds what they need; everything lands once', async () => {
  await using repo = await tempRepo();
  const run = await runPlan(repo, {
    tasks: {
      one: 'echo one > one.txt',
      two: { needs: ['one'], prompt: 'cat one.txt > two.txt' },
      three: { needs: ['two'], prompt: 'cat one.txt two.txt > three.txt' },
    },
  });
  expect(run).toMatchObject({ code: 0 });
  const landed = run.of('merge.landed');
  expect(landed.map(({ task }) => task)).toEqual(['one', 'two', 'three']);
  expect(run.of('attempt.started').map(({ base }) => base)).toEqual([
    run.of('run.started')[0]?.base,
    landed[0]?.commit,
    landed[1]?.commit,
  ]);
  expect(readFileSync(join(repo.dir, 'three.txt'), 'utf8')).toBe('one\none\n');
  expect(await repo.git('status', '--porcelain')).toBe('');
  expect(await repo.git('branch', '--format=%(refname:short)')).toBe('main');
  expect(await repo.git('for-each-ref', 'refs/landfast')).toBe('');
  expect(readdirSync(repo.outside)).not.toContain('repo.worktrees');
});

/** Waits in a workspace until a file with that text has landed. */
function landed(file: string, text: string): string {
  const look = `git show "landfast/$LANDFAST_RUN:${file}" 2>/dev/null | grep -q ${text}`;
  return `until ${look}; do sleep 0.05; done`;
}

test('the gate sees exactly the tree that lands: green alone, red together, the culprit stays out', async () => {
  await using repo = await tempRepo();
  const run = await runPlan(repo, {
    workers: 2,
    gates: [{ name: 'not-both', run: 'test ! -e left || test ! -e right' }],
    land: { on_gate_failure: 'fail' },
    tasks: {
      left: 'echo l > left',
      right: `${landed('left', 'l')}; echo r > right`,
      free: 'echo f > free',
    },
  });
  expect(run).toMatchObject({ code: 1 });
  expect(run.failure('right')).toMatchObject({
    kind: 'gate-failed',
    gate: 'not-both',
    landedSince: expect.arrayContaining(['left']),
  });
  const landedCommits = run.of('merge.landed').map(({ commit }) => `${commit}^{tree}`);
  const trees = (await repo.git('rev-parse', ...landedCommits)).split('\n');
  const green = run.of('gate.finished').filter(({ ok, on }) => ok && on === undefined);
  expect(green.length).toBeGreaterThan(0);
  expect(trees).toEqual(expect.arrayContaining(green.map(({ tree }) => tree)));
  expect(existsSync(join(repo.dir, 'right'))).toBe(false);
  expect(await repo.git('show', `landfast/${run.run}.right:right`)).toBe('r');
  expect(run.stderr).toContain('red together');
});

test('a script that did not land is run again on the new head', async () => {
  await using repo = await tempRepo({ files: { 'list.txt': 'start\n' } });
  const run = await runPlan(repo, {
    workers: 2,
    tasks: {
      early: 'echo early >> list.txt',
      late: `${landed('list.txt', 'early')}; echo late >> list.txt`,
    },
  });
  expect(run).toMatchObject({ code: 0 });
  expect(run.of('merge.rejected', 'late')[0]?.failure).toMatchObject({
    kind: 'conflict',
    files: ['list.txt'],
    landedSince: ['early'],
  });
  expect(run.of('attempt.started', 'late')[1]?.start.kind).toBe('rework');
  expect(readFileSync(join(repo.dir, 'list.txt'), 'utf8')).toBe('start\nearly\nlate\n');
});

test('a conflict that may not be reworked keeps the branch and lets the others land', async () => {
  await using repo = await tempRepo({ files: { 'a.txt': 'start\n' } });
  const run = await runPlan(repo, {
    land: { on_conflict: 'fail' },
    tasks: {
      mine: 'echo mine > a.txt',
      yours: `${landed('a.txt', 'mine')}; echo yours > a.txt`,
      other: { needs: ['mine'], prompt: 'echo o > other.txt' },
    },
  });
  expect(run).toMatchObject({ code: 1 });
  expect(run.failure('yours')).toMatchObject({ kind: 'conflict', files: ['a.txt'] });
  expect(run.of('merge.landed').map(({ task }) => task)).toEqual(['mine', 'other']);
  expect(await repo.git('show', `landfast/${run.run}.yours:a.txt`)).toBe('yours');
  expect(run.stderr).toContain(`git merge landfast/${run.run}.yours`);
});

test('a task that fails is tried again; what each attempt left is kept by a ref', async () => {
  await using repo = await tempRepo();
  const run = await runPlan(repo, {
    retries: 1,
    tasks: { flaky: 'echo $LANDFAST_ATTEMPT > n.txt; test "$LANDFAST_ATTEMPT" = 2' },
  });
  expect(run).toMatchObject({ code: 0 });
  expect(run.of('attempt.failed')[0]).toMatchObject({
    exitCode: 1,
    failure: { kind: 'exit-code' },
  });
  expect(readFileSync(join(repo.dir, 'n.txt'), 'utf8')).toBe('2\n');
  expect(await repo.git('show', `refs/landfast/kept/${run.run}/flaky.1:n.txt`)).toBe('1');
});

test('a failed task fails its dependants, and no other task', async () => {
  await using repo = await tempRepo();
  const run = await runPlan(repo, {
    tasks: {
      bad: 'exit 1',
      after: { needs: ['bad'], prompt: 'echo x > after.txt' },
      later: { needs: ['after'], prompt: 'echo x > later.txt' },
      free: 'echo x > free.txt',
    },
  });
  expect(run).toMatchObject({ code: 1 });
  expect(run.failure('after')).toMatchObject({ kind: 'dependency-failed', dependency: 'bad' });
  expect(run.failure('later')).toMatchObject({ kind: 'dependency-failed', dependency: 'after' });
  expect(existsSync(join(repo.dir, 'free.txt'))).toBe(true);
});

test('done that is not done: no change, out of scope, forbidden, red checks', async () => {
  await using repo = await tempRepo();
  const run = await runPlan(repo, {
    tasks: {
      nothing: 'echo I did it all',
      astray: { writes: ['src/**'], prompt: 'mkdir src; echo 1 > src/a; echo 2 > stray.txt' },
      forbidden: { forbids: ['secret/**'], prompt: 'mkdir secret; echo 1 > secret/a' },
      unchecked: { checks: ['grep -q good b.txt'], prompt: 'echo bad > b.txt' },
      empty: { allow_empty: true, prompt: 'true' },
      checked: { checks: ['grep -q good c.txt'], prompt: 'echo good > c.txt' },
    },
  });
  expect(run).toMatchObject({ code: 1 });
  expect(run.failure('nothing')?.kind).toBe('no-change');
  expect(run.failure('astray')).toMatchObject({ kind: 'out-of-scope', files: ['stray.txt'] });
  expect(run.failure('forbidden')).toMatchObject({ kind: 'out-of-scope', files: ['secret/a'] });
  expect(run.failure('unchecked')).toMatchObject({ kind: 'checks-failed' });
  expect(run.of('merge.landed').map(({ task }) => task)).toEqual(['checked']);
  const kept = join(repo.outside, 'repo.worktrees', run.run, 'astray', 'stray.txt');
  expect(readFileSync(kept, 'utf8')).toBe('2\n');
});

test('a time limit ends the whole tree of an attempt', async () => {
  await using repo = await tempRepo();
  const script =
    '(setsid nohup sleep 600 >/dev/null 2>&1 &) ; echo partial > p.txt; exec sleep 600';
  const run = await runPlan(repo, { tasks: { slow: { timeout: '3s', prompt: script } } });
  expect(run).toMatchObject({ code: 1 });
  expect(run.failure('slow')).toMatchObject({ kind: 'total-timeout', afterMs: 3000 });
  const { marked } = await import('../../src/process/process-tree.ts');
  expect(marked(`${run.run}/`)).toEqual([]);
});

test('a read task sees the head; its changes are thrown away, reported and kept by a ref', async () => {
  await using repo = await tempRepo();
  const run = await runPlan(repo, {
    tasks: {
      write: 'echo new > new.txt',
      review: { needs: ['write'], read_only: true, prompt: 'cat new.txt; echo junk > junk.txt' },
    },
  });
  expect(run).toMatchObject({ code: 0 });
  expect(run.of('attempt.finished', 'review')[0]).toMatchObject({
    commit: null,
    outside: ['junk.txt'],
    text: 'new',
  });
  expect(existsSync(join(repo.dir, 'junk.txt'))).toBe(false);
  expect(await repo.git('show', `refs/landfast/kept/${run.run}/review:junk.txt`)).toBe('junk');
});

test('tasks of a group and tasks with overlapping scopes do not run together', async () => {
  await using repo = await tempRepo();
  const run = await runPlan(repo, {
    more: { limits: { workers: 4, groups: { db: 1 } } },
    tasks: {
      g1: { group: 'db', prompt: 'sleep 0.2; echo 1 > g1' },
      g2: { group: 'db', prompt: 'sleep 0.2; echo 1 > g2' },
      s1: { writes: ['src/**'], prompt: 'mkdir -p src; sleep 0.2; echo 1 > src/s1' },
      s2: { writes: ['src/s2'], prompt: 'test -e src/s1 && echo 1 > src/s2' },
    },
  });
  expect(run).toMatchObject({ code: 0 });
  const order = run.facts.flatMap((fact) =>
    fact.type === 'attempt.started' || fact.type === 'attempt.finished'
      ? [`${fact.task} ${fact.type.split('.')[1]}`]
      : [],
  );
  const at = (what: string) => order.indexOf(what);
  expect(Math.max(at('g1 started'), at('g2 started'))).toBeGreaterThan(
    Math.min(at('g1 finished'), at('g2 finished')),
  );
  expect(at('s2 started')).toBeGreaterThan(at('s1 finished'));
});

test('set-up, copied files and the environment of an attempt', async () => {
  await using repo = await tempRepo({ files: { '.gitignore': 'node_modules\n.env\n', a: '1\n' } });
  await repo.write({ '.env': 'TOKEN=1\n', 'local.cfg': 'x\n', '.worktreeinclude': '*.cfg\n' });
  const show = 'cat .env local.cfg; test -e node_modules/ready; echo $LANDFAST_RUN $LANDFAST_TASK';
  const run = await runPlan(
    repo,
    {
      more: {
        workspace: { setup: ['mkdir -p node_modules && touch node_modules/ready'], copy: ['.env'] },
      },
      gates: [{ name: 'ready', run: 'test -e node_modules/ready && test -e .env' }],
      tasks: { show: `${show}; env | grep -c SECRET_OF_USER; echo done > out.txt` },
    },
    { env: { SECRET_OF_USER: 'x' } },
  );
  expect(run).toMatchObject({ code: 0 });
  expect(run.of('attempt.finished')[0]).toMatchObject({
    files: ['out.txt'],
    text: `TOKEN=1\nx\n${run.run} show\n0`,
  });
});

test('squash lands one commit a task', async () => {
  await using repo = await tempRepo();
  const own = 'echo 1 > a; git add a; git commit -qm mine; echo 2 > b';
  const run = await runPlan(repo, { land: { strategy: 'squash' }, tasks: { one: own } });
  expect(run).toMatchObject({ code: 0 });
  expect(await repo.git('log', '--format=%s|%p')).toMatch(/^Land one\|[0-9a-f]+\nChange\|$/);
  expect(await repo.git('show', '--format=', '--name-only', 'HEAD')).toBe('a\nb');
  const kept = await repo.git('log', '--format=%s', `refs/landfast/kept/${run.run}/one`);
  expect(kept).toMatch(/\nmine\nChange$/);
});

test('an agent that commits by itself, even on a branch of its own, loses nothing', async () => {
  await using repo = await tempRepo();
  const run = await runPlan(repo, {
    tasks: {
      own: 'git switch -qc elsewhere; echo 1 > a; git add a; git commit -qm "my own"; echo 2 > b',
    },
  });
  expect(run).toMatchObject({ code: 0 });
  expect(await repo.git('log', '--format=%s', '--no-merges')).toContain('my own');
  expect(await repo.git('ls-files')).toBe('README.md\na\nb');
});

test('names with spaces, unicode, quotes and newlines land as they are', async () => {
  await using repo = await tempRepo({ name: 'my répo' });
  const script = `printf x > 'a b.txt'; printf y > 'ünï "q".txt'; printf z > "$(printf 'new\\nline')"`;
  const run = await runPlan(repo, { tasks: { odd: script } });
  expect(run).toMatchObject({ code: 0 });
  expect(run.of('attempt.finished')[0]?.files).toEqual(['a b.txt', 'new\nline', 'ünï "q".txt']);
  expect(readdirSync(repo.dir)).toEqual(expect.arrayContaining(['a b.txt', 'new\nline']));
});

test('--tasks runs only what it names; --report writes JSON and Markdown', async () => {
  await using repo = await tempRepo();
  const report = join(repo.outside, 'deep', 'report.json');
  const plan = { tasks: { a: 'echo 1 > a', b: { needs: ['a'], prompt: 'echo 1 > b' } } };
  const run = await runPlan(repo, plan, { args: ['--tasks', 'b', '--report', report] });
  expect(run).toMatchObject({ code: 0 });
  expect(run.of('merge.landed').map(({ task }) => task)).toEqual(['b']);
  expect(JSON.parse(readFileSync(report, 'utf8'))).toMatchObject({ total: 1, succeeded: 1 });
  expect((await runPlan(repo, plan, { args: ['--tasks', 'zz'] })).code).toBe(2);
});
