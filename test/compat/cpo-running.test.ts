/** Running the directories of cpo: waves, validations, packages, and what reaches the branch. */

import { expect, test } from 'vitest';
import { cpoProject, DIR, DONE, manifest, taskFile } from './cpo-project.ts';

const PROMPTS = {
  'prompts/task-001.txt': 'one\n',
  'prompts/task-002.txt': 'two\n',
  'prompts/task-003.txt': 'three\n',
};
const WRITES = {
  'task-001': `echo 1 > one.py; ${DONE}`,
  'task-002': `echo 2 > two.py; ${DONE}`,
  'task-003': `ls > "$OUT/seen"; echo 3 > three.py; ${DONE}`,
};
const TWO_WAVES = [['task-001', 'task-002'], ['task-003']];

// Keep.
test('P49: an agent of the second wave starts when all of the first has landed', async () => {
  await using project = await cpoProject({
    manifest: manifest(TWO_WAVES),
    files: PROMPTS,
    tasks: WRITES,
  });

  const ended = await project.run();

  expect(ended.code).toBe(0);
  expect((await project.calls()).at(-1)).toBe('task-003');
  expect((await project.read('seen')).split('\n')).toEqual(
    expect.arrayContaining(['one.py', 'two.py']),
  );
  expect(await project.landed()).toEqual(['one.py', 'three.py', 'two.py']);
});

// Fix: one slow task held back the next wave although nothing there needed it.
test('without barriers a task starts when what it depends on has landed', async () => {
  const waits =
    'n=0; until [ -f "$OUT/three" ]; do n=$((n+1)); [ $n -lt 2000 ] || exit 9; sleep 0.1; done';
  await using project = await cpoProject({
    manifest: manifest(TWO_WAVES),
    files: {
      'tasks/task-001.md': taskFile('task-001', 'CREATE: one.py'),
      'tasks/task-002.md': taskFile('task-002', 'CREATE: two.py'),
      'tasks/task-003.md': taskFile('task-003', 'CREATE: three.py', 'deps: [task-001]'),
    },
    tasks: {
      ...WRITES,
      'task-002': `${waits}; echo 2 > two.py; ${DONE}`,
      'task-003': `echo 3 > three.py; touch "$OUT/three"; ${DONE}`,
    },
  });

  const ended = await project.run('--no-barriers');

  expect(ended.code).toBe(0);
  expect(await project.landed()).toEqual(['one.py', 'three.py', 'two.py']);
});

// Keep.
test('P50: when an agent fails the others of its wave finish, and no later wave starts', async () => {
  await using project = await cpoProject({
    manifest: manifest(TWO_WAVES),
    files: PROMPTS,
    tasks: { ...WRITES, 'task-001': 'echo broken >&2; exit 1' },
  });

  const ended = await project.run();

  expect(ended.code).toBe(1);
  expect(await project.landed()).toEqual(['two.py']);
  expect(await project.calls()).not.toContain('task-003');
});

// Keep.
test('P52: a validation that begins like Python is Python, on what the wave has made', async () => {
  await using project = await cpoProject({
    manifest: manifest(TWO_WAVES, {
      1: { validation: "from one import x; print('Wave 1 OK')\nassert x == 7" },
    }),
    files: PROMPTS,
    tasks: { ...WRITES, 'task-001': `echo 'x = 7' > one.py; ${DONE}` },
  });

  const ended = await project.run();

  expect(ended.code).toBe(0);
  expect(await project.inside('logs/wave-1-validation.log')).toBe('Wave 1 OK\n');
  expect(await project.landed()).toEqual(['one.py', 'three.py', 'two.py']);
});

test("P52: it is given to the project's own interpreter where there is one", async () => {
  await using project = await cpoProject({
    manifest: manifest([['task-001']], { 1: { validation: "import os; print('it''s')" } }),
    files: PROMPTS,
    root: { 'pyproject.toml': '[project]\nname = "shop"\n' },
    tasks: WRITES,
    programs: { uv: '#!/bin/sh\nprintf "%s|" "$@"\n' },
  });

  const ended = await project.run();

  expect(ended.code).toBe(0);
  expect(await project.inside('logs/wave-1-validation.log')).toBe(
    "run|python|-c|import os; print('it''s')|\n",
  );
});

