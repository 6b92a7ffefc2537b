import { describe, expect, test } from 'vitest';
import { claudeOrchestra } from '../formats/foreign/orchestra/config.ts';
import { claudeOrchestrator } from '../formats/foreign/task-config/config.ts';
import { formatProblem } from '../problem.ts';
import { type ConfigDialect, OWN_DIALECT, readConfig } from './read.ts';

function read(text: string, dialect: ConfigDialect = OWN_DIALECT) {
  const { layer, problems } = readConfig({ path: 'c', text, dialect, scope: 'project' });
  return { values: layer?.values ?? null, problems: problems.map(formatProblem) };
}

describe('a file of ours', () => {
  test('is taken as it is written', () => {
    const text = 'land: { verify: off }\ndefaults: { timeout: 1h }\n';
    expect(read(text.replace('off', '"off"'))).toEqual({
      values: { land: { verify: 'off' }, defaults: { timeout: '1h' } },
      problems: [],
    });
  });

  test.each(['', '# nothing yet\n', 'git:\n'])('may say nothing: %j', (text) => {
    const { values, problems } = read(text);
    expect({ values, problems }).toEqual({ values: {}, problems: [] });
  });

  test.each([OWN_DIALECT, claudeOrchestrator])(
    'is told once which of its keys have no effect in this version ($projectFile)',
    (dialect) => {
      const text =
        'git: { owner: a }\nworkflow: { auto_pr: true, stop_after_run: true }\nmcps: { enabled: [a] }\n';
      expect(read(text, dialect).problems).toEqual([
        'c:2:28: warning: no effect in this version: workflow.stop_after_run, mcps\n' +
          '  remove what you do not need elsewhere',
      ]);
    },
  );

  test('that is broken is refused at its line', () => {
    expect(read('land:\n  verify: [each\n')).toEqual({
      values: null,
      problems: [expect.stringMatching(/^c:3:1: error: not YAML: /)],
    });
  });

  test('shows all that is wrong with it, with what was meant', () => {
    expect(read('limit: { workers: 2 }\nagent: { max_retries: x }\n')).toEqual({
      values: null,
      problems: [
        'c:1:1: error: unknown key "limit"\n  did you mean "limits"?',
        'c:2:23: error: agent.max_retries: expected a whole number from 0 to 100, found "x"',
      ],
    });
  });

  test('cannot have two gates of one name', () => {
    const text = 'gates: [{ name: a, run: b }, { name: a, run: c }]';
    expect(read(text).problems).toEqual(['c:1:38: error: duplicate gate name "a"\n  rename one']);
  });

  test('is a mapping', () => {
    expect(read('- a\n').problems).toEqual([
      'c:1:1: error: a configuration must be a mapping\n  write it as key: value',
    ]);
  });
});

describe('a file of claude-code-orchestrator', () => {
  const cco = (text: string) => read(text, claudeOrchestrator);

  test('is YAML 1.1, and what it holds besides is a warning', () => {
    expect(cco('workflow: { auto_pr: yes, moed: x }\nextra: 1\ngit:\n')).toEqual({
      values: { workflow: { auto_pr: true } },
      problems: [
        'c:1:27: warning: unknown key "moed" in workflow\n  did you mean "mode"?',
        expect.stringMatching(/^c:2:1: warning: unknown key "extra"\n {2}known keys: /),
      ],
    });
  });

  test('may hold texts where its tool stored nothing else', () => {
    const text = "agent: { max_retries: '0' }\ntools: { allowed_cli: 'gh,az' }\n";
    expect(cco(`${text}workflow: { auto_pr: 'false' }\n`)).toEqual({
      values: {
        agent: { max_retries: 0 },
        tools: { allowed_cli: ['gh', 'az'] },
        workflow: { auto_pr: false },
      },
      problems: [
        'c:1:23: warning: agent.max_retries is text: "0" is read as 0\n  write 0',
        'c:2:23: warning: tools.allowed_cli is text: "gh,az" is read as ["gh","az"]\n' +
          '  write ["gh","az"]',
        'c:3:22: warning: workflow.auto_pr is text: "false" is read as false\n  write false',
      ],
    });
  });

  test('that is wrong is refused', () => {
    const custom = 'mcps: { custom: [{ name: a, auth_type: magic }] }';
    expect(cco(custom).problems).toEqual([
      'c:1:40: error: mcps.custom[0].auth_type: expected one of env_vars, oauth_browser, ' +
        'pre_configured, found "magic"',
    ]);
  });
});

describe('a file of claude-orchestra', () => {
  const orchestra = (values: object) => read(JSON.stringify(values), claudeOrchestra);

  test('is read in our words', () => {
    const theirs = {
      claude_projects_dir: '~/.claude/projects',
      worktree_dir: '.worktrees',
      branch_prefix: 'team',
      default_parallel: 3,
      max_parallel: 2,
      stale_threshold: 300,
      bypass_permissions: ['Read(*)'],
    };
    expect(orchestra(theirs)).toEqual({
      values: {
        claude_projects_dir: '~/.claude/projects',
        worktree_dir: '.worktrees',
        branch_prefix: 'team',
        stale_after: 300,
        max_parallel: 2,
        limits: { workers: 2 },
        tools: { allowed_tools: ['Read(*)'] },
      },
      problems: [expect.stringContaining('no effect in this version: claude_projects_dir')],
    });
  });

  test('may hold more: what has no effect is said once, what is unknown each time', () => {
    expect(orchestra({ comment: 'x', dashboard_port: 1, state_file: 'y' })).toEqual({
      values: {},
      problems: [
        expect.stringMatching(/^c:1:2: warning: unknown key "comment"\n/),
        'c:1:16: warning: no effect in this version: dashboard_port, state_file\n' +
          '  remove what you do not need elsewhere',
      ],
    });
  });
});
