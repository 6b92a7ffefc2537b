import { expect, test } from 'vitest';
import { Random } from '../../../test/sim/random.ts';
import { planInput } from '../../../test/support/plan-input.ts';
import type {
  AgentOptions,
  Conventions,
  GateSpec,
  InjectSpec,
  LandingSpec,
  LimitsSpec,
  NotifySpec,
  Plan,
  ReportSpec,
  RetrySpec,
  TaskSpec,
  WorkspaceSpec,
} from '../../model/plan.ts';
import { parsePlan } from '../parse.ts';
import { printPlan } from './print.ts';

function reread(text: string) {
  const { plan, problems } = parsePlan(planInput('plan.yaml', text), 'native');
  return { plan, problems };
}

test('any plan, printed and read again, is the same plan', () => {
  for (let seed = 0; seed < 60; seed += 1) {
    const plan = new PlanMaker(new Random('print', seed)).plan();
    for (const isFull of [false, true]) {
      const text = printPlan(plan, { isFull, notes: ['a\nnote'] });
      expect(reread(text), `seed ${seed}:\n${text}`).toEqual({ plan, problems: [] });
    }
  }
});

test('what is usual is left out, and what all tasks share is said once', () => {
  const text = [
    'landfast: 1',
    'name: accounts',
    '',
    'defaults:',
    '  model: opus',
    '  retries: 1',
    '',
    'gates:',
    '  - name: tests',
    '    run: npm test',
    '    timeout: 10m',
    '',
    '# What a comment says.',
    'tasks:',
    '  - id: users',
    '    prompt: |-',
    '      Add users.',
    '',
    '      And their table.',
    '    writes: [src/users/**, migrations/**]',
    '',
    '  - id: login',
    '    needs: [users]',
    '    prompt: "Log in: now"',
    '    timeout: 1h30m',
    '',
  ].join('\n');
  const { plan } = reread(text);
  expect(printPlan(plan!, { comments: { tasks: 'What a comment says.' } })).toBe(text);
});

const TEXTS = [
  'plain',
  'two\nlines',
  ' leading and trailing \n',
  'yes',
  '0123',
  '- dash',
  'a: b # c',
  '"quoted" \\ back',
  'ümlaut 💥',
  '{braces} [x]',
  '~',
  'tab\tin\r\nit',
  '\n\nblank above',
];

type Optional<T> = { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T];

