import { describe, expect, test } from 'vitest';
import { type PlanFiles, planInput } from '../../../../../test/support/plan-input.ts';
import type { Plan } from '../../../../model/plan.ts';
import { formatProblem } from '../../../problem.ts';
import { taskConfig } from './task-config.ts';

const FILE = `settings:
  worktree_dir: ../trees
  auto_cleanup: false
  base_branch: develop
  destination_branch: release
tasks:
  - id: login
    branch: feature/login
    title: "feat: add login"
    description: |
      Add the login form.
    files_hint: [src/auth.py, tests/]
    test_command: pytest tests/auth
  - id: logout
    branch: feature/logout
    title: "feat: add logout"
    description: Add a way out.
    test_command: null
`;

function parse(text: string, around: PlanFiles = {}) {
  const { plan, problems } = taskConfig.parse(planInput('task_config.yaml', text, around));
  return { plan, problems: problems.map(formatProblem) };
}

function planOf(text: string, around: PlanFiles = {}): Plan {
  const { plan, problems } = parse(text, around);
  if (plan === null) throw new Error(problems.join('\n'));
  return plan;
}

function task(lines: readonly string[]): string {
  return `tasks:\n  - ${lines.join('\n    ')}\n`;
}

const GOOD = ['id: a', 'branch: feature/a', 'title: t', 'description: d'];

describe('a file is recognised', () => {
  const detect = (text: string, path = 'tasks.yaml') => taskConfig.detect({ path, text });

  test.each([
    ['by entries with a branch, a title and a description', task(GOOD)],
    ['by the keys of its settings', 'tasks:\n- x\nsettings:\n  base_branch: main\n'],
  ])('%s', (_, text) => {
    expect(detect(text)).toEqual({ line: 1, column: 1 });
  });

  test('by its own name, even when it is empty', () => {
    expect(detect('# nothing yet\ntasks: []\n', 'sub/task_config.yaml')).toEqual({
      line: 2,
      column: 1,
    });
  });

  test.each([
    ['a native plan', 'landfast: 1\ntasks:\n  - branch: a\n    title: t\n    description: d\n'],
    ['a list of tasks of another kind', 'tasks:\n  - id: a\n    prompt: p\n'],
    ['a text without tasks', 'settings:\n  base_branch: main\n'],
  ])('but not %s', (_, text) => {
    expect(detect(text)).toBeNull();
  });
});

test('settings take effect and tasks keep their branches, titles and hints', () => {
  const plan = planOf(FILE);
  const [first, second] = plan.tasks.map(({ prompt, ...rest }) => rest);
  const own = { id: 'logout', branch: 'feature/logout', title: 'feat: add logout' };
  expect(second).toEqual({ ...first, ...own });
  expect({ ...plan, tasks: [first] }).toMatchInlineSnapshot(`
    {
      "base": "develop",
      "conventions": {
        "branch": "landfast/{run}.{task}",
        "commitMessage": "{title}",
        "conflictExit": 1,
        "logs": {
          "dir": ".claude-orchestrator/logs",
          "style": "story",
        },
        "mergeMessage": "Land {task}",
        "noTasks": "notice",
        "reports": [
          {
            "path": ".claude-orchestrator/.state.json",
            "style": "results",
          },
        ],
        "summary": "results",
        "workspace": "{branch}",
      },
      "gates": [],
      "landing": {
        "onConflict": "fail",
        "onGateFailure": "fail",
        "onSemantic": "warn",
        "publish": "off",
        "push": "origin",
        "reworks": 0,
        "strategy": "none",
        "verify": "off",
      },
      "limits": {
        "gates": 1,
        "groups": {},
        "workers": 2,
      },
      "name": "task_config",
      "notify": [],
      "sandbox": {
        "caches": [],
        "mode": "off",
        "network": "on",
      },
      "target": "release",
      "tasks": [
        {
          "agent": "claude",
          "allowEmpty": false,
          "answer": "free",
          "branch": "feature/login",
          "checks": [],
          "env": {},
          "forbids": [],
          "hears": [],
          "id": "login",
          "idleMs": 300000,
          "mode": "write",
          "needs": [],
          "options": {
            "budgetUsd": null,
            "command": [],
            "dirs": [],
            "maxTurns": null,
            "mcp": {},
            "passEnv": [],
            "promptAs": "stdin",
            "schema": null,
            "tools": {
              "allowed": [],
              "commands": [],
              "disallowed": [],
            },
          },
          "outside": "report",
          "permissions": "acceptEdits",
          "retries": 2,
          "retry": {
            "afterTimeout": true,
            "pauseMs": 5000,
            "session": "resumed",
          },
          "rules": "own",
          "timeoutMs": 3600000,
          "title": "feat: add login",
          "writes": [],
        },
      ],
      "workspace": {
        "copy": [],
        "dir": "../trees",
        "inject": [],
        "keep": true,
        "setup": [],
        "setupKey": [],
      },
    }
  `);
});

test('~ in worktree_dir is the home of the user', () => {
  const text = FILE.replace('worktree_dir: ../trees', 'worktree_dir: ~/trees');
  expect(planOf(text).workspace.dir).toBe('/home/ada/trees');
});

test('what the file says wins over the configuration, and flags win over both', () => {
  const config: PlanFiles['config'] = {
    worktree_dir: '../elsewhere',
    git: { base_branch: 'main', destination_branch: 'main' },
  };
  const shown = ({ base, target, workspace }: Plan) => ({ base, target, dir: workspace.dir });
  expect(shown(planOf(FILE, { config }))).toEqual({
    base: 'develop',
    target: 'release',
    dir: '../trees',
  });
  expect(shown(planOf(task(GOOD), { config, options: { target: 'next' } }))).toEqual({
    base: 'main',
    target: 'next',
    dir: '../elsewhere',
  });
});

