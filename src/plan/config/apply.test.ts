import { describe, expect, test } from 'vitest';
import { planInput } from '../../../test/support/plan-input.ts';
import { parsePlan } from '../parse.ts';
import type { Config } from './schema.ts';

function plan(text: string, config: Config) {
  const { plan, problems } = parsePlan(planInput('plan', text, { config }), null);
  expect(problems).toEqual([]);
  return plan!;
}

describe('a manifest of another tool', () => {
  const MANIFEST = [
    '---',
    'po_plan_version: "0.1"',
    'name: x',
    'cwd: .',
    'tasks: [{ id: a, agent: dev, read_only: false, prompt: p, writes: [a] }]',
    '---',
    '',
  ].join('\n');

  test('gets what its text cannot say, and gates are then asked', () => {
    const before = plan(MANIFEST, {});
    const config: Config = {
      target: 'other',
      defaults: { retries: 9, agent: 'codex' },
      gates: [{ name: 'tests', run: 'npm test' }],
      workspace: {
        ...{ setup: ['npm ci'], setup_key: ['package-lock.json'], copy: ['.env'] },
        ...{ sparse: 'auto', sparse_also: ['tools'] },
      },
      limits: { workers: 9, budget_usd: 5 },
      land: { on_conflict: 'agent' },
      sandbox: 'on',
      fence: { network: 'off' },
    };
    expect(plan(MANIFEST, config)).toEqual({
      ...before,
      gates: [{ name: 'tests', run: 'npm test', timeoutMs: 600_000 }],
      workspace: {
        ...before.workspace,
        setup: ['npm ci'],
        setupKey: ['package-lock.json'],
        copy: ['.env'],
        sparse: 'auto',
        sparseAlso: ['tools'],
      },
      landing: { ...before.landing, verify: 'each' },
      limits: { ...before.limits, budgetUsd: 5 },
      sandbox: { mode: 'on', network: 'off', caches: [] },
    });
  });

  test('is told that it can have no seed where nothing says what set-up depends on', () => {
    const config: Config = { workspace: { setup: ['npm ci'], seed: ['node_modules'] } };
    const read = parsePlan(planInput('plan', MANIFEST, { config }), null);
    expect(read.plan?.workspace.seed).toEqual(['node_modules']);
    expect(read.problems).toMatchObject([
      {
        severity: 'warning',
        message:
          'workspace.seed needs workspace.setup and workspace.setup_key: here it has no effect',
      },
    ]);
  });
});

describe('a native plan', () => {
  const native = (more: object, task: object = {}) =>
    JSON.stringify({ landfast: 1, ...more, tasks: [{ id: 'a', prompt: 'p', ...task }] });

  test('takes from the configuration what it does not say', () => {
    const config: Config = {
      target: 'dev',
      worktree_dir: '/trees',
      agent: { max_retries: 0, max_runtime: 100, inactivity_timeout: 30 },
      tools: { allowed_cli: ['gh'], permission_mode: 'plan' },
      defaults: { env: { A: '1', B: '1' }, model: 'opus' },
      gates: [{ name: 'tests', run: 'npm test' }],
      land: { strategy: 'squash', reworks: 5 },
      limits: { workers: 8, groups: { db: 1 } },
      sandbox: 'on',
    };
    const text = native(
      { land: { reworks: 1 }, limits: { gates: 2 }, defaults: { env: { B: '2' } } },
      { timeout: '1m', group: 'db' },
    );
    const bare = plan(text.replace(',"group":"db"', ''), {});
    const [task] = bare.tasks;
    expect(plan(text, config)).toEqual({
      ...bare,
      target: 'dev',
      workspace: { ...bare.workspace, dir: '/trees' },
      gates: [{ name: 'tests', run: 'npm test', timeoutMs: 600_000 }],
      landing: { ...bare.landing, strategy: 'squash', reworks: 1 },
      limits: { workers: 8, gates: 2, groups: { db: 1 } },
      sandbox: { mode: 'on', network: 'on', caches: [] },
      tasks: [
        {
          ...task,
          group: 'db',
          model: 'opus',
          retries: 0,
          timeoutMs: 60_000,
          idleMs: 30_000,
          permissions: 'plan',
          env: { A: '1', B: '2' },
          options: { ...task!.options, tools: { ...task!.options.tools, commands: ['gh'] } },
        },
      ],
    });
  });

  test('that says it has no gates has none', () => {
    const config: Config = { gates: [{ name: 'tests', run: 'npm test' }] };
    expect(plan(native({ gates: [] }), config).gates).toEqual([]);
  });

  test('what the plan says about permissions wins, whichever word it uses', () => {
    const text = native({ defaults: { tools: { skip_permissions: true } } });
    const [task] = plan(text, { defaults: { permissions: 'plan' } }).tasks;
    expect(task?.permissions).toBe('bypassPermissions');
  });

  test.each([
    ['shell', { allowed: [], model: undefined }],
    ['codex', { allowed: ['Edit'], model: undefined }],
    ['claude', { allowed: ['Edit'], model: 'opus' }],
  ])('a task of %s gets what is meant for it', (agent, expected) => {
    const config: Config = { defaults: { model: 'opus' }, tools: { allowed_tools: ['Edit'] } };
    const [task] = plan(native({}, { agent }), config).tasks;
    expect({ allowed: task?.options.tools.allowed, model: task?.model }).toEqual(expected);
  });
});

test('patterns for failures are added behind those of the plan, whatever its format', () => {
  const failures = [{ match: 'busy', kind: 'rate-limited', agent: 'codex' }] as const;
  const config: Config = { failures: [...failures] };
  const own = 'failures: [{ match: seat, kind: billing }]\ntasks: [{ id: a, prompt: x }]\n';
  expect(plan(`landfast: 1\n${own}`, config).failures).toEqual([
    { match: 'seat', kind: 'billing' },
    ...failures,
  ]);
  const task = '{ id: a, agent: dev, read_only: true, prompt: p }';
  const other = `---\npo_plan_version: "0.1"\nname: x\ncwd: .\ntasks: [${task}]\n---\n`;
  expect(plan(other, config).failures).toEqual(failures);
});
