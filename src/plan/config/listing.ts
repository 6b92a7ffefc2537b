/** What holds, key by key, and where it comes from: for people and for programs. */

import { BUILT_IN } from './defaults.ts';
import { configKeys } from './keys.ts';
import { type Configuration, SAME_THING } from './merge.ts';
import type { GitFacts } from './origin.ts';

export interface Listed {
  readonly key: string;
  /** As it would be written in a file. */
  readonly value: unknown;
  /** A file, `detected` in the repository, or `default`. */
  readonly origin: string;
}

/** Every key that has a value, in the order of the schema. */
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

/** A value on one line: booleans as words, lists with commas. */
export function shownValue(value: unknown): string {
  if (typeof value === 'string') return value;
  const isPlainList = Array.isArray(value) && value.every((item) => typeof item === 'string');
  return isPlainList ? value.join(',') : JSON.stringify(value);
}

function detected(facts: GitFacts): readonly (readonly [string, string])[] {
  const { provider, owner, repo, slug, base, destination } = facts;
  const values: readonly (readonly [string, string | undefined])[] = [
    ['git.provider', provider === 'unknown' ? undefined : provider],
    ['git.base_branch', base],
    ['git.destination_branch', destination],
    ['git.repo_slug', slug],
    ['git.owner', owner],
    ['git.repo', repo],
  ];
  return values.flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const]));
}

const ORDER = new Map(configKeys().map(({ path }, index) => [path.join('.'), index]));

/** The user's own names (`limits.groups.db`) stand where their mapping does. */
function placeIn(key: string): number {
  const place = ORDER.get(key);
  if (place !== undefined) return place;
  const dot = key.lastIndexOf('.');
  return dot === -1 ? ORDER.size : placeIn(key.slice(0, dot));
}
