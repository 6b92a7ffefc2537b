/**
 * Attempts that leave git in a bad state: mid-merge, with stale locks, with an unborn HEAD; and a
 * user who deletes the run's branches. Each ends with a clear message, keeps the work, and the next
 * attempt succeeds.
 */

import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { landfast, type Running, start } from '../support/landfast.ts';
import { nativePlan, type PlanParts } from '../support/native-plan.ts';
import { runPlan } from '../support/run-plan.ts';
import { standIns } from '../support/stand-ins.ts';
import { runGit, type TempRepo, tempRepo } from '../support/temp-repo.ts';

// Git commands wait for a lock that is held.

const RETRY = { retries: 1, retry: { pause: 0 } };

/** On its own branch, with nothing in progress, changed or locked. */
const IS_WELL = `own=landfast/$LANDFAST_RUN.$LANDFAST_TASK
  test "$(git symbolic-ref --short HEAD)" = "$own" &&
  test -z "$(git status --porcelain)" && git merge-base --is-ancestor main HEAD &&
  test ! -e "$(git rev-parse --git-path rebase-merge)" && git commit -q --allow-empty -m Well`;

/** Tasks whose first attempt breaks something, and whose second succeeds if git is usable. */
function breaking(scripts: Readonly<Record<string, string>>, more = {}): PlanParts['tasks'] {
  const tasks = Object.entries(scripts).map(([id, script]) => {
    const again = `${IS_WELL} && echo 1 > ${id}.txt`;
    const prompt = `if test $LANDFAST_ATTEMPT = 1; then\n${script}\nelse\n${again}\nfi`;
    return [id, { prompt, ...more }] as const;
  });
  return Object.fromEntries(tasks);
}

/** Appends a line to each script. */
function ending(scripts: Readonly<Record<string, string>>, end: string): Record<string, string> {
  return Object.fromEntries(Object.entries(scripts).map(([id, text]) => [id, `${text}\n${end}`]));
}

const filesAt = async (repo: TempRepo, commit: string): Promise<readonly string[]> =>
  (await repo.git('ls-tree', '--name-only', commit)).split('\n');

describe('an attempt that ends in the middle of a merge', () => {
  /** Two conflicting commits: one on a branch `$side`, one on the task's own. */
  const part = `side=side-$LANDFAST_TASK; git checkout -q -b $side
    echo theirs > same; git commit -qam theirs
    git checkout -q -; echo ours > same; git commit -qam ours`;
  const marked = {
    merge: `${part}; git merge -q $side`,
    rebase: `${part}; git rebase -q $side`,
    pick: `${part}; git cherry-pick $side`,
    stash: 'echo 1 > same; git stash -q; echo 2 > same; git commit -qam two; git stash pop',
  };
  // Modified here, deleted there: no markers, only the index knows of the conflict.
  const unmarked = `${part}; git checkout -q $side; git rm -q same; git commit -qm gone
    git checkout -q -; git merge -q $side`;
  const broken = { ...marked, unmarked };
  const names = Object.keys(broken);
  // While git adds a worktree, a checkout in another one may fail: its files are not complete yet.
  const all = `mkdir -p ../../../begun; touch ../../../begun/$LANDFAST_TASK
    until test "$(ls ../../../begun | wc -l)" = ${names.length}; do sleep 0.02; done`;
  const scripts = Object.fromEntries(
    Object.entries(broken).map(([id, script]) => [id, `${all}\n${script}`]),
  );

  test('fails and is left untouched; a retry keeps it by a ref first', async () => {
    await using repo = await tempRepo({ files: { same: 'nobody\n' } });
    const tasks = breaking(ending(scripts, 'true'));
    const run = await runPlan(repo, { workers: names.length, tasks });
    expect(run).toMatchObject({ code: 1 });
    expect(run.of('attempt.finished')).toEqual([]);
    for (const name of names) {
      expect(run.failure(name)?.message).toContain('same');
      const dir = join(repo.outside, 'repo.worktrees', run.run, name);
      expect(await runGit(dir, ['diff', '--name-only', '--diff-filter=U'])).toBe('same');
    }
    const resumed = await landfast(['resume'], { cwd: repo.dir });
    expect(resumed.code, resumed.stderr).toBe(0);
    const landed = [...names.map((name) => `${name}.txt`), 'same'];
    expect(await filesAt(repo, 'main')).toEqual(landed.sort());
    expect(await repo.git('show', 'main:same')).toBe('nobody');
    for (const name of Object.keys(marked)) {
      const kept = await repo.git('show', `refs/landfast/kept/${run.run}/${name}.1:same`);
      expect(kept).toMatch(/^<{7} .*^={7}$.*^>{7} /ms);
    }
  });
});

