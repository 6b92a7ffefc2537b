/** Dispatch plans: what the command line answers before any agent starts. */

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { tempDir, writeFiles } from '../support/temp-dir.ts';
import { batches, castProject, dispatch } from './cast-project.ts';
import { snapshot } from './po-project.ts';

/** Calls the program in a folder that is in no repository. */
async function call(
  plan: string | null,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
) {
  await using home = await tempDir();
  await home.write({ 'work/other.txt': '', ...(plan === null ? {} : { 'work/plan.md': plan }) });
  const before = await snapshot(home.path);
  const ended = await landfast(args, { cwd: join(home.path, 'work'), env });
  expect(await snapshot(home.path)).toEqual(before);
  return ended;
}

const DRY = ['run', '--dry-run'];

// Keep.
test('CP-01: help says how it is used', async () => {
  const ended = await call(null, ['run', '--help']);
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  expect(ended.stdout).toContain('Usage');
  expect(ended.stdout).toContain('--split');
});

// Keep.
test('CP-02: without a plan it is wrong usage', async () => {
  const results = await Promise.all([
    call(null, ['run', '--split', '2']),
    call(null, ['run', '--streams', '2', 'none.md']),
    call(null, ['run', '--streams', '2', '.']),
    call(null, ['run', '--no-such-flag', 'plan.md']),
    call(null, ['run', 'plan.md', '--split']),
  ]);
  expect(results.map(({ code, stdout }) => ({ code, stdout }))).toEqual(
    results.map(() => ({ code: 2, stdout: '' })),
  );
});

// Keep.
test('CP-04: a plan without a block is refused with 1 and a No', async () => {
  const results = await Promise.all([
    call('# Page\n', [...DRY, '--streams', '2', 'plan.md']),
    call('# Page\n', [...DRY, '--format', 'cast-dispatch', 'plan.md']),
    call('# Agent Dispatch Manifest\n', [...DRY, 'plan.md']),
    call('# Agent Dispatch Manifest\n', ['plan', 'plan.md']),
  ]);
  for (const { code, stdout, stderr } of results) {
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/: error: No json dispatch block/);
  }
});

function streamLines(stdout: string): readonly string[] {
  return stdout.split('\n').filter((line) => line.includes('(worktree-') && /^ {2}S/.test(line));
}

// Keep.
test('CP-05: a dry run shows the cut in the middle, and needs no git', async () => {
  const ended = await call(dispatch(batches(4)), [...DRY, '--streams', '2', 'plan.md']);
  expect(ended.code).toBe(0);
  expect(ended.stdout.split('\n').slice(-9)).toEqual([
    'Dry run: nothing is executed.',
    '  Plan: plan.md',
    '  Plan id: feature',
    '  Batches: 4',
    '  Split after: 2',
    '',
    '  Stream A (worktree-a): batches 1,2',
    '  Stream B (worktree-b): batches 3,4',
    '',
  ]);
});

// Keep.
test('CP-05: an odd number gives the larger part to B; one batch is one stream', async () => {
  const [five, one] = await Promise.all([
    call(dispatch(batches(5)), [...DRY, '--streams', '2', 'plan.md']),
    call(dispatch(batches(1)), [...DRY, '--streams', '2', 'plan.md']),
  ]);
  expect(streamLines(five.stdout)).toEqual([
    '  Stream A (worktree-a): batches 1,2',
    '  Stream B (worktree-b): batches 3,4,5',
  ]);
  expect(streamLines(one.stdout)).toEqual([
    '  Stream A (worktree-a): batches 1',
    '  Stream B (worktree-b): batches ',
  ]);
  expect(one).toMatchObject({ code: 0 });
  expect(one.stderr).toContain('nothing left for stream B');
  expect(one.stdout).toContain('1 task in 1 stage');
});

// Keep.
test('CP-07: --split cuts where it says, and may have zeros in front', async () => {
  const lines = [
    '  Stream A (worktree-a): batches 1,2',
    '  Stream B (worktree-b): batches 3,4,5,6',
  ];
  for (const split of ['2', '02']) {
    const ended = await call(dispatch(batches(6)), [...DRY, '--split', split, 'plan.md']);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(streamLines(ended.stdout)).toEqual(lines);
  }
});

// Keep.
test('CP-08: a split that is no number is wrong usage; one out of range a wrong plan', async () => {
  const codes = async (values: readonly string[]) =>
    Promise.all(
      values.map(async (value) => {
        const args = [...DRY, 'plan.md', '--split', value];
        return (await call(dispatch(batches(3)), args)).code;
      }),
    );
  expect(await codes(['abc', '-1', '1.5', ''])).toEqual([2, 2, 2, 2]);
  expect(await codes(['0', '3', '99'])).toEqual([1, 1, 1]);
  const three = await call(dispatch(batches(3)), [...DRY, 'plan.md', '--streams', '3']);
  expect(three).toMatchObject({ code: 2, stdout: '' });
});

