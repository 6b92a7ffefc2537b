/** Running parallel-orchestra manifests: going on after a failure, a conflict or Ctrl-C. */

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeFiles } from '../support/temp-dir.ts';
import {
  hasLanded,
  manifest,
  type Project,
  poFolder,
  poProject,
  timeless,
  until,
} from './po-project.ts';

/** a and b change the same line; b ends when a has landed. c is none of their business. */
const CONFLICTING = manifest(`
  - { id: a, agent: first, read_only: false }
  - { id: b, agent: second, read_only: false, max_retries: 0 }
  - { id: c, agent: adder, read_only: false }
`);
const FIRST = 'echo "of a" > same.txt';
const SECOND = `echo "of b" > same.txt\n${until(hasLanded('a'))}`;
const ADDER = 'echo one > one.txt';

async function conflicted(): Promise<Project> {
  const agents = { first: FIRST, second: SECOND, adder: ADDER };
  const files = { 'same.txt': 'of nobody\n' };
  const project = await poProject({ plan: CONFLICTING, agents, files });
  const ended = await project.run();
  expect(ended.code).toBe(3);
  return project;
}

// Fix: all was skipped with exit code 0, and b's work was never merged.
test('PO-47: resuming after a conflict is done only when the task has landed', async () => {
  await using project = await conflicted();
  await project.replaceStub({ second: 'exit 1' });

  const failed = await project.run('--resume');

  expect(failed.code).toBe(1);
  expect(timeless(failed)[1]).toMatch(/^\[fail\] b \(second\) /);
  expect(await project.show('same.txt')).toBe('of a');
  await project.replaceStub({ second: 'cp same.txt "$OUT/seen"; echo "of a and b" > same.txt' });

  const mended = await project.run('--resume');

  expect(mended.code).toBe(0);
  expect(await project.show('same.txt')).toBe('of a and b');
  expect(await project.read('seen')).toBe('of a');
  expect(await project.show('one.txt')).toBe('one');
  expect([...(await project.calls())].sort()).toEqual([
    ...['adder', 'first', 'second', 'second', 'second'],
  ]);
});

// Fix: the same; here the user follows the advice to merge the branch by hand.
test('PO-47: resuming after the user has resolved the conflict finds the work landed', async () => {
  await using project = await conflicted();
  const [branch = ''] = await project.taskBranches();
  await project.repo.git('merge', branch).catch(() => 'It conflicts.');
  await writeFiles(project.dir, { 'same.txt': 'of a and b\n' });
  await project.repo.git('commit', '--all', '--no-edit');

  const ended = await project.run('--resume');

  expect(ended.code).toBe(0);
  expect(await project.show('same.txt')).toBe('of a and b');
  expect(await project.repo.git('status', '--porcelain')).toBe('');
});

// Keep.
test('PO-65: resuming skips what was done, runs what failed, and leaves no state', async () => {
  const tasks = `
  - { id: a, agent: adder, read_only: false }
  - { id: b, agent: other, read_only: false, max_retries: 0 }
`;
  await using project = await poProject({
    plan: manifest(tasks),
    agents: { adder: ADDER, other: 'exit 1' },
  });
  const first = await project.run();
  expect(first.code).toBe(1);
  await project.replaceStub({ other: 'echo two > two.txt' });

  const second = await project.run('--resume');

  expect(second.code).toBe(0);
  expect([...(await project.calls())].sort()).toEqual(['adder', 'other', 'other']);
  expect(await project.files()).toEqual(['README.md', 'one.txt', 'plan.md', 'two.txt']);
  expect((await readdir(project.dir)).filter((name) => name.includes('run-state'))).toEqual([]);
  expect(timeless(second)).toEqual([
    '[skip] a (adder) resumed',
    '[ok] b (other) duration=? returncode=0',
  ]);
});

// Keep.
test('PO-67: two manifests in one folder are resumed each for itself', async () => {
  const planOf = (id: string): string =>
    manifest(`
  - { id: good, agent: good-${id}, read_only: true }
  - { id: bad, agent: bad-${id}, read_only: true, max_retries: 0 }
`);
  const agents = { 'good-*': 'echo done', 'bad-*': '[ -e "$OUT/mended" ]' };
  await using place = await poFolder('', agents);
  await writeFiles(place.dir, { 'x.md': planOf('x'), 'y.md': planOf('y') });
  await place.runPlan('x.md');
  await place.runPlan('y.md');
  await writeFiles(place.outside, { mended: '' });
  const before = (await place.calls()).length;

  const x = await place.runPlan('x.md', '--resume');
  const y = await place.runPlan('y.md', '--resume');

  expect([x.code, y.code]).toEqual([0, 0]);
  expect(before).toBe(4);
  expect((await place.calls()).slice(before)).toEqual(['bad-x', 'bad-y']);
});

// Keep.
test('PO-67: two manifests with the same bytes are two plans', async () => {
  const plan = manifest('  - { id: bad, agent: bad, read_only: true, max_retries: 0 }\n');
  await using place = await poFolder('', { bad: '[ -e "$OUT/mended" ]' });
  await writeFiles(place.dir, { 'x.md': plan, 'y.md': plan });
  await place.runPlan('x.md');
  await writeFiles(place.outside, { mended: '' });

  const y = await place.runPlan('y.md', '--resume');
  const x = await place.runPlan('./x.md', '--resume');

  expect([x.code, y.code]).toEqual([0, 0]);
  expect(y.stderr).toContain('no earlier run of this exact plan');
  expect(x.stderr).not.toContain('no earlier run of this exact plan');
});

// Fix: the other tasks still ran, then it died without merging anything.
test('PO-79: Ctrl-C lets the running task finish, starts no other, can be resumed', async () => {
  const tasks = ['a', 'b', 'c'].map((id) => `  - { id: ${id}, agent: ${id}, read_only: false }\n`);
  const write = (name: string): string => `echo ${name} > ${name}.txt`;
  const agents = { a: `${until('[ -e "$OUT/go" ]')}\n${write('a')}`, b: write('b'), c: write('c') };
  await using project = await poProject({ plan: manifest(tasks.join('')), agents });
  const running = project.start('--max-workers', '1', '--events');
  await running.untilFact('attempt.started', 'a');

  running.child.kill('SIGINT');
  await running.until(({ stderr }) => stderr.includes('Ctrl-C'));
  await writeFiles(project.outside, { go: '' });
  const interrupted = await running.ended;

  expect(interrupted).toMatchObject({ code: 130, signal: null });
  expect(await project.calls()).toEqual(['a']);

  const resumed = await project.run('--resume', '--max-workers', '1');

  expect(resumed.code).toBe(0);
  expect(await project.calls()).toEqual(['a', 'b', 'c']);
  expect(await project.files()).toEqual(['README.md', 'a.txt', 'b.txt', 'c.txt', 'plan.md']);
  expect(await readdir(join(project.dir))).toContain('a.txt');
});