describe('an attempt that leaves the locks of a killed git', () => {
  /** Starts a git that locks HEAD and its branch; it reads from fd 3 and answers on fd 4. */
  const hold = `pipes=$(mktemp -d); mkfifo $pipes/in $pipes/out
    git update-ref --stdin < $pipes/in > $pipes/out & exec 3> $pipes/in 4< $pipes/out
    next=$(git commit-tree -p HEAD -m Held HEAD^{tree})
    printf 'start\\nupdate HEAD %s\\nprepare\\n' $next >&3
    read said <&4; read said <&4; test "$said" = 'prepare: ok' || exit 9`;
  const leave = `${hold}; kill -9 $!
    touch "$(git rev-parse --git-path index.lock)" "$(git rev-parse --git-path ORIG_HEAD.lock)"
    test -e "$(git rev-parse --git-path "$(git symbolic-ref HEAD)").lock" || exit 9`;

  test('lands if it succeeded, else is retried; a lock held by a live git stays', async () => {
    await using repo = await tempRepo();
    const go = join(repo.outside, 'go');
    const engine = runIn(repo, {
      tasks: {
        ...breaking({ bad: `${leave}; exit 1` }, RETRY),
        good: `echo 1 > good.txt; ${leave}`,
        holds: `${hold}; until test -e ${go}; do sleep 0.02; done
          echo commit >&3; read said <&4; test "$said" = 'commit: ok' && echo 1 > holds.txt`,
      },
    });
    await untilOver(engine, 'bad');
    await untilOver(engine, 'good');
    writeFileSync(go, '');
    expect(await engine.ended).toMatchObject({ code: 0 });
    const attempts = engine.entries.filter(({ event }) => event.type === 'attempt.started');
    expect(attempts).toHaveLength(4); // Only `bad` needs a second one.
    const files = ['README.md', 'bad.txt', 'good.txt', 'holds.txt'];
    expect(await filesAt(repo, 'main')).toEqual(files);
    const left = readdirSync(repo.commonDir, { recursive: true, encoding: 'utf8' });
    expect(left.filter((name) => name.endsWith('.lock'))).toEqual([]);
  });
});

/** Starts a run with `--events`. */
function runIn(repo: TempRepo, plan: PlanParts, env = {}): Running {
  writeFileSync(join(repo.outside, 'plan.yaml'), nativePlan(plan));
  return start(['run', '../plan.yaml', '--events'], { cwd: repo.dir, env });
}

/** Waits until a task has landed or failed for good. */
async function untilOver(engine: Running, task: string): Promise<void> {
  const ends = ['merge.landed', 'task.failed'];
  await engine.until(({ entries }) =>
    entries.some(
      ({ event }) => ends.includes(event.type) && 'task' in event && event.task === task,
    ),
  );
}

