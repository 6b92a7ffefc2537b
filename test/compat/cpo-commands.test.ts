/** The commands of cpo's users: init, validate, status, and the check of prompts. */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { tempRepo } from '../support/temp-repo.ts';
import { cpoProject, DIR, DONE, manifest, taskFile } from './cpo-project.ts';

// Keep.
test('P1: setting up an empty project makes parallel/ with what git is to ignore', async () => {
  await using repo = await tempRepo();

  const ended = await landfast(['init', '--parallel'], { cwd: repo.dir });

  const ignored = await readFile(join(repo.dir, 'parallel/.gitignore'), 'utf8');
  const readme = await readFile(join(repo.dir, 'parallel/README.md'), 'utf8');
  expect(ended.code).toBe(0);
  expect(ended.stdout).toBe('made  parallel/README.md\nmade  parallel/.gitignore\n');
  expect(ignored).toBe('*/prompts/\n*/scripts/\n*/integration-report.md\n');
  expect(readme).toContain('landfast run');
});

// Keep.
test('P2: setting up again leaves an edited file alone', async () => {
  await using repo = await tempRepo({ files: { 'parallel/README.md': 'mine\n' } });

  const ended = await landfast(['init', '--parallel'], { cwd: repo.dir });

  expect(ended.code).toBe(0);
  expect(ended.stdout).toBe('kept  parallel/README.md\nmade  parallel/.gitignore\n');
  expect(await readFile(join(repo.dir, 'parallel/README.md'), 'utf8')).toBe('mine\n');
});

