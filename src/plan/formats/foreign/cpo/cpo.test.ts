import { expect, test } from 'vitest';
import {
  AGENT,
  DIR,
  manifest,
  readDirectory,
  scopes,
  taskFile,
} from '../../../../../test/support/cpo-directory.ts';
import { planInput } from '../../../../../test/support/plan-input.ts';
import type { ReadOptions } from '../../format.ts';
import { cpo } from './cpo.ts';

test('the smallest directory: waves become needs, prompts are found by id', () => {
  const { plan, format, problems, task } = readDirectory(
    manifest(['task-001', 'task-002'], ['task-003']),
    {
      'prompts/task-001.txt': 'one\n',
      'prompts/task-002.txt': 'two\n',
      'prompts/task-003.txt': 'three\n',
    },
  );

  expect(problems).toEqual([]);
  expect(format).toBe('cpo');
  expect(plan?.name).toBe('TS-0042-shop');
  expect(plan?.tasks.map(({ id, wave, needs }) => [id, wave, needs])).toEqual([
    ['task-001', 1, []],
    ['task-002', 1, []],
    ['task-003', 2, ['task-001', 'task-002']],
  ]);
  expect(task('task-003')?.prompt).toBe('three\n');
  expect(task('task-003')?.role).toBe(AGENT);
  expect(plan?.conventions.logs).toEqual({ dir: `${DIR}/logs`, style: 'result' });
});

test('a validation stands between two waves; without barriers deps alone are the order', () => {
  const given = manifest(['task-001', 'task-002'], ['task-003']);
  const waves = [{ ...given.waves[0], validation: 'pytest a && mypy a' }, given.waves[1]];
  const files = {
    'tasks/task-001.md': taskFile('task-001', 'deps: []'),
    'tasks/task-002.md': taskFile('task-002', 'deps: []'),
    'tasks/task-003.md': taskFile('task-003', 'deps: [task-002]'),
  };
  const needsIn = (options: ReadOptions) =>
    readDirectory({ ...given, waves }, files, { options }).plan?.tasks.map(({ id, needs }) => [
      id,
      needs,
    ]);

  expect(needsIn({})).toEqual([
    ['task-001', []],
    ['task-002', []],
    ['wave-1-validation', ['task-001', 'task-002']],
    ['task-003', ['task-001', 'task-002', 'wave-1-validation']],
  ]);
  expect(needsIn({ barriers: false })).toEqual([
    ['task-001', []],
    ['task-002', []],
    ['wave-1-validation', ['task-001', 'task-002']],
    ['task-003', ['task-002']],
  ]);
});

test('a manifest of the form 1.0.0 takes its waves from the task files', () => {
  const legacy = { version: '1.0.0', tech_spec: { id: 'TS-0007' }, tasks: { total: 2, waves: 2 } };
  const { plan, problems } = readDirectory(legacy, {
    'tasks/task-001-users.md': taskFile('task-001-users', 'wave: 1\ndeps: []'),
    'tasks/task-002-cart.md': taskFile('task-002-cart', 'wave: 2\ndeps: [task-001]'),
  });

  expect(problems).toEqual([]);
  expect(plan?.tasks.map(({ id, wave, needs, role }) => [id, wave, needs, role])).toEqual([
    ['task-001-users', 1, [], AGENT],
    ['task-002-cart', 2, ['task-001-users'], AGENT],
  ]);
});

test('problems of every file are shown at once, each with its own name and line', () => {
  const { plan, problems } = readDirectory(
    { ...manifest(['task-001', 'task-001'], ['task-002', 'task-009']), tech_spec_id: undefined },
    {
      'tasks/task-001.md': taskFile('task-001', 'deps: [task-002]', 'CREATE: /etc/x'),
      'tasks/task-002.md': taskFile('task-002', 'deps: [task-00]\nblocks: nobody'),
      'tasks/task-003.md': taskFile('task-003', 'deps: []'),
    },
  );

  expect(plan).toBeNull();
  expect(problems).toEqual([
    'manifest.json:1:1: error: tech_spec_id is missing\n  add it: "tech_spec_id": "TS-0042"',
    'manifest.json:12:17: error: duplicate task id "task-001"\n' +
      '  wave 1 has it too (line 8): rename one',
    'manifest.json:25:17: error: task-009 has neither a prompt nor a task file\n' +
      '  write prompts/task-009.txt, or tasks/task-009.md to make it from',
    'tasks/task-001.md:5:8: error: "task-001" depends on "task-002", but is in wave 1\n' +
      '  a task of wave 1 has no deps: move it to wave 2',
    'tasks/task-001.md:11:9: error: "/etc/x" is an absolute path\n' +
      "  write it relative to the repository's root",
    'tasks/task-002.md:5:8: error: deps names "task-00", which is not a task in the manifest\n' +
      '  did you mean "task-001"?',
    'tasks/task-002.md:6:9: error: blocks names "nobody", which is not a task in the manifest\n' +
      '  name a task by its id',
    'tasks/task-003.md:2:5: warning: this task is not in the manifest and is ignored\n' +
      '  add it to a wave of manifest.json, or delete the file',
  ]);
});

