/** What is read from cpo's directories, and what is found to be wrong with them. */

import { expect, test } from 'vitest';
import type { Plan } from '../../src/model/plan.ts';
import type { Ended } from '../support/landfast.ts';
import {
  cpoProject,
  DIR,
  DONE,
  manifest,
  type Project,
  type ProjectInput,
  taskFile,
} from './cpo-project.ts';

/** The directory is validated; what is shown is told without its path. */
async function validated(input: ProjectInput): Promise<Ended & { readonly plan: Plan | null }> {
  await using project: Project = await cpoProject(input);
  const ended = await project.validate('--json');
  const plan = ended.code === 0 ? (JSON.parse(ended.stdout).plan as Plan) : null;
  return { ...ended, stderr: ended.stderr.replaceAll(`${DIR}/`, ''), plan };
}

/** Tasks of one wave with these scopes. */
function scopes(...texts: readonly string[]): ProjectInput {
  const ids = texts.map((_, index) => `task-00${index + 1}`);
  const files = texts.map((text, i) => [`tasks/${ids[i]}.md`, taskFile(ids[i]!, text)]);
  return { manifest: manifest([ids]), files: Object.fromEntries(files) };
}

/** Two waves of one task each, with this front matter for both. */
function order(first: string, second: string): ProjectInput {
  return {
    manifest: manifest([['task-001'], ['task-002', 'task-003']]),
    files: {
      'tasks/task-001.md': taskFile('task-001', '', first),
      'tasks/task-002.md': taskFile('task-002', '', second),
      'tasks/task-003.md': taskFile('task-003', ''),
    },
  };
}

// Keep.
test('P11: ids with and without a component are the same task, with a warning', async () => {
  const { code, stderr, plan } = await validated({
    manifest: manifest([['task-004']]),
    files: {
      'tasks/task-004-ingestion-service.md': taskFile('task-004-ingestion-service', 'CREATE: a.py'),
    },
  });

  expect(code).toBe(0);
  expect(plan?.tasks[0]?.writes).toEqual(['a.py']);
  expect(stderr).toContain(
    'tasks/task-004-ingestion-service.md:2:5: warning: id "task-004-ingestion-service" is called',
  );
});

// Keep.
test('P13: a task of wave 1 that depends on something is refused', async () => {
  const { code, stderr } = await validated(order('deps: [task-002]', 'deps: []'));

  expect(code).toBe(2);
  expect(stderr).toContain(
    'tasks/task-001.md:5:8: error: "task-001" depends on "task-002", but is',
  );
});

// Keep.
test('P14: a task that depends on one of its own or a later wave is refused', async () => {
  const { code, stderr } = await validated(order('deps: []', 'deps: [task-003]'));

  expect(code).toBe(2);
  expect(stderr).toContain(
    'tasks/task-002.md:5:8: error: "task-002" depends on "task-003", but both are in wave 2',
  );
});

// Keep.
test('P16: an id that appears twice is refused', async () => {
  const { code, stderr } = await validated({
    manifest: manifest([['task-001'], ['task-001']]),
    files: { 'prompts/task-001.txt': 'x\n' },
  });

  expect(code).toBe(2);
  expect(stderr).toContain('error: duplicate task id "task-001"');
});

// Fix: it went unnoticed.
test('P17: blocks within one wave are a warning that names both', async () => {
  const input = scopes('CREATE: a.py', 'CREATE: b.py');
  const blocking = taskFile('task-001', 'CREATE: a.py', 'deps: []\nblocks: [task-002]');

  const { code, stderr } = await validated({
    ...input,
    files: { ...input.files, 'tasks/task-001.md': blocking },
  });

  expect(code).toBe(0);
  expect(stderr).toContain('warning: "task-001" blocks "task-002", but both are in wave 1');
});

// Keep, and what globs, braces and own boundaries are concerned: fix.
test.each([
  ['P19: both MODIFY a.py', ['MODIFY: a.py', 'MODIFY: a.py']],
  ['P23: a.py and a part of it', ['MODIFY: a.py', 'MODIFY: a.py::f']],
  ['P25: MODIFY inside the own BOUNDARY', ['MODIFY: b.py\nBOUNDARY: b.py']],
  ['P26: MODIFY inside a glob of the own BOUNDARY', ['MODIFY: src/a.py\nBOUNDARY: src/*']],
  ['P28: CREATE by a glob and by name', ['CREATE: src/*.py', 'CREATE: src/a.py']],
])('%s is a conflict', async (_, texts) => {
  const { code, stderr } = await validated(scopes(...texts));

  expect(code).toBe(2);
  expect(stderr.match(/error: conflict: /g)).toHaveLength(1);
});

