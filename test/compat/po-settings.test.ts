/** The user's `.claude` folder: agents find it in their workspaces, and nothing of it is published. */

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeFiles } from '../support/temp-dir.ts';
import { manifest, poProject } from './po-project.ts';

/** Shell that lists what is in `.claude`, and shows how long each file is. */
const LOOK =
  '(cd .claude && find . -type f ! -name .gitignore -exec wc -c {} +) | sort > "$OUT/$agent"';

/** What LOOK found: bytes by path. */
async function found(text: Promise<string>): Promise<Readonly<Record<string, number>>> {
  const lines = (await text).split('\n').map((line) => line.trim().split(' '));
  const files = lines.filter(([, path]) => path !== undefined && path !== 'total');
  return Object.fromEntries(files.map(([size, path]) => [path!.slice(2), Number(size)]));
}

// Fix: the copies of ex/.claude were committed into .claude of the root.
test('PO-76: a manifest in a sub-project works there and publishes no settings', async () => {
  const tasks = `
  - { id: look, agent: looker, read_only: true }
  - { id: a, agent: adder, read_only: false }
`;
  const plan = manifest(tasks).replace('cwd: "."', 'cwd: "../.."');
  await using project = await poProject({
    plan: '',
    agents: {
      looker: 'pwd > "$OUT/cwd"; git rev-parse --show-prefix > "$OUT/prefix"',
      adder: `git rev-parse --show-prefix > "$OUT/writer-prefix"; ${LOOK}; echo one > one.txt`,
    },
    files: {
      '.claude/agents/other.md': 'Of the root.\n',
      'ex/main.py': 'pass\n',
      'ex/.claude/reports/plan-report-1.md': plan,
      'ex/.claude/reports/review-1.md': 'Fine.\n',
      'ex/.claude/agents/adder.md': 'You add.\n',
    },
  });
  await writeFiles(project.dir, { 'ex/.claude/settings.local.json': '{}\n' });
  const before = await project.files();

  const ended = await project.runPlan('ex/.claude/reports/plan-report-1.md');

  expect(ended.code).toBe(0);
  expect(await project.read('prefix')).toBe('ex/');
  expect(await project.read('cwd')).toMatch(/\/ex$/);
  expect(await project.read('writer-prefix')).toBe('');
  expect(await found(project.read('adder'))).toEqual({
    'CLAUDE.md': 0,
    'agents/adder.md': 9,
    'agents/other.md': 13,
    'reports/plan-report-1.md': plan.length,
    'settings.local.json': 3,
  });
  expect(await project.files()).toEqual([...before, 'one.txt'].sort());
  expect(await project.repo.git('status', '--porcelain', '-uall')).toBe(
    '?? ex/.claude/settings.local.json',
  );
});

const ONE_WRITER = manifest('  - { id: a, agent: adder, read_only: false }\n');

// Fix: every run ended with 3, as untracked files would have been overwritten.
test('PO-77: an untracked .claude folder is no obstacle, and agents find it', async () => {
  await using project = await poProject({
    plan: ONE_WRITER,
    agents: { adder: `${LOOK}; echo one > one.txt; git add -A; git commit -qm "All of it"` },
  });
  const settings = {
    '.claude/CLAUDE.md': 'My rules.\n',
    '.claude/settings.json': '{"a":1}\n',
    '.claude/settings.local.json': '{}\n',
    '.claude/agents/adder.md': 'You add.\n',
    '.claude/logs/old.log': 'old\n',
    '.claude/memory/m.md': 'old\n',
    '.claude/reports/plan-report-2.md': 'plan\n',
    '.claude/reports/other.md': 'other\n',
  };
  await writeFiles(project.dir, settings);

  const ended = await project.run('--no-log');

  expect(ended.code).toBe(0);
  expect(await found(project.read('adder'))).toEqual({
    'CLAUDE.md': 0,
    'agents/adder.md': 9,
    'reports/plan-report-2.md': 5,
    'settings.local.json': 3,
  });
  expect(await project.files()).toEqual(['README.md', 'one.txt', 'plan.md']);
  expect(await readFile(join(project.dir, '.claude/CLAUDE.md'), 'utf8')).toBe('My rules.\n');
  expect(await project.repo.git('status', '--porcelain')).toBe('?? .claude/');
});

test('PO-77: tracked settings stay as they are; what an agent changes of the others lands', async () => {
  await using project = await poProject({
    plan: ONE_WRITER,
    agents: { adder: `${LOOK}; echo better > .claude/agents/adder.md; git commit -qam "Better"` },
    files: { '.claude/CLAUDE.md': 'Our rules.\n', '.claude/agents/adder.md': 'You add.\n' },
  });

  const ended = await project.run('--no-log');

  expect(ended.code).toBe(0);
  expect(await found(project.read('adder'))).toEqual({ 'CLAUDE.md': 0, 'agents/adder.md': 9 });
  expect(await project.show('.claude/CLAUDE.md')).toBe('Our rules.');
  expect(await project.show('.claude/agents/adder.md')).toBe('better');
});

test('a workspace with settings in it is used again, and the next task finds its own', async () => {
  const task = (agent: string): string =>
    manifest(`\n  - { id: ${agent}, agent: ${agent}, read_only: false }\n`);
  const look = `git rev-parse --git-dir > "$OUT/$agent.entry"; ${LOOK}`;
  await using project = await poProject({
    plan: task('one'),
    agents: {
      one: `${look}; echo x > .claude/left; echo x > .claude/CLAUDE.md; echo 1 > one.txt`,
      two: `${look}; echo 1 > two.txt`,
    },
    files: {
      'other.md': task('two'),
      'landfast.yaml': 'workspace: { pool: 2 }\n',
      '.claude/CLAUDE.md': 'memory\n',
      '.gitignore': '.claude/left\n',
    },
  });
  await writeFiles(project.dir, { '.claude/settings.local.json': '{}\n' });
  expect((await project.run()).code).toBe(0);
  expect((await project.runPlan('other.md')).code).toBe(0);
  expect(await project.read('two.entry')).toBe(await project.read('one.entry'));
  expect(await found(project.read('two'))).toEqual(await found(project.read('one')));
  expect(await project.show('.claude/CLAUDE.md')).toBe('memory');
});

// Fix: what a failed task had reported was gone with its worktree.
test('PO-52: reports of a failed task reach the checkout, never over a file', async () => {
  const reporter = `mkdir -p .claude/reports
echo why > .claude/reports/failure.md
echo theirs > .claude/reports/mine.md
ln -s /etc/passwd .claude/reports/link.md
exit 1`;
  await using project = await poProject({
    plan: manifest('  - { id: a, agent: reporter, read_only: false, max_retries: 0 }\n').replace(
      '"."',
      '"sub"',
    ),
    agents: { reporter },
  });
  await writeFiles(project.dir, {
    '.claude/reports/mine.md': 'mine\n',
    'sub/.claude/reports/plan-report-1.md': 'laid in\n',
  });

  const ended = await project.run();

  const reports = join(project.dir, '.claude/reports');
  expect(ended.code).toBe(1);
  expect(ended.stderr).toContain('It left changes in your checkout: .claude/reports/failure.md\n');
  expect((await readdir(reports)).sort()).toEqual(['failure.md', 'mine.md']);
  expect(await readFile(join(reports, 'failure.md'), 'utf8')).toBe('why\n');
  expect(await readFile(join(reports, 'mine.md'), 'utf8')).toBe('mine\n');
});