// Keep.
test('CP-10: inside an agent of such a plan it does nothing, and says nothing', async () => {
  const nothing = { code: 0, stdout: '', stderr: '' };
  const env = { CAST_SUBPROCESS: '1' };
  const results = await Promise.all([
    call(dispatch(batches(2)), ['run', 'plan.md'], env),
    call('# Agent Dispatch Manifest\nbroken', ['run', 'plan.md'], env),
    call(null, ['run', 'none.md', '--split', '1'], env),
    call(null, ['run', 'none.md', '--streams', '2'], env),
  ]);
  for (const ended of results) expect(ended).toMatchObject(nothing);
  const other = await call(dispatch(batches(2)), [...DRY, 'plan.md'], { CAST_SUBPROCESS: '0' });
  expect(other.stdout).toContain('2 tasks in 2 stages');
  const native = 'landfast: 1\ntasks: [{ id: a, prompt: x }]\n';
  const another = await call(native, [...DRY, 'plan.md'], env);
  expect(another.stdout).toContain('1 task in 1 stage');
});

// Keep.
test.each([
  ['a comma too many', '{"batches": [{"id": 1},]}'],
  ['a list', '[]'],
  ['comments', '{"batches": [] // none\n}'],
  ['no batches', '{"batches": []}'],
  ['batches that are no list', '{"batches": {"1": {}}}'],
])('CP-11: a block with %s is refused with 1', async (_, json) => {
  const plan = `\`\`\`json dispatch\n${json}\n\`\`\`\n`;
  const results = await Promise.all([
    call(plan, [...DRY, 'plan.md']),
    call(plan, [...DRY, '--split', '1', 'plan.md']),
  ]);
  for (const ended of results) expect(ended).toMatchObject({ code: 1, stdout: '' });
});

// Keep; the id is that of the file.
test('CP-13: a plan without an id has the name of its file', async () => {
  const ended = await call(dispatch(batches(2), { plan_id: undefined }), [...DRY, 'plan.md']);
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  expect(ended.stdout).toMatch(/^Plan plan \(cast-dispatch\)/);
});

// Fix: both were read as one text, which is no JSON.
test('CP-14: two blocks are a clear error, or the one of the section counts', async () => {
  const plan = dispatch(batches(2));
  const block = plan.slice(plan.indexOf('```'));
  const [unclear, clear] = await Promise.all([
    call(`${block}\n${block}`, [...DRY, 'plan.md']),
    call(`${block}\n${plan}`, [...DRY, 'plan.md']),
  ]);
  expect(unclear).toMatchObject({ code: 1, stdout: '' });
  expect(unclear.stderr).toContain('which one is the plan?');
  expect(clear.code).toBe(0);
  expect(clear.stderr).toContain('its section says so');
});

// Keep, with a warning.
test('CP-16: a last fence that is not closed works', async () => {
  const plan = dispatch(batches(2)).replace(/```\n$/, '');
  const ended = await call(plan, [...DRY, '--streams', '2', 'plan.md']);
  expect(ended.code).toBe(0);
  expect(ended.stderr).toContain('the json dispatch block is not closed');
  expect(streamLines(ended.stdout)).toHaveLength(2);
});

// Fix: the stream's list was empty, and it ran all the same.
test('CP-17: a batch without an id is refused with 1', async () => {
  const plan = dispatch([...batches(2), { agents: [] }]);
  const results = await Promise.all([
    call(plan, [...DRY, 'plan.md']),
    call(plan, [...DRY, '--split', '1', 'plan.md']),
  ]);
  for (const ended of results) {
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toContain('batches[2]: id is missing');
  }
});

// Keep.
test('CP-19: a ~ in quotes is the home', async () => {
  await using home = await tempDir();
  await home.write({ 'plans/p.md': dispatch(batches(2)), 'work/x': '' });
  const cwd = join(home.path, 'work');
  const ended = await landfast([...DRY, '--streams', '2', '~/plans/p.md'], { cwd });
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  expect(streamLines(ended.stdout)).toHaveLength(2);
});

// Keep 1, before anything is made.
test('CP-28: a missing claude is found before anything starts', async () => {
  await using project = await castProject(dispatch(batches(2)));
  await writeFiles(project.repo.outside, { 'bin/x': '' });
  const before = await project.repo.git('for-each-ref');

  const ended = await project.call(['run', 'plan.md', '--claude-exe', '/none/claude']);
  const streams = await project.call([
    ...['run', 'plan.md', '--split', '1', '--claude-exe', '/none/claude'],
  ]);

  for (const { code, stderr } of [ended, streams]) {
    expect(code).toBe(1);
    expect(stderr).toContain('/none/claude');
  }
  expect(await project.repo.git('for-each-ref')).toBe(before);
  expect(await project.repo.git('status', '--porcelain')).toBe('');
});
