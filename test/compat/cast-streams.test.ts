/** Dispatch plans as two streams: sessions, landing, and what becomes of work that fails. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { processList } from '../../src/process/process-list.ts';
import { writeFiles } from '../support/temp-dir.ts';
import { batches, castProject, dispatch } from './cast-project.ts';
import { until } from './po-project.ts';

const PLAN = dispatch(batches(4));
const TWO = ['--streams', '2'];
const A_DONE = '[cast-parallel] Stream A (worktree-a): batches 1,2 - done';
const B_DONE = '[cast-parallel] Stream B (worktree-b): batches 3,4 - done';

/** Shell that commits a file. */
function commits(file: string): string {
  return `echo ${file} > ${file}; git add ${file}; git commit --quiet --message 'Add ${file}'`;
}

// Keep.
test('CP-20: what both streams commit is on the branch, and nothing else is left', async () => {
  await using project = await castProject(PLAN, {
    a: `${commits('one.txt')}\n${until('[ -e "$OUT/b-is-here" ]')}`,
    b: `touch "$OUT/b-is-here"\n${commits('two.txt')}`,
  });

  const ended = await project.run(...TWO);

  expect(ended.code).toBe(0);
  expect(ended.stdout.trim().split('\n')).toEqual([
    A_DONE,
    B_DONE,
    '[cast-parallel] Complete: merged into main',
  ]);
  expect(await project.files()).toEqual(['README.md', 'one.txt', 'plan.md', 'two.txt']);
  expect(await project.repo.git('branch', '--format=%(refname:short)')).toBe('main');
  expect(await project.repo.git('worktree', 'list', '--porcelain')).not.toContain('stream');
  expect(await readFile(join(project.repo.dir, 'two.txt'), 'utf8')).toBe('two.txt\n');
});

// Keep: unattended, in the words of the plan. Fix (X8): the plan's path was unresolvable there.
test('CP-20: a stream is told its batches in full, and which are not its own', async () => {
  const show = 'echo "$PROMPT" > "$OUT/prompt-$agent"; printf "%s\\n" "$@" > "$OUT/argv-$agent"';
  await using project = await castProject(dispatch(batches(3)), { a: show, b: show });

  const ended = await project.run('--split', '1');

  const prompt = await project.read('prompt-b');
  expect(ended.code).toBe(0);
  expect((await project.read('argv-a')).split('\n')).toContain('--dangerously-skip-permissions');
  expect(await project.read('argv-a')).not.toContain('--agent');
  expect(prompt).toContain('Stream A does the batches 1 at the same time');
  expect(prompt).toContain(`The whole plan is ${project.repo.dir}/plan.md`);
  expect(prompt).toContain('## Batch 2: Step 2\n\n### Sub-agent code-writer\n\nDo step 2.');
  expect(prompt).toContain('## Batch 3: Step 3');
  expect(prompt).not.toContain('Do step 1.');
});

// Fix (X2): uncommitted work was destroyed with exit code 0.
test('CP-22: what streams leave uncommitted is committed and lands', async () => {
  await using project = await castProject(PLAN, {
    a: 'mkdir new; echo one > new/one.txt; echo changed > README.md',
    b: 'echo two > two.txt',
  });

  const ended = await project.run(...TWO);

  expect(ended.code).toBe(0);
  expect(await project.files()).toEqual(['README.md', 'new/one.txt', 'plan.md', 'two.txt']);
  expect(await project.repo.git('show', 'main:README.md')).toBe('changed');
});

// Fix (X3): the good stream's commits were unreachable afterwards. The exit code is kept.
test('CP-23: a failed stream is told with its last lines, and the other one lands', async () => {
  const b = `${commits('half.txt')}; seq 1 30 | sed 's/^/line /'; exit 7`;
  await using project = await castProject(PLAN, { a: commits('one.txt'), b });

  const ended = await project.run(...TWO);

  expect(ended.code).toBe(1);
  expect(ended.stdout.trim()).toBe(A_DONE);
  expect(ended.stderr).toMatch(
    /^\[cast-parallel\] ERROR: Stream B \(worktree-b\): batches 3,4 - failed: .*7/m,
  );
  expect(ended.stderr).toContain('  > line 11\n');
  expect(ended.stderr).not.toContain('  > line 10\n');
  expect(await project.files()).toEqual(['README.md', 'one.txt', 'plan.md']);
  const branches = await project.repo.git('branch', '--list', 'cast-parallel-stream-b-*');
  const [branch = ''] = branches.match(/cast-parallel-\S+/) ?? [];
  expect(await project.files(branch)).toContain('half.txt');
});