test('waves are numbered from 1 without a gap', () => {
  const waves = [1, 3].map((number) => ({
    number,
    tasks: [{ id: `task-00${number}`, agent: 'a' }],
  }));
  const { problems } = readDirectory(
    { tech_spec_id: 'TS-1', waves },
    { 'prompts/task-001.txt': 'a', 'prompts/task-003.txt': 'b' },
  );

  expect(problems).toEqual([
    'manifest.json:14:17: error: there is no wave 2\n  number the waves 1, 2, 3 without a gap',
  ]);
});

test('what is created and modified is written, what is in BOUNDARY is forbidden', () => {
  const { task } = scopes('CREATE: a/{x,y}.py\nMODIFY: b.py::f\nBOUNDARY: core/*, c.py::Admin');

  expect(task('task-001')).toMatchObject({
    writes: ['a/x.py', 'a/y.py', 'b.py'],
    forbids: ['core/*', `${DIR}/contracts/**`],
    outside: 'report',
    allowEmpty: false,
    answer: 'marker',
  });
});

test('a prompt is made from the task file, with skills, context and contracts', () => {
  const file = taskFile(
    'task-001-users',
    'deps: []\nskills: [python-experts:django-api]\ncontracts: [contracts/types.py]',
    'CREATE: apps/users/models.py\nBOUNDARY: apps/core/*',
  );
  const { task, problems } = readDirectory(manifest(['task-001']), {
    'tasks/task-001-users.md': `${file}\n## Checklist\n- [ ] Tests pass\n`,
    'context.md': 'A shop.\n',
    'contracts/types.py': 'class User: ...\n',
  });

  expect(problems).toEqual([
    'tasks/task-001-users.md:2:5: warning: id "task-001-users" is called "task-001" in the ' +
      'manifest\n  they are taken for the same task; give both the same id',
  ]);
  expect(task('task-001')?.prompt).toMatchInlineSnapshot(`
    "TASK-001: Users
    Agent: python-experts:django-expert
    Wave: 1
    Dependencies: None

    === REQUIRED SKILLS ===

    Invoke each of these skills before you write code:

    - python-experts:django-api

    === CONTEXT ===

    A shop.

    === OBJECTIVE ===

    users

    === CONTRACTS ===

    Read these first; types, fields and names are as they say:

    - parallel/TS-0042-shop/contracts/types.py

    === FILES TO CREATE ===

    - apps/users/models.py

    === FILES TO MODIFY ===

    (none)

    === DO NOT MODIFY ===

    - apps/core/*

    === IMPLEMENTATION REQUIREMENTS ===

    - Add them.

    === ACCEPTANCE CRITERIA ===

    - [ ] Tests pass

    === EXECUTION INSTRUCTIONS ===

    1. Read the contracts, then the code that already exists.
    2. Write the code. A plan or a proposal is not enough.
    3. Write tests for it, run them, and mend until they are green.
    4. Run the project's linter and mend what it finds.
    5. Make one commit, with a conventional message such as "feat(users): add the user model".

    === IMPORTANT RULES ===

    - No one is there to confirm anything: continue without asking.
    - Leave alone what DO NOT MODIFY lists.
    - Follow the contracts. They are designs: write their types again in the project's own code.
    - Commit, and say that you are done, only when tests and linter are green.
    - If something blocks you, stop and report it instead of working around it.

    === COMPLETION SIGNAL ===

    When tests and linter are green and the work is committed, create the empty file .claude-task-complete in the root of your worktree. It is never committed.

    === CONTRACT FILES ===

    Designs to follow, not modules: never import anything from parallel/TS-0042-shop/.

    parallel/TS-0042-shop/contracts/types.py:

    \`\`\`
    class User: ...
    \`\`\`
    "
  `);
});