// Keep.
test.each([
  ['P20: two parts of a file', 'MODIFY: a.py::f', 'MODIFY: a.py::g'],
  ['P22: parts whose names begin alike', 'MODIFY: a.py::User', 'MODIFY: a.py::UserSet'],
])('%s may be changed in one wave', async (_, first, second) => {
  const { code, stderr } = await validated(scopes(first, second));

  expect(stderr).toBe('');
  expect(code).toBe(0);
});

// Fix: the list was torn apart at the comma inside the braces.
test('P29: braces with a comma are two files, and a glob beside them one glob', async () => {
  const { plan } = await validated(scopes('CREATE: apps/u/{models,views}.py, apps/u/tests/*.py'));

  expect(plan?.tasks[0]?.writes).toEqual([
    'apps/u/models.py',
    'apps/u/views.py',
    'apps/u/tests/*.py',
  ]);
});

// Keep.
test('P31: a block list gives paths without their remarks', async () => {
  const scope = `CREATE:
- rag/ingest.py
BOUNDARY:
- rag/core/* (do not modify)
- x.py (owned by task-001)`;

  const { plan } = await validated(scopes(scope));

  expect(plan?.tasks[0]).toMatchObject({
    writes: ['rag/ingest.py'],
    forbids: ['rag/core/*', 'x.py', `${DIR}/contracts/**`],
  });
});

// Keep.
test('P32: bold directives with quoted paths and descriptions give the paths', async () => {
  const scope = `**CREATE**:
- \`apps/users/models.py\` - the User model
**BOUNDARY**:
- \`apps/core/\` - shared`;

  const { plan } = await validated(scopes(scope));

  expect(plan?.tasks[0]).toMatchObject({
    writes: ['apps/users/models.py'],
    forbids: ['apps/core', `${DIR}/contracts/**`],
  });
});

// Keep.
test('P34: a task file that is not in the manifest is left out with a warning', async () => {
  const { code, stderr, plan } = await validated({
    manifest: manifest([['task-001']]),
    files: {
      'tasks/task-001.md': taskFile('task-001', ''),
      'tasks/task-002.md': taskFile('task-002', ''),
    },
  });

  expect(code).toBe(0);
  expect(plan?.tasks.map(({ id }) => id)).toEqual(['task-001']);
  expect(stderr).toContain('tasks/task-002.md:2:5: warning: this task is not in the manifest');
});

// Keep.
test('P35: a contract that is missing is a warning, and the prompt is made', async () => {
  const { code, stderr, plan } = await validated({
    files: { 'tasks/task-001.md': taskFile('task-001', '', 'contracts: [contracts/gone.py]') },
  });

  expect(code).toBe(0);
  expect(plan?.tasks[0]?.prompt).toContain('=== CONTRACTS ===\n\n(none)');
  expect(stderr).toContain('warning: contract "contracts/gone.py" is missing');
});

// Keep.
test("P37: a task without skills is given those of its agent's entry in the mapping", async () => {
  const mapping = `agents:
  python-experts:django-expert:
    skills: [django-api, git-workflow:commit]
`;
  await using project = await cpoProject({
    files: { 'tasks/task-001.md': taskFile('task-001', 'CREATE: one.py') },
    root: { '.claude/skills/parallel-agents/agent-skills-mapping.yaml': mapping },
    tasks: { 'task-001': `echo 1 > one.py; ${DONE}` },
  });

  const ended = await project.run();

  expect(ended.code).toBe(0);
  expect(await project.read('prompt-task-001')).toContain(
    '- python-experts:django-api\n- git-workflow:commit\n',
  );
});

// Keep.
test('P68: a node of a Mermaid graph is known by the task in its label', async () => {
  const graph = `\`\`\`mermaid
graph LR
    T10[task-010<br/>django-expert]
    T2[task-002<br/>django-expert]
    T10 --> T2
\`\`\`
`;
  const { code, stderr } = await validated({
    manifest: manifest([['task-001', 'task-010'], ['task-002']]),
    files: {
      'tasks/task-001.md': taskFile('task-001', ''),
      'tasks/task-010.md': taskFile('task-010', ''),
      'tasks/task-002.md': taskFile('task-002', '', 'deps: [task-001]'),
      'task-graph.md': graph,
    },
  });

  expect(code).toBe(0);
  expect(stderr.split('\n').filter((line) => line.startsWith('task-graph.md'))).toEqual([
    'task-graph.md:1:1: warning: the graph lacks "task-001"',
    'task-graph.md:1:1: warning: the graph lacks the edges task-001 -> task-002',
    'task-graph.md:5:1: warning: "task-010" -> "task-002", but task-002 does not depend on it',
  ]);
});