// Keep: nothing on the branch, both worktrees there. Fix: no merge is left half-done in one.
test('CP-25: two streams that conflict: the branch stays, and so do both worktrees', async () => {
  await using project = await castProject(PLAN, {
    a: 'echo a > README.md; git commit --quiet --all --message A',
    b: `${until('git log --all --format=%s | grep -qx "Land stream-a"')}\necho b > README.md`,
  });

  const ended = await project.run(...TWO);

  expect(ended.code).toBe(1);
  expect(await project.calls()).toHaveLength(2);
  expect(ended.stderr).toContain('README.md');
  expect(ended.stderr).toContain('nothing is published to main');
  expect(await project.repo.git('show', 'main:README.md')).toBe('hello');
  expect(await project.repo.git('status', '--porcelain')).toBe('');
  for (const stream of ['a', 'b']) {
    const branches = await project.repo.git('branch', '--list', `cast-parallel-stream-${stream}-*`);
    const [branch = ''] = branches.match(/cast-parallel-\S+/) ?? [];
    expect(await project.repo.git('show', `${branch}:README.md`)).toBe(stream);
    expect(branches).toContain('+'); // It is checked out in its worktree.
  }
});

test('CP-25: with --on-conflict agent the stream itself resolves it', async () => {
  const b = `
case "$PROMPT" in
*conflict*) echo both > README.md ;;
*) ${until('git log --all --format=%s | grep -qx "Land stream-a"')}; echo b > README.md ;;
esac`;
  await using project = await castProject(PLAN, { a: 'echo a > README.md', b });

  const ended = await project.run(...TWO, '--on-conflict', 'agent');

  expect(ended.code).toBe(0);
  expect(await project.repo.git('show', 'main:README.md')).toBe('both');
});

// Fix (X6): main was left with unmerged entries.
test('CP-25: a branch that moved on in conflict is left as it is', async () => {
  const moves = `git -C "$OUT/repo" commit --quiet --all --message Mine`;
  await using project = await castProject(PLAN, {
    a: `echo mine > "$OUT/repo/README.md"; ${moves}; echo theirs > README.md`,
    b: commits('two.txt'),
  });

  const ended = await project.run(...TWO);

  expect(ended.code).toBe(1);
  expect(await project.repo.git('log', '-1', '--format=%s', 'main')).toBe('Mine');
  expect(await project.repo.git('show', 'main:README.md')).toBe('mine');
  expect(await project.repo.git('status', '--porcelain')).toBe('');
});

// Keep: the edit stays, and so does the work.
test('CP-26: a file that is being edited in the checkout is not touched', async () => {
  await using project = await castProject(PLAN, {
    a: 'echo theirs > README.md',
    b: commits('two.txt'),
  });
  await writeFiles(project.repo.dir, { 'README.md': 'my edit\n' });

  const ended = await project.run(...TWO);

  expect(ended.code).toBe(1);
  expect(await readFile(join(project.repo.dir, 'README.md'), 'utf8')).toBe('my edit\n');
  expect(await project.repo.git('status', '--porcelain')).toBe('M README.md');
  const landed = await project.repo.git('branch', '--list', 'landfast/*', '--format=%(refname)');
  expect(await project.files(landed)).toContain('two.txt');
});

// Fix (X5): agents went on as orphans in folders that were gone.
test('CP-29: TERM ends the streams with all they started, and the run can go on', async () => {
  const waits = `
echo half > "$agent.txt"
if [ -e "$OUT/go" ]; then exit 0; fi
sh -c 'echo $$ > "$OUT/pid"; exec sleep 600' & wait`;
  await using project = await castProject(PLAN, {
    a: `export OUT; ${waits}`,
    b: commits('two.txt'),
  });
  const running = project.start(...TWO, '--events');
  await running.untilFact('attempt.finished', 'stream-b');
  while ((await project.read('pid')) === '') await new Promise((wake) => setImmediate(wake));
  const pid = Number(await project.read('pid'));

  running.child.kill('SIGTERM');
  const ended = await running.ended;

  expect(ended.code).toBe(143);
  expect(processList().some((entry) => entry.pid === pid)).toBe(false);
  await writeFiles(project.repo.outside, { go: '' });
  const resumed = await project.call([
    'resume',
    '--claude-exe',
    join(project.repo.outside, 'claude'),
  ]);
  expect(resumed.code).toBe(0);
  expect(await project.files()).toEqual(['README.md', 'a.txt', 'plan.md', 'two.txt']);
});

test('CP-32: a stream that only reviews what the other makes meanwhile is warned of', async () => {
  const review = (id: number, type: string) => ({
    id,
    agents: [{ subagent_type: type, prompt: 'x' }],
  });
  const plan = dispatch([...batches(2), review(3, 'code-reviewer'), review(4, 'commit')]);
  await using project = await castProject(plan);

  const ended = await project.run(...TWO, '--dry-run');

  expect(ended.code).toBe(0);
  expect(ended.stderr).toContain(
    'warning: stream B (code-reviewer, commit) only follows up on what stream A makes',
  );
  expect(ended.stderr).toContain('without --split the batches run in the order they need');
});
