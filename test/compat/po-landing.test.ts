/** Running parallel-orchestra manifests: worktrees, commits, and what reaches the user's branch. */

import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { writeFiles } from '../support/temp-dir.ts';
import { hasLanded, manifest, poProject, timeless, until } from './po-project.ts';

const ONE_WRITER = manifest('  - { id: a, agent: adder, read_only: false }\n');
const ADD_ONE = { adder: 'echo one > one.txt' };

// Keep.
test('PO-34: a write task starts in a worktree of its own, unattended and guarded', async () => {
  const adder = `
printf '%s\\n' "$@" > "$OUT/argv"
pwd > "$OUT/cwd"
git rev-parse --show-toplevel > "$OUT/top"
git symbolic-ref --short HEAD > "$OUT/branch"
echo "$PO_WORKTREE_GUARD $COLOUR" > "$OUT/env"
echo one > one.txt`;
  const task = '  - { id: a, agent: adder, read_only: false, env: { COLOUR: blue } }\n';
  await using project = await poProject({
    plan: manifest(task),
    agents: { adder },
  });

  const ended = await project.run();

  const argv = (await project.read('argv')).split('\n');
  expect(ended.code).toBe(0);
  expect(argv).toContain('--dangerously-skip-permissions');
  expect(argv).toContain('-p');
  expect(argv[argv.indexOf('--agent') + 1]).toBe('adder');
  expect(await project.read('cwd')).toBe(await project.read('top'));
  expect(await project.read('cwd')).not.toBe(project.dir);
  expect(await project.read('branch')).toMatch(/^parallel-orchestra\/a-[0-9a-f]{8}$/);
  expect(await project.read('env')).toBe('1 blue');
});

// Fix: b started from the same commit as a and did not see its work.
test("PO-41: a task that depends on another finds that one's files", async () => {
  const tasks = `
  - { id: a, agent: adder, read_only: false }
  - { id: b, agent: lister, read_only: false, depends_on: [a] }
  - { id: c, agent: reviewer, read_only: true, depends_on: [b] }
`;
  await using project = await poProject({
    plan: manifest(tasks),
    agents: {
      ...ADD_ONE,
      lister: 'ls > "$OUT/seen-by-b"; echo two > two.txt',
      reviewer: 'ls > "$OUT/seen-by-c"',
    },
  });

  const ended = await project.run();

  expect(ended.code).toBe(0);
  expect(await project.read('seen-by-b')).toBe('README.md\none.txt\nplan.md');
  expect(await project.read('seen-by-c')).toBe('README.md\none.txt\nplan.md\ntwo.txt');
});

// Keep.
test('PO-43: commits of the agent and what it left uncommitted land together', async () => {
  const adder = `
echo one > one.txt
git add one.txt
git commit --quiet --message 'One, by the agent'
echo two > two.txt`;
  await using project = await poProject({ plan: ONE_WRITER, agents: { adder } });

  const ended = await project.run();

  const subjects = await project.repo.git('log', '--topo-order', '--format=%s', 'main');
  expect(ended.code).toBe(0);
  expect(subjects.split('\n')).toEqual([
    'Merge parallel-orchestra task a',
    'parallel-orchestra: task a [auto-commit]',
    'One, by the agent',
    'Change',
  ]);
  expect(await project.files()).toEqual(['README.md', 'one.txt', 'plan.md', 'two.txt']);
  expect(await readFile(join(project.dir, 'two.txt'), 'utf8')).toBe('two\n');
});

// Keep.
test('PO-44: a write task that changes nothing is ok and makes no commit', async () => {
  await using project = await poProject({
    plan: ONE_WRITER,
    agents: { adder: 'echo "There was nothing to do."' },
  });
  const before = await project.repo.git('rev-parse', 'main');

  const ended = await project.run();

  expect(ended.code).toBe(0);
  expect(timeless(ended)).toEqual(['[ok] a (adder) duration=? returncode=0']);
  expect(await project.repo.git('rev-parse', 'main')).toBe(before);
  expect(await project.taskBranches()).toEqual([]);
});

// Fix: c was left pending, no report was written, and no message named the file that conflicts.
test('PO-46: a conflict keeps one branch and stops no other task; the exit code is 3', async () => {
  const tasks = `
  - { id: a, agent: first, read_only: false }
  - { id: b, agent: second, read_only: false }
  - { id: c, agent: adder, read_only: false }
`;
  await using project = await poProject({
    plan: manifest(tasks),
    agents: {
      ...ADD_ONE,
      first: 'echo "of a" > same.txt',
      second: `echo "of b" > same.txt\n${until(hasLanded('a'))}`,
    },
    files: { 'same.txt': 'of nobody\n' },
  });

  const ended = await project.run('--report', join(project.outside, 'report.json'));

  expect(ended.code).toBe(3);
  expect(await project.show('same.txt')).toBe('of a');
  expect(await project.show('one.txt')).toBe('one');
  expect(await project.repo.git('status', '--porcelain')).toBe('');
  const [kept = '', ...others] = await project.taskBranches();
  expect(others).toEqual([]);
  expect(kept).toMatch(/^parallel-orchestra\/b-[0-9a-f]{8}$/);
  expect(await project.repo.git('show', `${kept}:same.txt`)).toBe('of b');
  expect(ended.stderr).toContain('same.txt');
  expect(ended.stderr).toContain(kept);
  const labels = timeless(ended).map((line) => line.split(' ').slice(0, 2).join(' '));
  expect(labels).toEqual(['[ok] a', '[fail] b', '[ok] c']);
  const report = JSON.parse(await project.read('report.json'));
  expect(report).toMatchObject({ total: 3, succeeded: 2, failed: 1, skipped: 0 });
});