// Keep.
test('P2: setting up adds a section to CLAUDE.md where there is one, and only once', async () => {
  await using repo = await tempRepo({ files: { 'CLAUDE.md': '# Shop\n\nBe kind.' } });
  const read = () => readFile(join(repo.dir, 'CLAUDE.md'), 'utf8');

  const first = await landfast(['init', '--parallel'], { cwd: repo.dir });
  const once = await read();
  const second = await landfast(['init', '--parallel'], { cwd: repo.dir });

  expect(once).toMatch(/^# Shop\n\nBe kind\.\n\n## Parallel work\n\n[^#]*parallel\/README\.md/);
  expect(first.stdout).toContain('added a section to CLAUDE.md\n');
  expect(second.stdout).toContain('kept  CLAUDE.md\n');
  expect(await read()).toBe(once);
});

// Keep.
test('P4: init makes a directory with a manifest that has id and name, once', async () => {
  await using repo = await tempRepo();
  const args = ['init', 'parallel/TS-0042-x', '-t', 'TS-0042', '-n', 'x'];

  const first = await landfast(args, { cwd: repo.dir });
  const second = await landfast(args, { cwd: repo.dir });

  const text = await readFile(join(repo.dir, 'parallel/TS-0042-x/manifest.json'), 'utf8');
  expect(first.code).toBe(0);
  expect(JSON.parse(text)).toMatchObject({ tech_spec_id: 'TS-0042', name: 'x' });
  expect(second.code).toBe(2);
  expect(second.stderr).toContain('already exists');
});

/** The example of the tool's own text. */
const EXAMPLE = {
  ...manifest([['task-001', 'task-002'], ['task-003']], {
    1: { validation: "from apps.users.models import User; print('Wave 1 OK')" },
    2: { validation: "from apps.orders.models import Order; print('Wave 2 OK')" },
  }),
  technology: 'python',
  python_version: '3.11',
  dependencies: {
    python: {
      add: ['pydantic==2.5.3', 'sqlalchemy[asyncio]==2.0.25'],
      upgrade: [],
      remove: [],
      add_dev: ['pytest==7.4.3', 'pytest-asyncio==0.21.1'],
    },
  },
  metadata: {
    tech_spec: 'tech-specs/approved/TS-0042-inventory.md',
    generated_at: '2025-01-15T10:00:00Z',
    total_tasks: 3,
    max_parallel: 2,
    critical_path: ['task-001', 'task-003'],
  },
};
const PROMPTS = {
  'prompts/task-001.txt': 'one\n',
  'prompts/task-002.txt': 'two\n',
  'prompts/task-003.txt': 'three\n',
};

// Keep.
test('P5: the example manifest with its prompts is valid', async () => {
  await using project = await cpoProject({ manifest: EXAMPLE, files: PROMPTS });

  const ended = await project.validate('--json');

  const { format, plan } = JSON.parse(ended.stdout);
  expect(ended.code).toBe(0);
  expect(format).toBe('cpo');
  expect(plan.tasks.map(({ id }: { id: string }) => id)).toEqual([
    'dependencies',
    'task-001',
    'task-002',
    'wave-1-validation',
    'task-003',
    'wave-2-validation',
  ]);
});

// Keep.
test('P7: broken JSON is refused at its place', async () => {
  await using project = await cpoProject({
    manifest: '{\n  "tech_spec_id": "TS-1",\n  waves: []\n}',
  });

  const ended = await project.validate();

  expect(ended.code).toBe(2);
  expect(ended.stderr).toContain(
    `${DIR}/manifest.json:3:3: error: not JSON: expected a key, found "waves"`,
  );
});

// Keep.
test('P8: a task without a prompt, and without a task file to make it from, is refused', async () => {
  await using project = await cpoProject({
    manifest: EXAMPLE,
    files: { 'prompts/task-001.txt': 'x' },
  });

  const ended = await project.validate();

  expect(ended.code).toBe(2);
  expect(ended.stderr).toContain('task-002 has neither a prompt nor a task file');
  expect(ended.stderr).toContain('task-003 has neither a prompt nor a task file');
});

test('P8: a prompt_file that is not there is refused', async () => {
  const task = { id: 'task-001', agent: 'a:b', prompt_file: 'prompts/gone.txt' };
  await using project = await cpoProject({
    manifest: { tech_spec_id: 'TS-1', waves: [{ number: 1, tasks: [task] }] },
    files: PROMPTS,
  });

  const ended = await project.validate();

  expect(ended.code).toBe(2);
  expect(ended.stderr).toContain('task-001: prompt_file "prompts/gone.txt" cannot be read');
});

// Keep.
test('P10: a prompt is found by the id of its task, also without the component', async () => {
  await using project = await cpoProject({
    manifest: manifest([['task-001-users']]),
    files: { 'prompts/task-001.txt': 'Found by its number.\n' },
    tasks: { 'task-001': `echo 1 > one.py; ${DONE}` },
  });

  const ended = await project.run();

  expect(ended.code).toBe(0);
  expect(await project.read('prompt-task-001')).toContain('Found by its number.');
});

const MARKERS = [
  ...['REQUIRED SKILLS', 'CONTEXT', 'OBJECTIVE', 'CONTRACTS', 'FILES TO CREATE', 'FILES TO MODIFY'],
  ...['DO NOT MODIFY', 'IMPLEMENTATION REQUIREMENTS', 'ACCEPTANCE CRITERIA'],
  ...['EXECUTION INSTRUCTIONS', 'IMPORTANT RULES', 'COMPLETION SIGNAL'],
].map((name) => `=== ${name} ===\n`);

// Keep.
test('P38: prompts with all markers and the form of the answer are whole', async () => {
  const prompt = `${MARKERS.join('')}=== OUTPUT FORMAT (REQUIRED) ===\n{"task_completed": true}\n`;
  await using project = await cpoProject({ files: { 'prompts/task-001.txt': prompt } });

  const ended = await project.validate('--prompts');

  expect(ended.code).toBe(0);
  expect(ended.stdout).toContain('1 of 1 prompts are complete.');
});

test('P38: a prompt that lacks a section is named with it, and the exit code is 1', async () => {
  const prompt = MARKERS.filter((marker) => !/RULES|CONTEXT/.test(marker)).join('');
  await using project = await cpoProject({ files: { 'prompts/task-001.txt': prompt } });

  const ended = await project.validate('--prompts');

  expect(ended.code).toBe(1);
  expect(ended.stdout.split('\n')).toEqual([
    `FAIL  ${DIR}/prompts/task-001.txt`,
    '      lacks === CONTEXT ===',
    '      lacks === IMPORTANT RULES === (critical)',
    '0 of 1 prompts are complete.',
    '',
  ]);
});

// Keep.
test('P38: --fix makes a prompt again from its task file, and keeps the old one', async () => {
  await using project = await cpoProject({
    manifest: manifest([['task-001', 'task-002']]),
    files: {
      'prompts/task-001.txt': 'too little\n',
      'prompts/task-002.txt': MARKERS.join(''),
      'tasks/task-001.md': taskFile('task-001', 'CREATE: one.py'),
      'tasks/task-002.md': taskFile('task-002', 'CREATE: two.py'),
    },
  });

  const ended = await project.validate('--prompts', '--fix');

  const file = `${DIR}/prompts/task-001.txt`;
  expect(ended.stdout).toBe(
    `PASS  ${file} (regenerated; the old one: ${file}.backup)\n` +
      `PASS  ${DIR}/prompts/task-002.txt\n2 of 2 prompts are complete.\n`,
  );
  expect(ended.code).toBe(0);
  expect(await project.inside('prompts/task-001.txt')).toContain(
    '=== FILES TO CREATE ===\n\n- one.py',
  );
  expect(await project.inside('prompts/task-001.txt.backup')).toBe('too little\n');
  expect(await project.inside('prompts/task-002.txt')).toBe(MARKERS.join(''));
});

test('P38: --fix leaves a prompt alone that has no task file', async () => {
  await using project = await cpoProject({ files: { 'prompts/task-001.txt': 'too little\n' } });

  const ended = await project.validate('--prompts', '--fix');

  expect(ended.code).toBe(1);
  expect(ended.stdout).toContain('has no task file, so it is left as it is');
  expect(await project.inside('prompts/task-001.txt')).toBe('too little\n');
});

// Keep.
test('P40: without prompts there is nothing to check, which is exit code 2', async () => {
  await using project = await cpoProject({});

  const ended = await project.validate('--prompts');

  expect(ended.code).toBe(2);
  expect(ended.stderr).toContain('There are no prompts');
});

// Fix: prompts that had just been made always failed.
test('P41: a prompt that is made from a task file is whole', async () => {
  await using project = await cpoProject({
    files: { 'tasks/task-001.md': taskFile('task-001', 'CREATE: one.py') },
  });
  const shown = await project.validate('--json');
  const [task] = JSON.parse(shown.stdout).plan.tasks;
  await project.repo.write({ [`${DIR}/prompts/task-001.txt`]: task.prompt });

  const ended = await project.validate('--prompts');

  expect(ended.stdout).toContain('1 of 1 prompts are complete.');
  expect(ended.code).toBe(0);
});

// Keep.
test('P62: status is pending before a run, running during it and final afterwards', async () => {
  await using project = await cpoProject({
    manifest: manifest([['task-001'], ['task-002']]),
    files: PROMPTS,
    tasks: {
      'task-001': `n=0; until [ -f "$OUT/go" ]; do n=$((n+1)); [ $n -lt 2000 ] || exit 9; sleep 0.1; done
echo 1 > one.py; ${DONE}`,
      'task-002': `echo 2 > two.py; ${DONE}`,
    },
  });
  const states = async () => {
    const { code, stdout } = await project.status('--json');
    expect(code).toBe(0);
    const { tasks } = JSON.parse(stdout) as { tasks: { id: string; state: string }[] };
    return tasks.map(({ id, state }) => [id, state]);
  };

  const before = await states();
  const running = project.start('--events');
  await running.untilFact('attempt.started', 'task-001');
  const during = await states();
  await writeFile(join(project.outside, 'go'), '');
  await running.ended;
  const after = await states();

  expect(before).toEqual([
    ['task-001', 'pending'],
    ['task-002', 'pending'],
  ]);
  expect(during).toEqual([
    ['task-001', 'running'],
    ['task-002', 'waiting'],
  ]);
  expect(after).toEqual([
    ['task-001', 'landed'],
    ['task-002', 'landed'],
  ]);
});
