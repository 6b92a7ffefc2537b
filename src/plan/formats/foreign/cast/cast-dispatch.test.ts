/** Dispatch manifests: where the block is, what its keys mean, and what is refused. */

import { describe, expect, test } from 'vitest';
import { type PlanFiles, planInput } from '../../../../../test/support/plan-input.ts';
import type { Plan } from '../../../../model/plan.ts';
import { formatProblem } from '../../../problem.ts';
import { castDispatch } from './cast-dispatch.ts';

const AGENT = { subagent_type: 'code-writer', prompt: 'Do it.' };

function markdown(manifest: unknown): string {
  return `# Plan\n\n\`\`\`json dispatch\n${JSON.stringify(manifest, null, 1)}\n\`\`\`\n`;
}

function read(text: string, around: PlanFiles = {}) {
  const parsed = castDispatch.parse(planInput('plans/p.md', text, around));
  expect(parsed.plan === null).toBe(parsed.problems.some(({ severity }) => severity === 'error'));
  expect(parsed.refusalExit).toBe(1);
  return { ...parsed, problems: parsed.problems.map(formatProblem) };
}

/** The plan of batches without a problem. */
function planOf(batches: readonly unknown[], head: object = {}, around: PlanFiles = {}): Plan {
  const { plan, problems } = read(markdown({ ...head, batches }), around);
  expect(problems).toEqual([]);
  return plan!;
}

function needs(plan: Plan): Record<string, readonly string[]> {
  return Object.fromEntries(plan.tasks.map((task) => [task.id, task.needs]));
}

/** The problems of batches, without the place. */
function problems(batches: unknown, head: object = {}, around: PlanFiles = {}): readonly string[] {
  return read(markdown({ ...head, batches }), around).problems.map((text) =>
    text.replace(/^plans\/p\.md:\d+:\d+: /, ''),
  );
}

const ONE = JSON.stringify({ batches: [{ id: 1, agents: [AGENT] }] });

describe('the block', () => {
  test.each([
    ['with CRLF', `# P\r\n\`\`\`json dispatch\r\n${ONE}\r\n\`\`\`\r\n`],
    [
      'indented, with blanks at the end',
      `- x\n\n   \`\`\`json dispatch  \n   ${ONE}\n   \`\`\` \n`,
    ],
    ['in a longer fence', `\`\`\`\`\`json   dispatch\n${ONE}\n\`\`\`\`\`\n`],
    ['in tildes', `~~~json dispatch\n${ONE}\n~~~\n`],
    ['with a byte order mark', `\uFEFF\`\`\`json dispatch\n${ONE}\n\`\`\``],
    [
      'beside a sample in a longer fence',
      `\`\`\`\`markdown\n\`\`\`json dispatch\n{}\n\`\`\`\n\`\`\`\`\n\`\`\`json dispatch\n${ONE}\n\`\`\`\n`,
    ],
  ])('%s is found', (_, text) => {
    expect(castDispatch.detect({ path: 'p.md', text })).not.toBeNull();
    expect(read(text)).toMatchObject({ problems: [], plan: { name: 'p' } });
  });

  test('CP-16: that is never closed works, with a warning', () => {
    const { plan, problems: found } = read(`\`\`\`json dispatch\n${ONE}\n`);
    expect(plan?.tasks.map(({ id }) => id)).toEqual(['b1-code-writer']);
    expect(found).toEqual([
      'plans/p.md:1:1: warning: the json dispatch block is not closed\n' +
        '  it is read to the end of the file; end it with a line of three back-ticks',
    ]);
  });

  test('CP-14: of its own section counts where there are two', () => {
    const block = `\`\`\`json dispatch\n${ONE}\n\`\`\`\n`;
    const two = `${block}# Agent Dispatch Manifest\n## Details\n${block}# Notes\n`;
    const chosen = read(two);
    expect(chosen.plan).not.toBeNull();
    expect(chosen.problems).toEqual([
      'plans/p.md:6:1: warning: there are json dispatch blocks on lines 1 and 6\n' +
        '  the one on line 6 is used: its section says so',
    ]);
    const unclear = read(`${block}${block}`);
    expect(unclear.problems).toEqual([
      'plans/p.md:4:1: error: there are json dispatch blocks on lines 1 and 4: which one is the plan?\n' +
        '  remove the others, or put the right one under a heading "Agent Dispatch Manifest"',
    ]);
  });

  test('CP-04: that is missing is said, with what came close', () => {
    expect(read('# Just a page\n').problems[0]).toMatch(/^plans\/p\.md:1:1: error: No json/);
    expect(read('```json\n{"batches": []}\n```\n').problems[0]).toContain(
      'the block there is marked "json": mark it `json dispatch`',
    );
    expect(read('```\ncode\n').problems[0]).toContain('fence of line 1 is never closed');
    expect(castDispatch.detect({ path: 'p.md', text: '# Dispatch\n' })).toBeNull();
    const heading = '\n## Agent Dispatch Manifest\n';
    expect(castDispatch.detect({ path: 'p.md', text: heading })).toEqual({ line: 2, column: 1 });
  });

  test.each([
    ['{"batches": [1,]}', ':2:'],
    ['// x\n{}', ':2:1: error: not JSON'],
    ['[]', ':2:1: error: the manifest must be an object, found an empty list'],
    ['{"batches": []}', 'batches is missing or empty'],
    ['{"batches": null}', 'batches is missing or empty'],
    ['{"batches": {"id": 1}}', 'batches must be a list of objects, found a mapping'],
  ])('CP-11: that holds %s is refused', (json, message) => {
    expect(read(`\`\`\`json dispatch\n${json}\n\`\`\``).problems.join('\n')).toContain(message);
  });
});

