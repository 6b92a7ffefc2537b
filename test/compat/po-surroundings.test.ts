/** Running parallel-orchestra manifests: what lies around them, such as logs, states and workspaces. */

import { existsSync } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { manifest, poFolder, poProject, summary, timeless } from './po-project.ts';

const ONE_WRITER = manifest('  - { id: a, agent: adder, read_only: false }\n');
const ONE_READER = manifest('  - { id: a, agent: talker, read_only: true }\n');

// Keep the outcome: nothing is skipped. Fix: a state that is whole is not believed either, because
// it does not say whether the work was merged.
describe('PO-64: a state of the old tool is reported, and every task runs', () => {
  test.each([
    ['malformed', '{', 'it cannot be read'],
    ['not an object', '[]', 'it cannot be read'],
    ['without a hash', '{"completed_tasks":["a"]}', 'it cannot be read'],
    ['too large', `{"manifest_hash":"x","y":"${'y'.repeat(1024 * 1024)}"}`, 'it cannot be read'],
    ['whole', '{"manifest_hash":"x","completed_tasks":["a"]}', 'its completed tasks (a) run again'],
  ])('%s', async (_, state, expected) => {
    await using place = await poFolder(ONE_READER, { talker: 'echo done' });
    await writeFile(join(place.dir, '.po-run-state-plan.json'), state);

    const ended = await place.run('--resume');

    expect(ended.code).toBe(0);
    expect(ended.stderr).toContain(
      `landfast: .po-run-state-plan.json of parallel-orchestra is not used: ${expected}.`,
    );
    expect(timeless(ended)).toEqual(['[ok] a (talker) duration=? returncode=0']);
  });
});

// Keep; but they can be followed while the agent runs.
test('PO-71: logs are in .claude/logs, retries in the same file, and git does not see them', async () => {
  await using project = await poProject({
    plan: manifest('  - { id: a, agent: adder, read_only: false }\n'),
    agents: {
      adder: `echo "said by $LANDFAST_ATTEMPT"
[ "$LANDFAST_ATTEMPT" = 1 ] && exit 1; echo one > one.txt`,
    },
  });
  const folder = join(project.dir, '.claude/logs');

  const ended = await project.run('--report', '../report.json');

  expect(ended.code).toBe(0);
  expect((await readdir(folder)).sort()).toEqual(['a-stderr.log', 'a-stdout.log']);
  const log = join(folder, 'a-stdout.log');
  expect(await readFile(log, 'utf8')).toBe('said by 1\n--- attempt 2 ---\nsaid by 2\n');
  const modes = await Promise.all(
    [folder, log].map(async (path) => (await stat(path)).mode & 0o777),
  );
  expect(modes).toEqual([0o700, 0o600]);
  expect(await project.repo.git('status', '--porcelain', '-uall')).toBe('');
  expect(await project.files()).toEqual(['README.md', 'one.txt', 'plan.md']);
  const report = JSON.parse(await readFile(join(project.outside, 'report.json'), 'utf8'));
  expect(report.tasks[0].attempts.flatMap(({ strayed }: { strayed: string[] }) => strayed)).toEqual(
    [],
  );
});

// Keep. What it changes was said nowhere.
test('PO-35: a read-only task runs in the checkout, sees uncommitted files, and its changes are reported', async () => {
  const looker = 'pwd > "$OUT/cwd"; cat draft.txt > "$OUT/seen"; echo changed > README.md';
  await using project = await poProject({
    plan: manifest('  - { id: look, agent: looker, read_only: true }\n').replace('"."', '"sub"'),
    agents: { looker: looker.replaceAll(/(draft|README)/g, '../$1') },
    files: { 'sub/x.txt': 'x\n' },
  });
  await project.repo.write({ 'draft.txt': 'a draft\n' });

  const ended = await project.run('--report', '../report.json');

  expect(ended.code).toBe(0);
  expect(await project.read('cwd')).toBe(join(project.dir, 'sub'));
  expect(await project.read('seen')).toBe('a draft');
  expect(ended.stderr).toContain('README.md');
  const report = JSON.parse(await readFile(join(project.outside, 'report.json'), 'utf8'));
  expect(report.tasks[0].attempts[0].strayed).toEqual(['README.md']);
  expect(await readFile(join(project.dir, 'README.md'), 'utf8')).toBe('changed\n');
  expect(await project.taskBranches()).toEqual([]);
});

test('PO-71: --no-log writes none, --log-dir writes them elsewhere', async () => {
  await using place = await poFolder(ONE_READER, { talker: 'echo done' });
  expect((await place.run('--no-log')).code).toBe(0);
  expect((await place.run('--log-dir', 'elsewhere')).code).toBe(0);
  expect(existsSync(join(place.dir, '.claude'))).toBe(false);
  expect((await readdir(join(place.dir, 'elsewhere'))).sort()).toEqual([
    'a-stderr.log',
    'a-stdout.log',
  ]);
});

// Keep; but the user is told where.
test('PO-34: PO_KEEP_WORKTREE keeps workspaces and says where they are', async () => {
  await using project = await poProject({
    plan: ONE_WRITER,
    agents: { adder: 'pwd > "$OUT/cwd"; echo one > one.txt' },
  });
  const args = ['run', 'plan.md', '--claude-exe', project.claude];

  const ended = await landfast(args, { cwd: project.dir, env: { PO_KEEP_WORKTREE: '1' } });

  expect(ended.code).toBe(0);
  const workspace = await project.read('cwd');
  expect(ended.stderr).toContain(`Workspaces are kept:\n  a: ${workspace}\n`);
  expect(await readFile(join(workspace, 'one.txt'), 'utf8')).toBe('one\n');
  expect(await project.show('one.txt')).toBe('one');
});

test('PO-28: an option may be cut short where it is clear which one is meant', async () => {
  await using place = await poFolder(ONE_READER, {});
  const ended = await place.run('--dry');
  expect(ended.code).toBe(0);
  expect(ended.stdout).toContain('Dry run');
  expect((await place.run('--no')).code).toBe(2);
});

test('PO-68: what was done before the run went on is resumed, and counted as skipped', async () => {
  await using place = await poFolder(
    manifest(`
  - { id: a, agent: talker, read_only: true }
  - { id: b, agent: other, read_only: true, max_retries: 0 }
`),
    { talker: 'echo done', other: 'exit 1' },
  );
  await place.run();
  await place.replaceStub({ talker: 'exit 1', other: 'echo done' });

  const ended = await place.run('--resume', '--report', 'r.json');
  const report = JSON.parse(await readFile(join(place.dir, 'r.json'), 'utf8'));

  expect(ended.code).toBe(0);
  expect(summary(ended)[0]).toBe('[skip] a (talker) resumed');
  expect(report).toMatchObject({ total: 2, succeeded: 1, failed: 0, skipped: 1 });
  expect(report.tasks.map(({ status }: { status: string }) => status)).toEqual([
    'resumed',
    'succeeded',
  ]);
});