describe('an attempt that leaves an unborn HEAD or unrelated history', () => {
  const scripts = {
    orphan: 'echo 1 > left; git checkout -q --orphan lonely',
    root: 'echo 1 > left; git add left; git checkout -q --orphan alone; git commit -qm Root',
    deleted: 'echo 1 > left; git update-ref -d HEAD',
    committed: 'echo 1 > left; git add left; git commit -qm One; git update-ref -d HEAD',
  };
  const names = Object.keys(scripts);
  const landed = ['README.md', ...names.map((name) => `${name}.txt`)].sort();

  test.each([
    ['retried', RETRY, []],
    ['resumed', {}, ['resume']],
  ])('is %s from its base, and its work is kept', async (_, retry, then) => {
    await using repo = await tempRepo();
    const run = await runPlan(repo, { tasks: breaking(ending(scripts, 'exit 1'), retry) });
    const last = then.length === 0 ? run : await landfast(then, { cwd: repo.dir });
    expect(last).toMatchObject({ code: 0 });
    expect(await filesAt(repo, 'main')).toEqual(landed);
    for (const name of names) {
      const kept = `refs/landfast/kept/${run.run}/${name}.1`;
      expect(await filesAt(repo, kept)).toEqual(['README.md', 'left']);
    }
  });

  test('continues in the same session with its files in place', async () => {
    await using repo = await tempRepo();
    const cases = Object.entries(scripts).map(([name, text]) => `1.${name}) ${text}; exit 1;;`);
    const claude = `hello
      case $LANDFAST_ATTEMPT.$LANDFAST_TASK in
        ${cases.join('\n')}
        *) mv left $LANDFAST_TASK.txt && result '"is_error":false';;
      esac`;
    const task = { agent: 'claude', prompt: 'Do it.', ...RETRY };
    const tasks = Object.fromEntries(names.map((name) => [name, task]));
    const run = await runPlan(repo, { tasks }, { env: standIns(repo, { claude }) });
    expect(run).toMatchObject({ code: 0 });
    const starts = run.of('attempt.started').map(({ start: { kind } }) => kind);
    expect(starts.sort()).toEqual([...Array(4).fill('continue'), ...Array(4).fill('fresh')]);
    expect(await filesAt(repo, 'main')).toEqual(landed);
  });

  test('with exit code 0 either lands or fails and can be resumed', async () => {
    await using repo = await tempRepo();
    const base = await repo.git('rev-parse', 'main');
    const run = await runPlan(repo, { tasks: breaking(scripts) });
    expect(run.stderr).not.toContain('unrelated histories');
    for (const { commit } of run.of('attempt.finished')) {
      await repo.git('merge-base', '--is-ancestor', base, commit ?? 'none');
    }
    const last = run.code === 0 ? run : await landfast(['resume'], { cwd: repo.dir });
    expect(last).toMatchObject({ code: 0 });
  });
});

describe('deleting all branches of a run', () => {
  test.each([
    ['an agent works', 'attempt.session'],
    ['a candidate is in its gate', 'gate.started'],
  ])('while %s loses nothing: they are made again, and all work lands', async (_, fact) => {
    await using repo = await tempRepo();
    const go = `until test -e ${repo.outside}/go; do sleep 0.02; done`;
    const isAgent = fact === 'attempt.session';
    const claude = `hello; ${isAgent ? go : 'true'}; echo 2 > two.txt; result '"is_error":false'`;
    const plan = {
      gates: isAgent ? [] : [{ name: 'waits', run: `test ! -e two.txt || { ${go}; }` }],
      tasks: {
        one: 'echo 1 > one.txt',
        two: { agent: 'claude', needs: ['one'], prompt: 'Do it.' },
      },
    };
    const env = standIns(repo, { claude });
    const engine = runIn(repo, plan, env);
    await engine.untilFact(fact, 'two');
    const refs = await repo.git(
      'for-each-ref',
      '--format=delete %(refname)',
      'refs/heads/landfast',
    );
    await runGit(repo.dir, ['update-ref', '--stdin'], `${refs}\n`);
    writeFileSync(join(repo.outside, 'go'), '');

    const { code, stderr } = await engine.ended;
    expect(code, stderr).toBe(0);
    expect(await filesAt(repo, 'main')).toEqual(['README.md', 'one.txt', 'two.txt']);
    expect(existsSync(join(repo.outside, 'repo.worktrees'))).toBe(false);
  });
});
