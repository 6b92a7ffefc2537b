import { describe, expect, test } from 'vitest';
import { type PlanFiles, planInput } from '../../../test/support/plan-input.ts';
import type { Plan } from '../../model/plan.ts';
import { parsePlan } from '../parse.ts';
import { convert } from './convert.ts';

function converted(path: string, text: string, around: PlanFiles = {}) {
  const input = planInput(path, text, around);
  const { plan, format, problems } = parsePlan(input, null);
  const result = convert({ plan: plan!, format: format!, warnings: problems }, input);
  const native = result.kind === 'text' ? result.text : JSON.stringify(result.problems);
  const again = parsePlan({ ...input, file: { path: 'plan.yaml', text: native } }, null);
  return { plan: plan as Plan, native, again: again.plan };
}

const PO = [
  '---',
  'po_plan_version: "0.1"',
  'name: release',
  'cwd: .',
  'concurrency_limits: { "the db": 1 }',
  'tasks:',
  '  - id: models',
  '    agent: developer',
  '    read_only: false',
  '    prompt: |',
  '      Add the models.',
  '      All of them.',
  '    writes: [src/models.py]',
  '    concurrency_group: the db',
  '  - id: review',
  '    agent: code-reviewer',
  '    read_only: true',
  '    depends_on: [models]',
  '    prompt: Look at it.',
  '---',
  'Notes.',
].join('\n');

const TASK_CONFIG = [
  'settings: { base_branch: develop }',
  'tasks:',
  '  - id: login',
  '    branch: feature/login',
  '    title: "feat: log in"',
  '    description: Add the form.',
  '    files_hint: [src/login.ts]',
].join('\n');

const DISPATCH = [
  '# Plan',
  '```json dispatch',
  JSON.stringify({
    batches: [
      { id: 1, parallel: true, agents: [{ subagent_type: 'dev', prompt: 'One.' }] },
      { id: 2, agents: [{ subagent_type: 'dev', prompt: 'Two.' }] },
    ],
  }),
  '```',
].join('\n');

describe('a plan of any format becomes a native one that does the same', () => {
  test.each([
    ['release.md', PO.replaceAll('the db', 'db')],
    ['task_config.yaml', TASK_CONFIG],
    ['plan.md', DISPATCH],
    ['native.yaml', 'landfast: 1\ntasks: [{ id: a, prompt_file: p.md }]'],
  ])('%s', (path, text) => {
    const { plan, native, again } = converted(path, text, { files: { 'p.md': 'From a file.' } });
    expect(again, native).toEqual(plan);
  });
});

test('comments say where it comes from, what is kept and what is called otherwise', () => {
  const { native, again } = converted('release.md', PO);
  const comments = native.split('\n').filter((line) => line.startsWith('#'));
  expect(comments).toEqual([
    '# Written by landfast convert from release.md (po-manifest).',
    '# The group "the db" is called the-db here.',
    "# How work of po-manifest lands; without this section it lands as Landfast's own.",
    "# What users of po-manifest look for; without this section Landfast's own ways hold.",
  ]);
  expect(again?.tasks.map(({ id, group }) => [id, group])).toEqual([
    ['models', 'the-db'],
    ['review', undefined],
  ]);
});

test('what a configuration would change is written down', () => {
  const config = { agent: { max_retries: 7 }, defaults: { timeout: 1_000 } };
  const { plan, again } = converted('release.md', PO, { config });
  expect(again?.tasks.map(({ retries }) => retries)).toEqual(
    plan.tasks.map(({ retries }) => retries),
  );
});

test('what even then would differ is said', () => {
  const config = { target: 'develop' };
  const { native } = converted('release.md', PO, { config });
  expect(native).toContain('# Run with your configuration it differs in target.');
});

test('ids that other formats allow are changed as little as possible', () => {
  const input = planInput('release.md', PO);
  const { plan } = parsePlan(input, null);
  const text = JSON.stringify(plan).replaceAll('"models"', '"a.b"').replaceAll('"review"', '"a-b"');
  const source = { plan: JSON.parse(text) as Plan, format: 'cpo', warnings: [] };
  const result = convert(source, input);
  const native = result.kind === 'text' ? result.text : '';
  expect(native).toContain('# The task "a.b" is called a-b-2 here.');
  expect(native).toMatch(/- id: a-b\n {4}needs: \[a-b-2\]/);
});

test('what was said about the file is said in the text, too', () => {
  const input = planInput('release.md', PO);
  const { plan } = parsePlan(input, null);
  const at = { file: 'release.md', line: 7, column: 1, severity: 'warning' } as const;
  const source = {
    plan: plan!,
    format: 'po-manifest',
    warnings: [{ ...at, message: 'no effect' }],
  };
  const result = convert(source, input);
  expect(result.kind === 'text' && result.text.split('\n')[1]).toBe('# release.md:7: no effect');
});