/** Makes plans. `Required` sees to it that a new field of a Plan has to be thought of here. */
class PlanMaker {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  plan(): Plan {
    const r = this.#random;
    const ids = Array.from({ length: r.between(1, 4) }, (_, i) => `t${i}`);
    const groups = { db: r.between(1, 3), ui: 1 };
    const strategy = r.pick(['merge', 'squash', 'rebase', 'none'] as const);
    const kept = strategy === 'none'; // Then no task can need what another one writes.
    const tasks = ids.map((id, i) => this.#task(id, kept ? [] : ids.slice(0, i)));
    const full: Required<Plan> = {
      name: this.#text(),
      base: 'develop',
      target: 'release/1.x',
      tasks,
      gates: this.#some((i): GateSpec => {
        const gate: Required<Omit<GateSpec, 'inProcess'>> = {
          ...{ name: `g${i}`, run: this.#text(), timeoutMs: this.#ms() },
          ...{ retries: r.between(0, 3), paths: ['src/**'], env: { A: 'b' }, quarantine: true },
          base: 'red',
          sees: r.pick(['tree', 'commit']),
        };
        // What passes others needs gates that are about paths.
        const scoped = tasks.some(({ independent }) => independent === true);
        return this.#dropped(gate, [
          'retries',
          'env',
          'quarantine',
          'sees',
          ...(scoped ? [] : (['paths'] as const)),
        ]);
      }),
      workspace: this.#workspace(),
      landing: this.#landing(strategy),
      limits: this.#limits(groups),
      sandbox: {
        mode: r.pick(['off', 'on', 'require']),
        network: r.pick(['on', 'off', ['api.example.com', '*.npmjs.org']]),
        caches: this.#some(() => r.pick(['~/.npm', '/var/cache'])),
      },
      notify: this.#some(() => this.#notify()),
      failures: [
        { match: '^busy: \\d+', kind: r.pick(['transient', 'rate-limited']) },
        { match: 'no "seat"', kind: r.pick(['permanent', 'auth', 'billing']), agent: 'codex' },
      ],
      conventions: this.#conventions(),
    };
    return this.#dropped(full, ['base', 'target', 'failures']);
  }

  #task(id: string, before: readonly string[]): TaskSpec {
    const r = this.#random;
    const mode = r.pick(['write', 'write', 'read', 'here'] as const);
    const needs = before.filter(() => r.chance(0.6));
    // No text names work that is there already: `landfast land` alone makes such tasks.
    const full: Required<Omit<TaskSpec, 'work'>> = {
      id,
      title: this.#text(),
      prompt: this.#text(),
      rules: 'own',
      agent: r.pick(['claude', 'codex', 'shell']),
      role: 'dev',
      fallbacks: [{ agent: 'codex' }, { agent: 'claude', model: 'haiku' }],
      model: 'opus',
      mode,
      inPlace: true,
      branch: `feature/${id}`,
      commitMessage: this.#text(),
      wave: r.between(1, 9),
      needs,
      forks: needs[0] ?? '',
      hears: needs.filter(() => r.chance(0.5)),
      writes: mode === 'read' ? [] : this.#some((i) => `src/${id}/${i}/**`),
      outside: r.pick(['fail', 'report']),
      forbids: this.#some((i) => `lib/${i}`),
      checks: this.#some(() => this.#text()),
      group: r.pick(['db', 'ui']),
      independent: true,
      retries: r.between(0, 5),
      retry: this.#retry(),
      estimateUsd: 0.25,
      timeoutMs: this.#ms(),
      idleMs: this.#ms(),
      permissions: r.pick(['default', 'acceptEdits', 'plan', 'bypassPermissions']),
      allowEmpty: r.chance(0.5),
      env: r.chance(0.5) ? { A: this.#text(), B: '' } : {},
      cwd: 'packages/a',
      options: this.#options(),
      answer: r.pick(['free', 'status-line', 'status-word', 'completion', 'marker']),
    };
    const gone: Optional<TaskSpec>[] = [
      ...(needs.length === 0 ? (['forks'] as const) : []),
      ...(mode === 'write' ? [] : (['independent'] as const)),
      ...(mode === 'read' ? [] : (['inPlace'] as const)),
    ];
    const task = this.#dropped(full, [
      'title',
      'rules',
      'role',
      'model',
      'fallbacks',
      'branch',
      'inPlace',
      'wave',
      'forks',
      'group',
      'independent',
      'retry',
      'estimateUsd',
      'cwd',
    ]);
    return Object.fromEntries(
      Object.entries(task).filter(([key]) => !(gone as string[]).includes(key)),
    ) as unknown as TaskSpec;
  }

  #options(): AgentOptions {
    const r = this.#random;
    const full: Required<AgentOptions> = {
      tools: {
        allowed: this.#some(() => 'Bash(git:*)'),
        disallowed: this.#some(() => 'Edit'),
        commands: this.#some(() => r.pick(['gh', 'npm'])),
      },
      dirs: this.#some(() => r.pick(['~/lib', '/opt/x', 'docs'])),
      mcp: r.chance(0.5)
        ? { a: { command: ['x', this.#text()], env: {} }, b: { url: 'https://b.example' } }
        : {},
      maxTurns: r.pick([null, 5]),
      budgetUsd: r.pick([null, 0.5]),
      schema: r.pick([null, { type: 'object', properties: {}, required: [] }, {}]),
      passEnv: r.chance(0.5) ? ['TOKEN'] : [],
      command: this.#some(() => this.#text()),
      promptAs: r.pick(['stdin', 'argument']),
    };
    return full;
  }

  #retry(): RetrySpec {
    const r = this.#random;
    const full: Required<RetrySpec> = {
      pauseMs: r.pick([0, 500, 5_000]),
      factor: r.pick([1, 1.5, 2]),
      session: r.pick(['resumed', 'new']),
      afterTimeout: r.chance(0.5),
    };
    return this.#dropped(full, ['factor']);
  }

  #workspace(): WorkspaceSpec {
    const r = this.#random;
    const full: Required<WorkspaceSpec> = {
      setup: this.#some(() => this.#text()),
      setupKey: this.#some((i) => `lock${i}`),
      copy: this.#some((i) => `.env${i}`),
      dir: r.pick(['../trees', '/srv/trees']),
      keep: r.chance(0.5),
      salvage: 'reports/own',
      exclude: ['.venv/'],
      pool: r.pick([0, 8]),
      poolDisk: r.pick([0, 5 * 1024 ** 3]),
      keepFiles: ['.cache/'],
      seed: ['node_modules/'],
      seedBy: r.pick(['auto', 'copy', 'link']),
      seedMost: r.between(1, 9),
      seedDisk: r.pick([0, 1024 ** 3]),
      sparse: r.pick(['off', 'auto', ['packages/web', 'tools']]),
      sparseAlso: ['tools'],
      inject: this.#some(
        (i): Required<InjectSpec> => ({
          from: '.claude',
          to: `in/${i}`,
          skip: this.#some(() => '*.log'),
          blank: this.#some(() => 'x.md'),
        }),
      ),
    };
    const pool = ['pool', 'poolDisk', 'keepFiles', 'sparse', 'sparseAlso'] as const;
    const seeds = ['seedBy', 'seedMost', 'seedDisk'] as const;
    const some = this.#dropped(full, [
      'dir',
      'salvage',
      'keep',
      'exclude',
      'seed',
      ...pool,
      ...seeds,
    ]);
    const { seed, ...rest } = some;
    const isKeyed = some.setup.length > 0 && some.setupKey.length > 0;
    return isKeyed && seed !== undefined ? { ...rest, seed } : rest;
  }

  #landing(strategy: LandingSpec['strategy']): LandingSpec {
    const r = this.#random;
    const full: Required<LandingSpec> = {
      strategy,
      verify: r.pick(['each', 'batch', 'off']),
      onConflict: r.pick(['agent', 'fail', 'hold']),
      order: 'plan',
      onGateFailure: r.pick(['agent', 'fail']),
      onSemantic: r.pick(['agent', 'warn', 'fail']),
      gateOrder: r.pick(['cheapest', 'listed']),
      reworks: r.between(0, 3),
      publish: r.pick(['end', 'off']),
      trailers: true,
      remember: false,
      regenerate: [{ paths: ['package-lock.json'], run: 'npm install', timeoutMs: 60_000 }],
      fingerprint: ['node --version'],
      radar: r.pick(['off', 5_000]),
      push: 'origin',
    };
    const { push: _, ...rest } = full;
    const told = ['gateOrder', 'trailers', 'remember', 'regenerate'] as const;
    const dropped = ['order', 'fingerprint', 'radar', ...told] as const;
    return strategy === 'none'
      ? this.#dropped(full, ['push', ...dropped])
      : this.#dropped(rest, dropped);
  }

  #limits(groups: Readonly<Record<string, number>>): LimitsSpec {
    const r = this.#random;
    const full: Required<LimitsSpec> = {
      workers: r.between(1, 8),
      gates: r.between(1, 3),
      budgetUsd: 2.5,
      diskBytes: 10_000_000_000,
      diskFreeBytes: r.pick([0, 500_000_000]),
      memoryPerAttempt: r.pick([0, 1_000_000_000]),
      loadPerCore: 1.5,
      groups,
    };
    const machine = ['diskBytes', 'diskFreeBytes', 'memoryPerAttempt', 'loadPerCore'] as const;
    return this.#dropped(full, ['budgetUsd', ...machine]);
  }

  #notify(): NotifySpec {
    const r = this.#random;
    return {
      on: r.pick([['finished'], ['failed', 'person'], ['finished', 'person', 'limit']]),
      to: r.pick([
        { kind: 'webhook', url: 'https://hooks.example.com/x' },
        { kind: 'command', run: this.#text() },
        { kind: 'desktop' },
        { kind: 'bell' },
      ] as const),
    };
  }

  #conventions(): Conventions {
    const r = this.#random;
    const full: Required<Conventions> = {
      branch: r.pick(['landfast/{run}.{task}', 'team/{task}-{hash}']),
      workspace: r.pick(['{run}/{task}', '{branch}']),
      commitMessage: `{title} by {agent}: ${this.#plain()}`,
      mergeMessage: `{task} for {cost}: ${this.#plain()}`,
      conflictExit: r.pick([1, 3]),
      summary: r.pick(['report', 'lines', 'results', 'streams']),
      noTasks: r.pick(['error', 'notice']),
      edits: r.pick(['apart', 'none']),
      logs: { dir: 'logs', style: r.pick(['streams', 'story', 'result']) },
      reports: this.#some(() => {
        const report: Required<ReportSpec> = {
          path: 'out/report.json',
          style: r.pick(['results', 'waves-json', 'waves-text']),
          subject: this.#text(),
        };
        return this.#dropped(report, ['subject']);
      }),
    };
    return this.#dropped(full, ['logs', 'edits']);
  }

  /** Nothing that would be filled in. */
  #plain(): string {
    return this.#text().replaceAll(/[{}]/g, '');
  }

  #text(): string {
    return this.#random.pick(TEXTS);
  }

  #ms(): number {
    return this.#random.pick([1, 1_500, 60_000, 420_000, 3_600_000, 5_400_000]);
  }

  #some<T>(make: (index: number) => T): T[] {
    return Array.from({ length: this.#random.pick([0, 0, 1, 2]) }, (_, i) => make(i));
  }

  /** Without some of what may be absent. */
  #dropped<T extends object, K extends keyof T>(
    full: T,
    keys: readonly K[],
  ): Omit<T, K> & Partial<Pick<T, K>> {
    const gone = keys.filter(() => this.#random.chance(0.5)) as readonly PropertyKey[];
    return Object.fromEntries(Object.entries(full).filter(([key]) => !gone.includes(key))) as Omit<
      T,
      K
    > &
      Partial<Pick<T, K>>;
  }
}