describe('the order', () => {
  test('batches wait for the whole batch before; inside, a chain or side by side', () => {
    const plan = planOf([
      { id: 1, parallel: true, type: 'sequential', agents: [AGENT, AGENT] },
      { id: 2, agents: [{ agent: 'Spec Reviewer!'.replace(/\W+/g, '_'), prompt: 'x' }, AGENT] },
      { id: 3, agents: [{ subagent_type: 'main', prompt: 'x' }] },
    ]);
    expect(needs(plan)).toEqual({
      'b1-code-writer': [],
      'b1-code-writer-2': [],
      'b2-spec-reviewer': ['b1-code-writer', 'b1-code-writer-2'],
      'b2-code-writer': ['b2-spec-reviewer'],
      'b3-main': ['b2-spec-reviewer', 'b2-code-writer'],
    });
    expect(plan.tasks.map(({ role }) => role)).toEqual([
      'code-writer',
      'code-writer',
      'Spec_Reviewer_',
      'code-writer',
      undefined,
    ]);
  });

  test('CP-17: batches of the same id keep their order, with a warning', () => {
    const { plan, problems: said } = read(
      markdown({
        batches: [
          { id: 1, agents: [AGENT] },
          { id: 2, depends_on: [1], agents: [AGENT] },
          { id: 1, agents: [AGENT] },
          { id: 3, depends_on: [1], agents: [AGENT] },
        ],
      }),
    );
    expect(said).toEqual([
      expect.stringContaining('warning: two batches have the id 1\n  the batch on line 6'),
      expect.stringContaining('warning: batch 1 follows a higher number'),
    ]);
    expect(needs(plan!)).toEqual({
      'b1-code-writer': [],
      'b2-code-writer': ['b1-code-writer'],
      'b1-code-writer-2': ['b2-code-writer'],
      'b3-code-writer': ['b1-code-writer', 'b1-code-writer-2'],
    });
  });

  test('depends_on of a batch or an agent replaces the order of the list', () => {
    const plan = planOf([
      { id: 1, agents: [AGENT] },
      { id: 2, depends_on: [], agents: [AGENT] },
      { id: 3, depends_on: [1], agents: [AGENT, { ...AGENT, depends_on: [2] }] },
    ]);
    expect(needs(plan)).toEqual({
      'b1-code-writer': [],
      'b2-code-writer': [],
      'b3-code-writer': ['b1-code-writer'],
      'b3-code-writer-2': ['b3-code-writer', 'b2-code-writer'],
    });
  });

  test('a batch may depend on a later one, but not in a circle', () => {
    const later = planOf([
      { id: 1, depends_on: [2], agents: [AGENT] },
      { id: 2, depends_on: [], agents: [AGENT] },
    ]);
    expect(needs(later)).toEqual({ 'b1-code-writer': ['b2-code-writer'], 'b2-code-writer': [] });
    expect(
      problems([
        { id: 1, depends_on: [2], agents: [AGENT] },
        { id: 2, agents: [AGENT] },
        { id: 3, depends_on: [7], agents: [AGENT] },
      ]),
    ).toEqual([
      expect.stringContaining('error: batches wait for each other: 1 -> 2 -> 1'),
      'error: batch 3: depends_on names no batch: "7"\n  there are 1, 2, 3',
    ]);
  });

  test('what a fan-out batch says is heard by every task of the next batch, and only there', () => {
    const plan = planOf([
      { id: 1, type: 'fan-out', agents: [AGENT, { subagent_type: 'researcher', prompt: 'x' }] },
      { id: 2, agents: [AGENT, AGENT] },
      { id: 3, agents: [AGENT] },
    ]);
    const heard = ['b1-code-writer', 'b1-researcher'];
    expect(plan.tasks.map(({ id, hears }) => [id, hears])).toEqual([
      ['b1-code-writer', []],
      ['b1-researcher', []],
      ['b2-code-writer', heard],
      ['b2-code-writer-2', heard],
      ['b3-code-writer', []],
    ]);
    expect(needs(plan)['b2-code-writer-2']).toEqual(['b2-code-writer', ...heard]);
  });

  test('a batch without agents passes the order on', () => {
    const { plan, problems: found } = read(
      markdown({ batches: [{ id: 1, agents: [AGENT] }, { id: 2 }, { id: 3, agents: [AGENT] }] }),
    );
    expect(needs(plan!)).toEqual({ 'b1-code-writer': [], 'b3-code-writer': ['b1-code-writer'] });
    expect(found).toEqual([expect.stringContaining('warning: batch 2 has no agents')]);
    expect(problems([{ id: 1 }])).toContain('error: no batch has an agent\n  add agents: [ … ]');
  });

  test('verify_files is a script between the batches', () => {
    const files = ['~/repo/a b.txt', '/etc/hosts', "it's", './x/../y'];
    const plan = planOf([
      { id: 1, verify_files: files, agents: [AGENT] },
      { id: 2, agents: [AGENT] },
    ]);
    const script = plan.tasks.find(({ agent }) => agent === 'shell');
    expect(script).toMatchObject({
      id: 'b1-verify-files',
      mode: 'read',
      needs: ['b1-code-writer'],
      retries: 0,
    });
    expect(script?.prompt.split('\n').slice(-6, -1)).toEqual([
      "check 'a b.txt'",
      "check '/etc/hosts'",
      "check 'it'\\''s'",
      "check 'y'",
      'exit $missing',
    ]);
    expect(needs(plan)['b2-code-writer']).toEqual(['b1-verify-files']);
  });
});