// Keep.
test('P53: any other validation is shell; where it fails, later waves do not start', async () => {
  await using project = await cpoProject({
    manifest: manifest(TWO_WAVES, { 1: { validation: 'test -f one.py && test -f nothing.py' } }),
    files: PROMPTS,
    tasks: WRITES,
  });

  const ended = await project.run();

  expect(ended.code).toBe(1);
  expect(await project.landed()).toEqual(['one.py', 'two.py']);
  expect(await project.calls()).not.toContain('task-003');
});

// Keep.
test('P55: work that touched other files is rebased: the history is linear', async () => {
  await using project = await cpoProject({
    manifest: manifest([['task-001', 'task-002']]),
    files: PROMPTS,
    tasks: {
      'task-001': `echo 1 > one.py; git add one.py; git commit -qm 'feat: one'; ${DONE}`,
      'task-002': `echo 2 > two.py; git add two.py; git commit -qm 'feat: two'; ${DONE}`,
    },
  });

  const ended = await project.run();

  expect(ended.code).toBe(0);
  expect((await project.subjects()).toSorted()).toEqual(['feat: one', 'feat: two']);
  expect(await project.repo.git('rev-list', '--merges', 'main')).toBe('');
});

// Fix: the task failed because of a file in the user's own working tree.
test('P56: an untracked file of the checkout that is in the way costs no work', async () => {
  await using project = await cpoProject({
    manifest: manifest([['task-001']]),
    files: PROMPTS,
    tasks: WRITES,
  });
  await project.repo.write({ 'one.py': 'mine, not committed\n' });

  const ended = await project.run('--events');

  const facts = ended.stdout;
  expect(facts).toContain('"type":"merge.landed","task":"task-001"');
  expect(await project.repo.git('status', '--porcelain', 'one.py')).toBe('?? one.py');
  expect(await project.repo.git('log', '--all', '--format=%s')).toContain(
    'feat(task-001): task-001',
  );
  expect(ended.stderr).toContain('one.py');
});

// Keep.
test('P58: the fields of an answer are read although prose follows it', async () => {
  await using project = await cpoProject({ files: PROMPTS, tasks: WRITES });

  const ended = await project.run();

  const report = JSON.parse(await project.inside('report.json'));
  expect(ended.code).toBe(0);
  expect(report.waves[0].tasks[0].answer).toMatchObject({ summary: 'done', validated: true });
});

// Fix: what became of it was not defined.
test('P59: an agent whose validation did not pass has not succeeded', async () => {
  const answer = DONE.replace('"validation_passed": true', '"validation_passed": false');
  await using project = await cpoProject({
    files: PROMPTS,
    tasks: { 'task-001': `echo 1 > one.py; ${answer}` },
  });

  const ended = await project.run();

  expect(ended.code).toBe(1);
  expect(await project.landed()).toEqual([]);
});

// Keep: the marker in the worktree's root. Fix: it was made by the orchestrator itself.
test('P59: a task that asks for a marker is complete with it or an answer, not without', async () => {
  const ids = ['task-001', 'task-002', 'task-003'];
  await using project = await cpoProject({
    manifest: manifest([ids]),
    files: Object.fromEntries(
      ids.map((id) => [`tasks/${id}.md`, taskFile(id, `CREATE: ${id}.py`)]),
    ),
    tasks: {
      'task-001': 'echo 1 > task-001.py', // The stub leaves the marker.
      'task-002': `rm .claude-task-complete; echo 2 > task-002.py; ${DONE}`,
      'task-003': 'rm .claude-task-complete; echo 3 > task-003.py',
    },
  });

  const ended = await project.run();

  expect(ended.code).toBe(1);
  expect(await project.landed()).toEqual(['task-001.py', 'task-002.py']);
  expect(ended.stdout).toContain('without .claude-task-complete');
  expect((await project.calls()).filter((id) => id === 'task-003')).toHaveLength(2);
});