test('agent.* and tools.* of the configuration reach the tasks', () => {
  const config: PlanFiles['config'] = {
    agent: {
      inactivity_timeout: 3,
      max_runtime: 60,
      max_retries: 0,
      use_resume: false,
      retry_delay: 1,
    },
    tools: {
      permission_mode: 'plan',
      allowed_cli: ['gh'],
      allowed_tools: ['Edit'],
      disallowed_tools: ['Bash(rm:*)'],
      add_dirs: ['/shared'],
    },
    workspace: { copy: ['.env'] },
    limits: { workers: 2 },
  };
  const { tasks, workspace, limits } = planOf(task(GOOD), { config });
  const { idleMs, timeoutMs, retries, retry, permissions, options } = tasks[0]!;
  expect({ idleMs, timeoutMs, retries, retry, permissions, tools: options.tools }).toEqual({
    idleMs: 3_000,
    timeoutMs: 60_000,
    retries: 0,
    retry: { pauseMs: 1_000, session: 'new', afterTimeout: true },
    permissions: 'plan',
    tools: { allowed: ['Edit'], disallowed: ['Bash(rm:*)'], commands: ['gh'] },
  });
  expect([options.dirs, workspace.copy, limits.workers]).toEqual([['/shared'], ['.env'], 2]);
});

test.each([
  ['the flag', { options: { autoApprove: true } }],
  ['workflow.auto_approve', { config: { workflow: { auto_approve: true } } }],
  ['tools.skip_permissions', { config: { tools: { skip_permissions: true } } }],
])('%s lets agents do anything', (_, around: PlanFiles) => {
  expect(planOf(task(GOOD), around).tasks[0]!.permissions).toBe('bypassPermissions');
});

describe('what is refused, all at once and each with its place', () => {
  test('missing keys, wrong kinds and unsafe names', () => {
    const text = `tasks:
  - branch: feature/a
    title: t
  - id: ../../../x
    branch: -f
    title: t
    description: d
  - just text
  - id: 7
    branch: a..b
    title: ""
    description: [d]
    files_hint: src
`;
    expect(parse(text)).toEqual({
      plan: null,
      problems: [
        'task_config.yaml:2:5: error: missing key "id" in tasks[0]',
        'task_config.yaml:2:5: error: missing key "description" in tasks[0]',
        expect.stringMatching(/^task_config.yaml:4:9: error: tasks\[1\].id: expected an id/),
        'task_config.yaml:5:13: error: tasks[1].branch: expected the name of a branch, found "-f"',
        'task_config.yaml:8:5: error: tasks[2]: expected a mapping, found "just text"',
        expect.stringMatching(/:9:9: error: .*\n {2}put it in quotes: "7"$/s),
        expect.stringMatching(/:10:13: error: .* branch, found "a..b"$/),
        'task_config.yaml:11:12: error: tasks[3].title: expected text, found ""',
        'task_config.yaml:12:18: error: tasks[3].description: expected text, found a list',
        'task_config.yaml:13:17: error: tasks[3].files_hint: expected a list, found "src"',
      ],
    });
  });

  test('an id or a branch that two tasks have', () => {
    const two = `${task(GOOD)}  - ${GOOD.join('\n    ')}\n`;
    expect(parse(two)).toEqual({
      plan: null,
      problems: [
        'task_config.yaml:6:9: error: duplicate task id "a"\n' +
          '  the task on line 2 has it too: rename one',
        'task_config.yaml:7:13: error: duplicate branch "feature/a"\n' +
          '  the task on line 3 has it too: rename one',
      ],
    });
  });

  test('branches that cannot be there together, or are the one that all start from', () => {
    const text = `${task(GOOD)}  - id: b
    branch: feature/a/more
    title: t
    description: d
  - id: c
    branch: main
    title: t
    description: d
`;
    expect(parse(text).problems).toEqual([
      expect.stringContaining(
        '7:13: error: branch "feature/a/more" cannot exist beside "feature/a" (line 3)',
      ),
      expect.stringContaining('11:13: error: branch "main" is where the work starts or goes to'),
    ]);
  });

  test.each([
    ['tasks:\n', '1:1: error: tasks: expected a list, found nothing'],
    ['- a\n', '1:1: error: a task file must be a mapping'],
    ['tasks: [\n', 'error: not YAML'],
  ])('%j is no task file', (text, message) => {
    expect(parse(text)).toEqual({ plan: null, problems: [expect.stringContaining(message)] });
  });
});

test('an unknown key is a warning with a suggestion', () => {
  const text = `settings: { base_brnch: x }\n${task([...GOOD, 'file_hints: [a]', 'owner: me'])}`;
  const { plan, problems } = parse(text);
  expect(plan?.tasks).toHaveLength(1);
  expect(problems).toEqual([
    'task_config.yaml:1:13: warning: unknown key "base_brnch" in settings is ignored\n' +
      '  did you mean "base_branch"?',
    'task_config.yaml:7:5: warning: unknown key "file_hints" in tasks[0] is ignored\n' +
      '  did you mean "files_hint"?',
    'task_config.yaml:8:5: warning: unknown key "owner" in tasks[0] is ignored\n' +
      '  known keys: id, branch, title, description, files_hint, test_command',
  ]);
});

test('an empty list is a plan with nothing to do', () => {
  const { plan, problems } = parse('tasks: []\n');
  expect(plan?.tasks).toEqual([]);
  expect(problems).toEqual([
    'task_config.yaml:1:1: warning: there are no tasks\n  add one below tasks:',
  ]);
});
