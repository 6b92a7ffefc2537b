/** Running parallel-orchestra manifests: what the command line answers, mostly before any agent. */

import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { writeFiles } from '../support/temp-dir.ts';
import { manifest, poFolder, poProject, snapshot, summary, timeless } from './po-project.ts';

// Keep.
test('PO-28: a dry run prints one line a task with its stage, and creates nothing', async () => {
  const tasks = `
  - { id: a, agent: adder, read_only: false }
  - { id: b, agent: adder, read_only: false, max_retries: 0 }
  - { id: c, agent: reviewer, read_only: true, depends_on: [a, b], concurrency_group: g }
`;
  const plan = manifest(tasks, 'concurrency_limits: { g: 2 }\n');
  await using project = await poProject({ plan, agents: {} });
  const before = await snapshot(project.outside);

  const ended = await project.run('--dry-run', '--max-workers', '5');

  const lines = ended.stdout.split('\n').map((line) => line.trim());
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  expect(lines).toEqual([
    'Dry run: nothing is executed.',
    '',
    'Execution plan (max_workers=5):',
    '[stage 1] a agent=adder timeout=900s retries=1',
    '[stage 1] b agent=adder timeout=900s',
    "[stage 2] c agent=reviewer timeout=900s retries=1 read_only depends=['a', 'b'] group=g(limit=2)",
    '',
    '3 tasks, 2 stages',
    '',
  ]);
  expect(await snapshot(project.outside)).toEqual(before);
});

// Keep.
test('PO-28: a dry run of one task counts in the singular', async () => {
  await using project = await poProject({
    plan: manifest('  - { id: a, agent: adder, read_only: false }\n'),
    agents: {},
  });

  const ended = await project.run('--dry-run');

  expect(ended.stdout).toMatch(/^1 task, 1 stage$/m);
});

// Keep.
test('PO-37: a write task on a detached HEAD is refused before anything starts', async () => {
  await using project = await poProject({
    plan: manifest('  - { id: a, agent: adder, read_only: false }\n'),
    agents: { adder: 'echo one > one.txt' },
  });
  await project.repo.git('checkout', '--quiet', '--detach');

  const ended = await project.run();

  expect(ended).toMatchObject({ code: 3, stdout: '' });
  expect(ended.stderr).toMatch(/detached/i);
  expect(await project.calls()).toEqual([]);
  expect(await project.repo.git('status', '--porcelain', '--ignored')).toBe('');
});

// Each has a folder of its own and none a repository, so they may run together.
describe.concurrent('outside of git', () => {
  // Keep.
  test('PO-29: no arguments are wrong usage; help and version are not', async () => {
    await using place = await poFolder('', {});
    const call = (...args: readonly string[]) => landfast(args, { cwd: place.dir });

    const [nothing, help, version, noPlan] = await Promise.all([
      call(),
      call('--help'),
      call('--version'),
      call('run'),
    ]);

    expect(nothing).toMatchObject({ code: 2, stdout: '' });
    expect(nothing.stderr).toMatch(/usage/i);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help.stdout).toMatch(/usage/i);
    expect(version).toMatchObject({ code: 0, stderr: '' });
    expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\S*\n$/);
    expect(noPlan).toMatchObject({ code: 2, stdout: '' });
  });

  // Keep.
  test('PO-31: one task that exits with 1 fails the run with 1 and has a fail line', async () => {
    const plan = manifest('  - { id: a, agent: breaker, read_only: true, max_retries: 0 }\n');
    await using place = await poFolder(plan, { breaker: 'exit 1' });

    const ended = await place.run();

    expect(ended.code).toBe(1);
    expect(timeless(ended)).toEqual([
      '[fail] a (breaker) duration=? returncode=1 category=transient',
    ]);
  });

  // Keep.
  test('PO-32: quiet hides the lines of tasks that went well and no others', async () => {
    const tasks = `
  - { id: good, agent: talker, read_only: true }
  - { id: bad, agent: breaker, read_only: true, max_retries: 0 }
`;
    await using place = await poFolder(manifest(tasks), { talker: 'echo done', breaker: 'exit 5' });

    const ended = await place.run('--quiet');

    expect(ended.code).toBe(1);
    expect(ended.stdout).toMatch(/^\[fail\] bad \(breaker\) .*returncode=5.*\n$/);
  });

  // Keep.
  test('PO-35: a plan of read-only tasks runs where there is no repository', async () => {
    const tasks = `
  - { id: look, agent: looker, read_only: true }
  - { id: judge, agent: judge, read_only: true, depends_on: [look] }
`;
    await using place = await poFolder(manifest(tasks), {
      looker: 'pwd > "$OUT/cwd"; echo looked',
      judge: 'echo judged',
    });

    const ended = await place.run();

    expect(ended.code).toBe(0);
    expect(timeless(ended)).toEqual([
      '[ok] look (looker) duration=? returncode=0',
      '[ok] judge (judge) duration=? returncode=0',
    ]);
    expect(await place.calls()).toEqual(['looker', 'judge']);
    expect(await place.read('cwd')).toBe(place.dir);
  });

  // Fix: refused before the run; it was found out after all the work.
  test('PO-70: a report that could not be written is refused before any agent starts', async () => {
    const plan = manifest('  - { id: a, agent: talker, read_only: true }\n');
    await using place = await poFolder(plan, { talker: 'echo done' });
    await writeFiles(place.dir, { 'real.json': 'mine' });
    await symlink(join(place.dir, 'real.json'), join(place.dir, 'link.json'));

    const [text, link] = [
      await place.run('--report', 'r.txt'),
      await place.run('--report', 'link.json'),
    ];

    expect(text).toMatchObject({ code: 2, stdout: '' });
    expect(text.stderr).toContain('r.txt');
    expect(link).toMatchObject({ code: 2, stdout: '' });
    expect(link.stderr).toContain('link.json');
    expect(await place.calls()).toEqual([]);
    expect(await place.read('work/real.json')).toBe('mine');
  });

  // Fix: both ran, and one's result stood for both.
  test('PO-74: two tasks of one id are a mistake in the plan', async () => {
    const tasks = `
  - { id: same, agent: talker, read_only: true }
  - { id: same, agent: talker, read_only: true }
`;
    await using place = await poFolder(manifest(tasks), { talker: 'echo done' });

    const ended = await place.run();

    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain('same');
    expect(await place.calls()).toEqual([]);
    expect(summary(ended)).toEqual([]);
  });
});