// Keep.
test('PO-46: work is merged in the order of the manifest, whichever task finishes first', async () => {
  const tasks = `
  - { id: a, agent: slow, read_only: false }
  - { id: b, agent: quick, read_only: false }
`;
  await using project = await poProject({
    plan: manifest(tasks),
    agents: {
      slow: `${until('git branch --list "parallel-orchestra/b-*" --format="%(subject)" | grep -q task')}
echo "of a" > same.txt`,
      quick: 'echo "of b" > same.txt',
    },
    files: { 'same.txt': 'of nobody\n' },
  });

  const ended = await project.run();

  expect(ended.code).toBe(3);
  expect(await project.show('same.txt')).toBe('of a');
  expect(timeless(ended).map((line) => line.slice(0, 8))).toEqual(['[ok] a (', '[fail] b']);
});

// Fix: it was found when everything was done.
test.each([
  ['an edit', 'one.txt'],
  ['a new file', 'src/new.txt'],
])('PO-49: %s in the way is found before any agent starts, exit code 3', async (_, edited) => {
  const tasks = '  - { id: a, agent: adder, read_only: false, writes: [one.txt, src] }\n';
  await using project = await poProject({
    plan: manifest(tasks),
    agents: ADD_ONE,
    files: { 'one.txt': 'of nobody\n' },
  });
  await writeFiles(project.dir, { [edited]: 'mine\n' });

  const ended = await project.run();

  expect(ended.code).toBe(3);
  expect(ended.stderr).toContain(`in the way: ${edited}, which tasks will write.`);
  expect(await project.calls()).toEqual([]);
  expect(await readFile(join(project.dir, edited), 'utf8')).toBe('mine\n');
});

// Keep.
test('PO-49: an unrelated edit in the checkout is neither in the way nor touched', async () => {
  await using project = await poProject({ plan: ONE_WRITER, agents: ADD_ONE });
  await writeFiles(project.dir, { 'README.md': 'my edit\n' });

  const ended = await project.run();

  expect(ended.code).toBe(0);
  expect(await project.files()).toContain('one.txt');
  expect(await readFile(join(project.dir, 'one.txt'), 'utf8')).toBe('one\n');
  expect(await readFile(join(project.dir, 'README.md'), 'utf8')).toBe('my edit\n');
  expect(await project.repo.git('status', '--porcelain')).toBe('M README.md');
});

// Keep.
test('PO-50: what went well lands though another task failed; the exit code is 1', async () => {
  const tasks = `
  - { id: good, agent: adder, read_only: false }
  - { id: bad, agent: breaker, read_only: false, max_retries: 0 }
`;
  await using project = await poProject({
    plan: manifest(tasks),
    agents: { ...ADD_ONE, breaker: 'echo half > half.txt; exit 1' },
  });

  const ended = await project.run();

  expect(ended.code).toBe(1);
  expect(await project.files()).toEqual(['README.md', 'one.txt', 'plan.md']);
  expect(timeless(ended)).toEqual([
    '[ok] good (adder) duration=? returncode=0',
    '[fail] bad (breaker) duration=? returncode=1 category=transient',
  ]);
});

// Fix: the task was ok, the exit code 0, and the work was gone.
test('PO-52: work that a pre-commit hook rejects fails the task and is kept', async () => {
  await using project = await poProject({
    plan: ONE_WRITER,
    agents: { adder: 'echo precious > one.txt; pwd > "$OUT/cwd"' },
  });
  const hook = join(project.repo.commonDir, 'hooks', 'pre-commit');
  await writeFiles(project.repo.commonDir, {
    'hooks/pre-commit': '#!/bin/sh\necho "no tabs, please" >&2\nexit 1\n',
  });
  await chmod(hook, 0o755);

  const ended = await project.run();

  expect(ended.code).toBe(1);
  const [line = '', ...others] = timeless(ended);
  expect(others).toEqual([]);
  expect(line).toMatch(/^\[fail\] a \(adder\) /);
  expect(`${line}\n${ended.stderr}`).toContain('no tabs, please');
  expect(await project.files()).toEqual(['README.md', 'plan.md']);
  const workspace = await project.read('cwd');
  expect(await readFile(join(workspace, 'one.txt'), 'utf8')).toBe('precious\n');
});

// Fix: each failed attempt left a branch, and nothing ever removed them.
test('PO-31: cleanup removes the branch of a failed task that holds nothing', async () => {
  await using project = await poProject({
    plan: manifest('  - { id: a, agent: bad, read_only: false, max_retries: 0 }\n'),
    agents: { bad: 'echo half > half.txt; exit 1' },
  });
  expect((await project.run()).code).toBe(1);
  expect(await project.taskBranches()).toHaveLength(1);

  const cleaned = await landfast(['cleanup', '--all', '--yes'], { cwd: project.dir });

  expect(cleaned.code).toBe(0);
  expect(await project.taskBranches()).toEqual([]);
});
