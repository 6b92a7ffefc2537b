/**
 * The keys of a configuration with dots (`land.verify`), from its schema, and their values in effect.
 * Each of the user's own names in a mapping is a key (`limits.groups.db`); an MCP server is one value.
 */

import type * as z from 'zod';
import { closest } from '../../base/closest.ts';
import { UserError } from '../../base/errors.ts';
import { DEFAULT_AGENT } from '../formats/native/lower.ts';
import type { Shape } from '../formats/native/values.ts';
import { quote } from '../problem.ts';
import { bare } from '../syntax/zod-problems.ts';
import type { GitFacts } from './discover.ts';
import { type Configuration, SAME_THING } from './read.ts';
import { configSchema } from './schema.ts';

export interface ConfigKey {
  readonly path: readonly string[];
  readonly shape: Shape;
  readonly schema: z.core.$ZodType;
}

/** In the order of the schema; a mapping of the user's own names is one key. */
export const CONFIG_KEYS = keysBelow(configSchema, []);

export function findKey(name: string): ConfigKey | undefined {
  const path = name.split('.');
  const exact = CONFIG_KEYS.find((key) => key.path.join('.') === name);
  if (exact !== undefined) return exact;
  const map = CONFIG_KEYS.find(
    (key) => key.path.length === path.length - 1 && name.startsWith(`${key.path.join('.')}.`),
  );
  const inner = map && namedValue(map.schema);
  return inner && path.at(-1) !== '' ? { path, ...inner } : undefined;
}

export function keyNamed(name: string): ConfigKey {
  const key = findKey(name);
  if (key !== undefined) return key;
  const names = CONFIG_KEYS.map(({ path }) => path.join('.'));
  const guess = names.find((one) => one.endsWith(`.${name}`)) ?? closest(name, names);
  const all = "docs/configuration.md in landfast's package has them all.";
  const remedy = guess === null ? all : `Did you mean ${guess}?`;
  throw new UserError(`There is no key ${quote(name)}.`, remedy);
}

export function isSection(name: string): boolean {
  return CONFIG_KEYS.some((key) => key.path.join('.').startsWith(`${name}.`));
}

function shapeOf(schema: z.core.$ZodType): Shape {
  const { def } = bare(schema)._zod;
  if (def.type === 'array') {
    return { type: 'array', items: shapeOf((def as z.core.$ZodArrayDef).element) };
  }
  if (def.type === 'object' || def.type === 'record') return { type: 'object' };
  return ((bare(schema) as z.ZodType).meta() ?? {}) as Shape;
}

function keysBelow(schema: z.core.$ZodType, path: readonly string[]): readonly ConfigKey[] {
  const inner = bare(schema);
  const { def } = inner._zod;
  if (def.type !== 'object') return [{ path, shape: shapeOf(inner), schema: inner }];
  const entries = Object.entries((def as z.core.$ZodObjectDef).shape);
  return entries.flatMap(([key, value]) => keysBelow(value, [...path, key]));
}

/** The schema of what one of the user's own names holds. */
function namedValue(schema: z.core.$ZodType): Pick<ConfigKey, 'shape' | 'schema'> | undefined {
  const { def } = bare(schema)._zod;
  if (def.type === 'record') {
    const inner = bare((def as z.core.$ZodRecordDef).valueType);
    return { shape: shapeOf(inner), schema: inner };
  }
  const { additionalProperties } = shapeOf(schema);
  return additionalProperties && { shape: additionalProperties, schema };
}

export interface Listed {
  readonly key: string;
  /** As it would be written in a file. */
  readonly value: unknown;
  /** A file, `detected` in the repository, or `default`. */
  readonly origin: string;
}

/** The configuration in effect, key by key, and where each value comes from. */
export function listing({ settings }: Configuration, facts: GitFacts | null): readonly Listed[] {
  const found = new Map<string, Listed>();
  for (const [key, value] of BUILT_IN) {
    const isSaid = SAME_THING.some(
      (names) => names.includes(key) && names.some((name) => settings.has(name)),
    );
    if (!isSaid) found.set(key, { key, value, origin: 'default' });
  }
  for (const [key, value] of facts === null ? [] : detected(facts)) {
    found.set(key, { key, value, origin: 'detected' });
  }
  for (const [key, { value, origin }] of settings)
    found.set(key, { key, value, origin: origin.file });
  return [...found.values()].toSorted((a, b) => placeIn(a.key) - placeIn(b.key));
}

function detected(facts: GitFacts): readonly (readonly [string, string])[] {
  const { provider, owner, repo, slug, base, destination } = facts;
  const found = {
    provider: provider === 'unknown' ? undefined : provider,
    base_branch: base,
    destination_branch: destination,
    repo_slug: slug,
    owner,
    repo,
  };
  return Object.entries(found).flatMap(([key, value]) =>
    value === undefined ? [] : [[`git.${key}`, value] as const],
  );
}

const ORDER = new Map(CONFIG_KEYS.map(({ path }, index) => [path.join('.'), index]));

/** The user's own names (`limits.groups.db`) are sorted with their mapping. */
function placeIn(key: string): number {
  const place = ORDER.get(key);
  if (place !== undefined) return place;
  const dot = key.lastIndexOf('.');
  return dot === -1 ? ORDER.size : placeIn(key.slice(0, dot));
}

/**
 * The defaults, as a file would have them. The sections of claude-code-orchestrator are for its task
 * files; what a native plan starts from is in `defaults`, `land` and `limits`.
 */
export const BUILT_IN: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['defaults.agent', DEFAULT_AGENT],
  ['defaults.retries', 2],
  ['defaults.timeout', '1h'],
  ['defaults.idle', '7m'],
  ['defaults.permissions', 'acceptEdits'],
  ['defaults.prompt_as', 'stdin'],
  ['land.strategy', 'merge'],
  ['land.verify', 'each'],
  ['land.on_conflict', 'agent'],
  ['land.order', 'ready'],
  ['land.on_gate_failure', 'agent'],
  ['land.on_semantic', 'agent'],
  ['land.reworks', 2],
  ['land.publish', 'end'],
  ['land.trailers', 'on'],
  ['limits.workers', 4],
  ['limits.gates', 1],
  ['sandbox', 'off'],
  ['fence.network', 'on'],
  ['git.provider', 'auto'],
  ['worktree_dir', '../worktrees'],
  ['stale_after', '5m'],
  ['claude_projects_dir', '~/.claude/projects'],
  ['tools.permission_mode', 'default'],
  ['tools.skip_permissions', false],
  ['agent.inactivity_timeout', 300],
  ['agent.max_runtime', 3600],
  ['agent.max_retries', 2],
  ['agent.use_resume', true],
  ['agent.retry_delay', 5],
  ['workflow.mode', 'review'],
  ['workflow.stop_after_generate', true],
  ['workflow.stop_after_run', false],
  ['workflow.auto_approve', false],
  ['workflow.auto_pr', true],
  ['review.automerge', false],
  ['review.test_before_merge', true],
  ['review.require_all_tests_pass', true],
]);