describe('the values', () => {
  test('CP-13: of a plan without an id are those of its file', () => {
    expect(planOf([{ id: 1, agents: [AGENT] }]).name).toBe('p');
    const plan = planOf([{ id: 1, agents: [AGENT] }], { plan_id: 'x', target_branch: 'dev' });
    expect(plan).toMatchObject({ name: 'x', target: 'dev' });
  });

  test('are those that users know, unless something else is configured', () => {
    expect(planOf([{ id: 1, agents: [AGENT] }])).toMatchObject({
      landing: { onConflict: 'fail', strategy: 'merge', publish: 'end' },
      tasks: [
        {
          agent: 'claude',
          mode: 'write',
          outside: 'report',
          permissions: 'bypassPermissions',
          answer: 'status-word',
          allowEmpty: true,
          retries: 1,
        },
      ],
    });
    const config = {
      target: 'dev',
      defaults: { agent: 'codex', model: 'm', permissions: 'acceptEdits' as const, retries: 3 },
      land: { on_conflict: 'agent' as const },
      gates: [{ name: 'test', run: 'npm test' }],
    };
    expect(planOf([{ id: 1, agents: [AGENT] }], {}, { config })).toMatchObject({
      target: 'dev',
      gates: [{ name: 'test' }],
      landing: { onConflict: 'agent' },
      tasks: [{ agent: 'codex', model: 'm', permissions: 'acceptEdits', retries: 3 }],
    });
  });

  test('owns_files are paths of the repository, and a task that owns some must change something', () => {
    const owns = ['/home/ada/repo/src/a.ts', '~/repo/b', 'c/*.ts', '/elsewhere/d'];
    const { plan, problems: found } = read(
      markdown({ batches: [{ id: 1, agents: [{ ...AGENT, owns_files: owns }] }] }),
    );
    expect(plan?.tasks[0]).toMatchObject({
      writes: ['src/a.ts', 'b', 'c/*.ts'],
      allowEmpty: false,
    });
    expect(found).toEqual([expect.stringContaining('"/elsewhere/d" is not in this repository')]);
  });

  test.each([
    ['the same file', ['a.ts'], ['/home/ada/repo/a.ts']],
    ['a folder and a file in it', ['src'], ['src/x/a.ts']],
    ['a file and its folder', ['src/x/a.ts'], ['src/']],
    ['a glob and a file', ['src/**/*.ts'], ['src/a.ts']],
  ])('two agents at once that own %s are an error', (_, one, other) => {
    const agents = [
      { ...AGENT, owns_files: one },
      { ...AGENT, owns_files: other },
    ];
    const [found] = problems([{ id: 1, parallel: true, agents }]);
    expect(found).toMatch(/^error: conflict: b1-code-writer(-2)? and b1-code-writer(-2)? own/);
    expect(problems([{ id: 1, agents }])).toEqual([]);
  });

  test('other repositories and committers are told, not done', () => {
    const agents = [{ subagent_type: 'commit', prompt: 'x', commit_repos: ['repo', '~/repo'] }];
    expect(problems([{ id: 1, commit_repos: ['.', '/other'], agents }])).toEqual([
      'warning: batch 1: commit_repos: "/other" is not this repository\n' +
        '  commit there yourself: Landfast works on one repository',
      'warning: batch 1: commit has nothing to do\n' +
        '  what agents change is committed and landed for them; nothing is pushed',
    ]);
  });

  test('more than planners allow is advice', () => {
    const wide = { id: 1, parallel: true, agents: Array(5).fill(AGENT) };
    const many = [2, 3, 4, 5, 6, 7].map((id) => ({ id, agents: [AGENT] }));
    expect(problems([wide, ...many])).toEqual([
      expect.stringContaining('warning: batch 1 has 5 agents at once, more than 4'),
      expect.stringContaining('warning: 7 batches: plans of more than 6 are hard to follow'),
    ]);
  });

  test('CP-17: that are wrong are all shown', () => {
    const agents = [
      { subagent_type: 'a b', prompt: 'x' },
      { subagent_type: '-x', prompt: ' ' },
      { prompt: 'x' },
      { subagent_type: 3, prompt: 4 },
      { subagent_type: 'x', prompt: 'a\0b' },
    ];
    const found = problems(
      [
        { agents: [AGENT] },
        { id: 1.5, agents },
        { id: 2, type: 'fanout', agents: 'x', parallel: 1 },
        { id: 2, agents: [AGENT], promt: 1 },
        { id: 1, agents: [{ ...AGENT, subagent_typ: 'x', agent: 'other' }] },
      ],
      { target_branch: 'a b', pre_approved: 'yes' },
    );
    expect(found.map((text) => text.split('\n')[0])).toEqual([
      'error: target_branch: "a b" is not a branch name',
      'error: pre_approved must be true or false, found "yes"',
      'error: batches[0]: id is missing',
      'error: batches[1]: id must be a whole number or text, found 1.5 (a number)',
      'error: batches[1], agents[0]: subagent_type "a b" is not an agent name',
      'error: batches[1], agents[1]: subagent_type "-x" is not an agent name',
      'error: batches[1], agents[1]: prompt is missing or empty',
      'error: batches[1], agents[2]: subagent_type is missing',
      'error: batches[1], agents[3]: subagent_type must be text, found 3 (a number)',
      'error: batches[1], agents[3]: prompt must be text, found 4 (a number)',
      'error: batches[1], agents[4]: prompt must not contain NUL',
      'warning: batch 2 has no agents',
      'error: batch 2: type "fanout" is not known',
      'error: batch 2: agents must be a list of objects, found "x"',
      'error: batch 2: parallel must be true or false, found 1 (a number)',
      'warning: two batches have the id 2',
      'warning: batch 2: "promt" is unknown and ignored',
      'warning: batch 1 follows a higher number',
      'warning: batch 1, agents[0]: "subagent_typ" is unknown and ignored',
      'warning: batch 1, agents[0]: agent and subagent_type differ',
    ]);
  });
});
