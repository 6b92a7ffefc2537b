/**
 * Merges configuration files: for each key the last file that has it wins, and the value knows that
 * file. Mappings are merged key by key; lists, scalars and MCP servers are replaced. Two names of one
 * thing (`agent.max_retries`, `defaults.retries`) count as one key.
 */

import { expandHome } from '../formats/native/values.ts';
import type { ConfigLayer, Values } from './read.ts';
import { type Config, configSchema } from './schema.ts';

export interface Setting {
  readonly path: readonly string[];
  readonly value: unknown;
  readonly origin: Pick<ConfigLayer, 'file' | 'scope'>;
}

export interface Configuration {
  /** What formats read: checked, with `~` expanded. */
  readonly config: Config;
  /** Every value that was configured, by its key with dots. */
  readonly settings: ReadonlyMap<string, Setting>;
}

/** `layers` from the weakest to the strongest; `home` stands for `~`. */
export function mergeConfig(layers: readonly ConfigLayer[], home: string): Configuration {
  const settings = new Map<string, Setting>();
  for (const { values, file, scope } of layers) {
    const own = leaves(values, []);
    for (const { path, value } of own) {
      for (const name of otherNames(path, value)) settings.delete(name);
    }
    for (const { path, value } of own) {
      settings.set(path.join('.'), { path, value, origin: { file, scope } });
    }
  }
  if (settings.size === 0) return { config: {}, settings };
  const values: Record<string, unknown> = {};
  for (const { path, value } of settings.values()) put(values, path, value);
  return { config: withHome(configSchema.parse(values), home), settings };
}

function leaves(
  value: unknown,
  path: readonly string[],
): readonly { readonly path: readonly string[]; readonly value: unknown }[] {
  const isMap = value !== null && typeof value === 'object' && !Array.isArray(value);
  const isServer = path.length === 3 && path[1] === 'mcp';
  if (!isMap || isServer) return [{ path, value }];
  return Object.entries(value as Values).flatMap(([key, one]) => leaves(one, [...path, key]));
}

const TOOLS = ['allowed_cli', 'allowed_tools', 'disallowed_tools', 'add_dirs'].map((key) => [
  `tools.${key}`,
  `defaults.tools.${key}`,
]);

/** Keys that mean the same thing. */
export const SAME_THING: readonly (readonly string[])[] = [
  ['agent.max_retries', 'defaults.retries'],
  ['agent.max_runtime', 'defaults.timeout'],
  ['agent.inactivity_timeout', 'defaults.idle'],
  ['worktree_dir', 'workspace.dir'],
  [
    'tools.permission_mode',
    'tools.skip_permissions',
    'defaults.tools.permission_mode',
    'defaults.tools.skip_permissions',
    'defaults.permissions',
  ],
  ...TOOLS,
];

function otherNames(path: readonly string[], value: unknown): readonly string[] {
  const name = path.join('.');
  if (value === false) return []; // `skip_permissions: false` says nothing of the mode.
  return SAME_THING.filter((names) => names.includes(name)).flat();
}

function put(values: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [step = '', ...rest] = path;
  if (rest.length === 0) {
    values[step] = value;
    return;
  }
  if (!Object.hasOwn(values, step)) values[step] = {};
  put(values[step] as Record<string, unknown>, rest, value);
}

/** Only paths that Landfast itself reads; agents and the fence expand their own. */
function withHome(config: Config, home: string): Config {
  const { worktree_dir: dir, claude_projects_dir: projects } = config;
  return {
    ...config,
    ...(dir === undefined ? {} : { worktree_dir: expandHome(dir, home) }),
    ...(projects === undefined ? {} : { claude_projects_dir: expandHome(projects, home) }),
  };
}