test('a contract that is missing or lies elsewhere is a warning', () => {
  const front = 'deps: []\ncontracts: [contracts/gone.py, /etc/passwd]';
  const { plan, problems } = readDirectory(manifest(['task-001']), {
    'tasks/task-001.md': taskFile('task-001', front),
  });

  expect(plan).not.toBeNull();
  expect(problems).toEqual([
    'tasks/task-001.md:6:13: warning: contract "contracts/gone.py" is missing\n' +
      '  name it relative to the directory: contracts/types.py',
    'tasks/task-001.md:6:32: warning: contract "/etc/passwd" lies outside of the repository\n' +
      '  name it relative to the directory: contracts/types.py',
  ]);
});

test('blocks within a wave, and deps that are not mirrored, are warnings', () => {
  const { plan, problems, task } = readDirectory(manifest(['task-001', 'task-002'], ['task-003']), {
    'tasks/task-001.md': taskFile('task-001', 'deps: []\nblocks: [task-002, task-003]'),
    'tasks/task-002.md': taskFile('task-002', 'deps: []\nblocks: []'),
    'tasks/task-003.md': taskFile('task-003', 'deps: [task-002]'),
  });

  expect(plan).not.toBeNull();
  expect(task('task-003')?.needs).toEqual(['task-001', 'task-002']);
  expect(problems).toEqual([
    'tasks/task-001.md:6:10: warning: "task-001" blocks "task-002", but both are in wave 1\n' +
      '  they run at the same time: move the second to a later wave, or remove it',
    'tasks/task-001.md:6:20: warning: "task-001" blocks "task-003", which does not say so\n' +
      '  add task-001 to the deps of task-003',
    'tasks/task-002.md:2:5: warning: "task-003" depends on "task-002", but is not in its blocks\n' +
      '  add task-003 to blocks',
  ]);
});

test('a circle is named as a whole', () => {
  const { problems } = readDirectory(manifest(['task-009'], ['task-001', 'task-002']), {
    'prompts/task-009.txt': 'x',
    'tasks/task-001.md': taskFile('task-001', 'deps: [task-002]'),
    'tasks/task-002.md': taskFile('task-002', 'deps: [task-001]'),
  });

  expect(problems).toContain(
    'tasks/task-001.md:5:8: error: cyclic dependency: task-001 -> task-002 -> task-001\n' +
      '  remove one of these from deps: none of the tasks could ever start',
  );
});

const GRAPH = `# Graph

\`\`\`mermaid
graph LR
    %% the waves
    subgraph W1["Wave 1 - parallel"]
        T1[task-001<br/>django-expert]
        T2["task-002-users<br/>expert"]
    end
    subgraph "Wave 2"
        T3(task-003)
        T10[task-010<br/>nobody]
    end
    T1 --> T3
    T3 -.-> T2
    style T1 fill:#fff
\`\`\`
`;

test('the task graph is compared with the manifest', () => {
  const { plan, problems } = readDirectory(
    manifest(['task-001', 'task-002'], ['task-003', 'task-004']),
    {
      'tasks/task-001.md': taskFile('task-001', 'deps: []'),
      'tasks/task-002.md': taskFile('task-002', 'deps: []'),
      'tasks/task-003.md': taskFile('task-003', 'deps: [task-002]'),
      'tasks/task-004.md': taskFile('task-004', 'deps: []'),
      'task-graph.md': GRAPH,
    },
  );

  expect(plan).not.toBeNull();
  expect(problems).toEqual([
    'task-graph.md:1:1: warning: the graph lacks "task-004"',
    'task-graph.md:1:1: warning: the graph lacks the edges task-002 -> task-003',
    'task-graph.md:12:1: warning: "task-010" is not a task in the manifest',
    'task-graph.md:14:1: warning: "task-001" -> "task-003", but task-003 does not depend on it\n' +
      '  its deps win',
    'task-graph.md:15:1: warning: "task-003" -> "task-002", but the waves are 2 and 1\n' +
      '  the manifest wins',
  ]);
});

test('a manifest of another name is named in its problems', () => {
  const { problems } = cpo.parse(planInput('parallel/plan.json', '{"tech_spec_id": "TS-1"}'));
  expect(problems.map(({ file, message }) => [file, message])).toEqual([
    ['parallel/plan.json', 'waves is missing'],
  ]);
});