// Keep: a clean working tree. What earlier runs left, and files that are new, are not in the way.
test('P56: a run beside uncommitted changes is refused before any agent starts', async () => {
  await using project = await cpoProject({
    files: { ...PROMPTS, 'report.json': '{}' },
    tasks: WRITES,
  });
  await project.repo.write({ 'README.md': 'my edit\n', [`${DIR}/report.json`]: '{"old": 1}' });

  const refused = await project.run();

  expect(refused.code).toBe(3);
  expect(refused.stderr).toContain('Uncommitted changes are in the way: README.md.');
  expect(await project.calls()).toEqual([]);
  await project.repo.git('checkout', '--quiet', 'README.md');
  expect((await project.run()).stderr).not.toContain('in the way');
  expect(await project.calls()).toEqual(['task-001']);
});

// Keep.
test('P61: a run leaves logs and two reports in the directory, and a clean checkout', async () => {
  await using project = await cpoProject({
    manifest: manifest(TWO_WAVES),
    files: PROMPTS,
    tasks: { ...WRITES, 'task-002': 'echo broken >&2; exit 1' },
  });

  const ended = await project.run('--events');

  const log = await project.inside('logs/task-001.log');
  const result = JSON.parse(await project.inside('logs/task-001.log.json'));
  const report = JSON.parse(await project.inside('report.json'));
  const table = (await project.inside('execution-report.md')).split('\n');
  expect(ended.stdout).not.toContain('attempt.strayed');
  expect(log).toContain('"type":"result"');
  expect(result).toMatchObject({ type: 'result', num_turns: 1, total_cost_usd: 0.44 });
  expect(report).toMatchObject({ tech_spec_id: 'TS-0042', status: 'failed', tasks_failed: 1 });
  expect(table[0]).toBe('# Execution report: TS-0042');
  expect(table).toContain('| Wave | Tasks | Status | Duration |');
  expect(table.find((line) => line.startsWith('| 1 |'))).toMatch(
    /^\| 1 \| task-001, task-002 \| FAILED \| \d+\.\ds \|$/,
  );
  expect(table.find((line) => line.startsWith('| 2 |'))).toBe('| 2 | task-003 | PENDING | 0.0s |');
  expect(table).toContain('### task-002: FAILED');
  expect(await project.repo.git('status', '--porcelain')).toBe('');
});

// Fix: the marker and the environment of the interpreter were committed by accident.
test('the files by which agents say that they are done are never committed', async () => {
  const leave = 'touch .claude-task-complete; mkdir -p .venv/bin; touch .venv/bin/python';
  await using project = await cpoProject({
    files: PROMPTS,
    tasks: { 'task-001': `${leave}; echo 1 > one.py; git add -A; git commit -qm one; ${DONE}` },
  });

  const ended = await project.run();

  expect(ended.code).toBe(0);
  expect(await project.landed()).toEqual(['one.py']);
});

// Fix: BOUNDARY was only words in a prompt.
test('an agent that changes a file of its BOUNDARY fails, and its work is kept', async () => {
  await using project = await cpoProject({
    files: { 'tasks/task-001.md': taskFile('task-001', 'CREATE: one.py\nBOUNDARY: core/*') },
    root: { 'core/base.py': 'x = 1\n' },
    tasks: { 'task-001': `echo 1 > one.py; echo 2 > core/base.py; ${DONE}` },
  });

  const ended = await project.run();

  expect(ended.code).toBe(1);
  expect(await project.landed()).toEqual([]);
  expect(await project.inside('execution-report.md')).toContain('core/base.py');
});

test('an agent is given its role, its prompt and the contracts of its task', async () => {
  await using project = await cpoProject({
    files: {
      'tasks/task-001.md': taskFile(
        'task-001',
        'CREATE: one.py',
        'contracts: [contracts/types.py]',
      ),
      'prompts/task-001.txt': 'Make one.py.\n',
      'contracts/types.py': 'class User: ...\n',
    },
    tasks: WRITES,
  });

  const ended = await project.run();

  const prompt = await project.read('prompt-task-001');
  const argv = (await project.read('argv-task-001')).split('\n');
  expect(ended.code).toBe(0);
  expect(argv[argv.indexOf('--agent') + 1]).toBe('python-experts:django-expert');
  expect(prompt).toContain('Make one.py.\n');
  expect(prompt).toContain(`${DIR}/contracts/types.py:\n\n\`\`\`\nclass User: ...\n\`\`\``);
  expect(prompt).toContain('task_completed');
});
