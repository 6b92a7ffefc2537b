/** What `plan` prints, and the same as data. */

import { expect, test } from 'vitest';
import {
  NATIVE_CONVENTIONS,
  NO_OPTIONS,
  NO_SANDBOX,
  type Plan,
  type TaskSpec,
} from '../model/plan.ts';
import { dryRunText, planJson, planText } from './plan-text.ts';

function task(id: string, more: Partial<TaskSpec> = {}): TaskSpec {
  return {
    id,
    prompt: 'x',
    agent: 'claude',
    mode: 'write',
    needs: [],
    writes: [],
    outside: 'fail',
    forbids: [],
    checks: [],
    retries: 1,
    timeoutMs: 900_000,
    idleMs: 900_000,
    permissions: 'acceptEdits',
    allowEmpty: false,
    env: {},
    options: NO_OPTIONS,
    hears: [],
    answer: 'free',
    ...more,
  };
}

function plan(tasks: readonly TaskSpec[], more: Partial<Plan> = {}): Plan {
  return {
    name: 'accounts',
    tasks,
    gates: [],
    workspace: { setup: [], setupKey: [], copy: [], inject: [] },
    landing: {
      strategy: 'merge',
      verify: 'each',
      onConflict: 'agent',
      onGateFailure: 'fail',
      onSemantic: 'agent',
      reworks: 2,
      publish: 'end',
    },
    limits: { workers: 4, gates: 1, groups: {} },
    sandbox: NO_SANDBOX,
    notify: [],
    conventions: NATIVE_CONVENTIONS,
    ...more,
  };
}

test('a plan is shown by stages, with everything that decides how it runs', () => {
  const tasks = [
    task('login', {
      needs: ['users'],
      role: 'developer',
      model: 'large',
      writes: ['src/auth/**'],
      forbids: ['src/billing/**'],
      checks: ['npm test\nnpm run more'],
    }),
    task('users', { writes: ['src/**', 'migrations'], group: 'db', retries: 0 }),
    task('docs', { writes: ['src/users/*.md'], retries: 2 }),
    task('review', { mode: 'read', needs: ['login', 'docs'] }),
  ];
  const text = planText(
    plan(tasks, {
      target: 'main',
      gates: [{ name: 'tests', run: 'npm test', timeoutMs: 5_430_000 }],
      limits: { workers: 4, gates: 2, budgetUsd: 20, groups: { db: 1 } },
    }),
    { format: 'native', maxWorkers: 2 },
  );

  expect(text).toMatchInlineSnapshot(`
    "Plan accounts (native)
    Target: main
    4 tasks in 3 stages, at most 2 at a time

    Stage 1
      users  claude; writes src/**, migrations; group db(limit=1); 0 retries
      docs   claude; writes src/users/*.md; 2 retries

    Stage 2
      login  claude / developer / large; needs users; writes src/auth/**; forbids src/billing/**; checks npm test …; 1 retry

    Stage 3
      review  claude; read-only; needs login, docs; 1 retry

    Critical path: users -> login -> review

    Overlapping writes (these do not run together)
      users and docs

    Gates
      tests: npm test (at most 1h30m30s)

    Landing: merge, verify each, on conflict agent, on gate failure fail, reworks 2, publish end
    Limits: workers 2, gates 2, budget $20, groups db 1
    "
  `);
});

test('a dry run for users of fixed lines has those and nothing else (PO-28)', () => {
  const tasks = [
    task('a', { role: 'dev' }),
    task('b', { retries: 0 }),
    task('c', { role: 'rev', mode: 'read', needs: ['a', 'b'], group: 'g' }),
  ];
  const text = dryRunText(
    plan(tasks, {
      limits: { workers: 3, gates: 1, groups: { g: 2 } },
      notify: [],
      conventions: { ...NATIVE_CONVENTIONS, summary: 'lines' },
    }),
    { format: 'po-manifest', maxWorkers: 3 },
  );

  expect(text).toBe(
    [
      'Dry run: nothing is executed.',
      '',
      'Execution plan (max_workers=3):',
      '  [stage 1] a agent=dev timeout=900s retries=1',
      '  [stage 1] b agent= timeout=900s',
      "  [stage 2] c agent=rev timeout=900s retries=1 read_only depends=['a', 'b'] group=g(limit=2)",
      '',
      '3 tasks, 2 stages',
      '',
    ].join('\n'),
  );
});

