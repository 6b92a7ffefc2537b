import { describe, expect, test } from 'vitest';
import { claudeOrchestra } from '../formats/foreign/orchestra/config.ts';
import { claudeOrchestrator } from '../formats/foreign/task-config/config.ts';
import { edited } from './edit.ts';
import { type ConfigDialect, OWN_DIALECT, readConfig } from './read.ts';

const set = (text: string, key: string, value: unknown, dialect: ConfigDialect = OWN_DIALECT) =>
  edited(text, dialect, { path: key.split('.'), value });

describe('comments, order and looks stay', () => {
  const TEXT = [
    '# Ours.',
    'agent:',
    '    max_retries: 1 # one is enough',
    '',
    '    # Long builds.',
    '    max_runtime: 7200',
    'tools: {allowed_cli: [gh]}',
    'project:',
    '    key_files:',
    '        - src/a.ts',
    '',
  ].join('\n');

  test.each([
    ['agent.max_retries', 3, TEXT.replace('max_retries: 1', 'max_retries: 3')],
    ['tools.allowed_cli', ['gh', 'az'], TEXT.replace('[gh]', '[gh, az]')],
    ['target', 'dev', `${TEXT}target: dev\n`],
    ['land.verify', 'off', `${TEXT}land:\n    verify: off\n`],
  ])('%s = %j', (key, value, expected) => {
    expect(set(TEXT, key, value)).toBe(expected);
  });

  test('also where a key is removed', () => {
    const result = set(TEXT, 'agent.max_runtime', undefined);
    expect(result).not.toContain('max_runtime');
    expect(result).toContain('# one is enough');
  });

  test('also of a section with nothing in it', () => {
    const text = set('git:\n# about agents\nagent: { max_retries: 1 }\n', 'git.owner', 'o');
    expect(text).toContain('# about agents');
    expect(text.replace(/^ *(?:#.*)?\n/gm, '')).toBe(
      'git:\n  owner: o\nagent: { max_retries: 1 }\n',
    );
  });
});

test('a section that is left empty goes', () => {
  expect(set('a: 1\nlimits:\n  groups:\n    db: 1\n', 'limits.groups.db', undefined)).toBe(
    'a: 1\n',
  );
  expect(set('limits:\n  groups:\n    db: 1\n', 'limits.groups.db', undefined)).toBe('');
});

test('removing what is not there changes nothing', () => {
  expect(set('a:   1\n', 'limits.groups.db', undefined)).toBe('a:   1\n');
});

test('a new file holds what was set and nothing else', () => {
  expect(set('', 'agent.max_retries', 0)).toBe('agent:\n  max_retries: 0\n');
});

test.each(['yes', 'off', '0', '1:30', 'a: b', '# x', ' two\nlines\n', '~'])(
  'the text %j is the same text when it is read again, in every kind of file',
  (text) => {
    for (const dialect of [OWN_DIALECT, claudeOrchestrator] as const) {
      const written = set('', 'project.test_command', text, dialect);
      const file = { path: 'c', text: written, dialect, scope: 'project' } as const;
      expect(readConfig(file).layer?.values).toEqual({ project: { test_command: text } });
    }
  },
);

test('JSON keeps its order and indentation', () => {
  const text = '{\n\t"worktree_dir": "a",\n\t"comment": "x"\n}\n';
  expect(set(text, 'worktree_dir', 'b', claudeOrchestra)).toBe(text.replace('"a"', '"b"'));
  expect(set(text, 'limits.workers', 2, claudeOrchestra)).toBe(
    text.replace('"x"', '"x",\n\t"default_parallel": 2'),
  );
});

test('what is behind an alias is not changed for others', () => {
  const text = 'tools: &t { skip_permissions: true }\nreview: { tools: *t }\n';
  expect(() => set(text, 'review.tools.skip_permissions', false)).toThrow(/is an alias/);
});

test('what is read but is no strict JSON is not guessed at when it is written', () => {
  expect(() => set('{ worktree_dir: a }', 'worktree_dir', 'b', claudeOrchestra)).toThrow(
    /not JSON/,
  );
});
