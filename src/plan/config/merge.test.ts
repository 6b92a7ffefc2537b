import { expect, test } from 'vitest';
import type { ConfigLayer, Values } from './read.ts';
import { mergeConfig } from './read.ts';

const layer = (scope: ConfigLayer['scope'], values: Values): ConfigLayer => ({
  file: `${scope}.yaml`,
  scope,
  values,
});

const merged = (global: Values, project: Values) =>
  mergeConfig([layer('global', global), layer('project', project)], '/home/ada');

test('mappings are merged, lists and single values are replaced', () => {
  const { config } = merged(
    { agent: { max_runtime: 100 }, tools: { allowed_cli: ['gh', 'az'] }, limits: { workers: 2 } },
    { agent: { max_retries: 0 }, tools: { allowed_cli: ['npm'] }, limits: { groups: { db: 1 } } },
  );
  expect(config).toEqual({
    agent: { max_runtime: 100, max_retries: 0 },
    tools: { allowed_cli: ['npm'] },
    limits: { workers: 2, groups: { db: 1 } },
  });
});

test('every value knows its file', () => {
  const { settings } = merged({ land: { reworks: 1 } }, { target: 'dev' });
  expect(settings).toEqual(
    new Map([
      [
        'land.reworks',
        {
          path: ['land', 'reworks'],
          value: 1,
          origin: { file: 'global.yaml', scope: 'global' },
        },
      ],
      [
        'target',
        { path: ['target'], value: 'dev', origin: { file: 'project.yaml', scope: 'project' } },
      ],
    ]),
  );
});

test('a later file wins by whichever name it uses', () => {
  const { config } = merged(
    { defaults: { retries: 5, permissions: 'plan' }, workspace: { dir: 'a' } },
    { agent: { max_retries: 1 }, tools: { skip_permissions: true }, worktree_dir: 'b' },
  );
  expect(config).toEqual({
    defaults: undefined,
    agent: { max_retries: 1 },
    tools: { skip_permissions: true },
    worktree_dir: 'b',
  });
});

test('a server of MCP is replaced as a whole', () => {
  const { config } = merged(
    { defaults: { mcp: { a: { command: ['x'] }, b: { url: 'http://b' } } } },
    { defaults: { mcp: { a: { url: 'http://a' } } } },
  );
  expect(config.defaults?.mcp).toEqual({ a: { url: 'http://a' }, b: { url: 'http://b' } });
});

test('~ is the home', () => {
  const { config } = merged({ worktree_dir: '~/trees' }, { claude_projects_dir: '~' });
  expect(config).toEqual({ worktree_dir: '/home/ada/trees', claude_projects_dir: '/home/ada' });
});