test('one task is in the singular, and control characters do not reach the terminal', () => {
  const text = planText(plan([task('a', { writes: ['\u001b[2J'] })], { name: 'x\u0007' }), {
    format: 'native',
    maxWorkers: 1,
  });

  expect(text).toContain('Plan x? (native)');
  expect(text).toContain('1 task in 1 stage, at most 1 at a time');
  expect(text).toContain('writes ?[2J;');
  expect(text).not.toContain('Critical path');
});

test('many overlaps are counted rather than listed', () => {
  const tasks = Array.from({ length: 10 }, (_, i) => task(`t${i}`, { writes: ['src/**'] }));

  const lines = planText(plan(tasks), { format: 'native', maxWorkers: 4 }).split('\n');

  expect(lines.filter((line) => / and t\d/.test(line))).toHaveLength(20);
  expect(lines).toContain('  and 25 more');
});

test('the same as data', () => {
  const given = plan([
    task('a', { writes: ['x/**'] }),
    task('b', { writes: ['x/y'] }),
    task('c', { writes: ['x'], needs: ['a', 'b'] }),
    task('d', { writes: ['x'], mode: 'read' }),
  ]);

  expect(planJson(given)).toEqual({
    stages: [['a', 'b', 'd'], ['c']],
    criticalPath: ['a', 'c'],
    overlaps: [['a', 'b']],
    plan: given,
  });
  expect(JSON.parse(JSON.stringify(planJson(given)))).toEqual(planJson(given));
});

test('set-up is shown with what lets it be skipped', () => {
  const setup = ['npm ci', 'npm run generate'];
  const shown = (more: Partial<Plan['workspace']>): string | undefined =>
    planText(plan([], { workspace: { setup, setupKey: [], copy: [], inject: [], ...more } }), {
      format: 'native',
      maxWorkers: 1,
    })
      .split('\n\n')
      .find((block) => block.startsWith('Set-up'));
  expect(shown({})).toBe('Set-up (for every task)\n  npm ci\n  npm run generate');
  expect(shown({ setupKey: ['lock'], keepFiles: ['deps/'] })).toBe(
    'Set-up (skipped where deps/ is kept, and lock is unchanged)\n  npm ci\n  npm run generate',
  );
  expect(shown({ setupKey: ['lock'], keepFiles: ['deps/'], seed: ['deps'] })).toContain(
    '(skipped where deps/ is kept or deps is there as a seed, and lock is unchanged)',
  );
});

/** How often the text of a plan reads an id, or the paths, of its tasks. */
function readsOf(tasks: readonly TaskSpec[]): number {
  let reads = 0;
  const counted = tasks.map(
    (spec) =>
      new Proxy(spec, {
        get: (target, key) => {
          reads += 1;
          return Reflect.get(target, key);
        },
      }),
  );
  planText(plan(counted), { format: 'native', maxWorkers: 4 });
  return reads;
}

test.each([
  ['a chain', (nth: number) => (nth === 0 ? {} : { needs: [`t${nth - 1}`] })],
  ['tasks in many groups', (nth: number) => ({ group: `g${nth % 200}` })],
])('twice as many tasks are twice the work: %s', (_, more) => {
  const reads = (count: number): number =>
    readsOf(
      Array.from({ length: count }, (_, nth) =>
        task(`t${nth}`, { writes: [`src/t${nth}/**`], ...more(nth) }),
      ),
    );
  expect(reads(1_000) / reads(500)).toBeLessThan(2.2);
});
