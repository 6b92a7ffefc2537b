/**
 * Configuration files: a text becomes checked values, or problems with places; several become one. Never
 * throws, and never takes half of a wrong file. A key without a value counts as absent.
 */

import type * as z from 'zod';
import { checkGateNames } from '../formats/native/checks.ts';
import { expandHome } from '../formats/native/values.ts';
import { type Problem, ProblemLog } from '../problem.ts';
import { withoutBom } from '../syntax/markdown.ts';
import { nodeAt, placeOf, plainValue, readYaml, type YamlNode } from '../syntax/yaml.ts';
import { reportIssues } from '../syntax/zod-problems.ts';
import { type Config, configSchema } from './schema.ts';

/** Whose words a file uses, and where such files are. */
export interface ConfigDialect {
  /** The file of a project, relative to its root. */
  readonly projectFile: string;
  /** The file of a user, below the folder of configurations (`~/.config`). */
  readonly userFile: string;
  readonly yaml: '1.1' | '1.2';
  /** Another tool's file: an unknown key is a warning, and an empty text says nothing. */
  readonly isForeign: boolean;
  /** The values in the words of configSchema; null where some are wrong, which is then in the log. */
  read(file: ReadFile, log: ProblemLog): Values | null;
  /** Where the file is a flat JSON object: its word for a key of configSchema; null without one. */
  keyFor?(key: string): string | null;
  readonly scaffold?: Scaffold;
}

/** What `landfast init --format` writes for users of another tool. */
interface Scaffold {
  /** What the format is called there. */
  readonly name: string;
  /** The content of the project file. */
  readonly values: Readonly<Record<string, unknown>>;
  /** The folder for worktrees, relative to the root. */
  readonly worktrees: string;
  /** The tool's own state, which it must be able to read; `~` is the home. */
  readonly stateFile: string;
}

/** A mapping: its tree, and its values without those that say nothing. */
interface ReadFile {
  readonly root: YamlNode;
  readonly values: Values;
}

export interface ConfigFile {
  /** As it is shown to the user. */
  readonly path: string;
  readonly text: string;
  readonly dialect: ConfigDialect;
  readonly scope: 'global' | 'project';
}

/** Plain data in the words of configSchema, as it was written. */
export type Values = Readonly<Record<string, unknown>>;

export interface ConfigLayer {
  readonly file: string;
  readonly scope: 'global' | 'project';
  readonly values: Values;
}

/** Reads a file; the layer is null exactly when a problem is an error. */
export function readConfig(file: ConfigFile): {
  readonly layer: ConfigLayer | null;
  readonly problems: readonly Problem[];
} {
  const log = new ProblemLog(file.path);
  const values = readValues(file, log);
  const { path, scope } = file;
  const layer = log.failed || values === null ? null : { file: path, scope, values };
  return { layer, problems: log.sorted() };
}

function readValues({ text, dialect }: ConfigFile, log: ProblemLog): Values | null {
  const { yaml: version, isForeign } = dialect;
  const root = readYaml({ text: withoutBom(text), firstLine: 1, version }, log);
  if (root === null) return null;
  if (root.kind === 'scalar' && root.value === null) return {};
  if (root.kind !== 'map') {
    log.error(root.at, 'a configuration must be a mapping', 'write it as key: value');
    return null;
  }
  return dialect.read({ root, values: withoutEmpty(plainValue(root), isForeign) as Values }, log);
}

export const OWN_DIALECT: ConfigDialect = {
  projectFile: 'landfast.yaml',
  userFile: 'landfast/config.yaml',
  yaml: '1.2',
  isForeign: false,
  read: (file, log) => {
    checkGateNames(file.root, log);
    return checkOwnWords(file, log, { isForeign: false });
  },
};

export function checkOwnWords(
  file: ReadFile,
  log: ProblemLog,
  { isForeign }: Pick<ConfigDialect, 'isForeign'>,
): Values | null {
  const values = checkValues(configSchema, { ...file, isForeign }, log);
  if (values !== null) reportUnused(file.root, UNUSED, log);
  return values;
}

function withoutEmpty(value: unknown, isForeign: boolean): unknown {
  if (Array.isArray(value) || value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).filter(
    ([, one]) => one !== null && !(isForeign && one === ''),
  );
  return Object.fromEntries(entries.map(([key, one]) => [key, withoutEmpty(one, isForeign)]));
}

/** The values without unknown keys; null if one is wrong. */
export function checkValues(
  schema: z.ZodType,
  file: ReadFile & Pick<ConfigDialect, 'isForeign'>,
  log: ProblemLog,
): Values | null {
  const parsed = schema.safeParse(file.values);
  if (parsed.success) return file.values;
  const { issues } = parsed.error;
  const unknown = issues.filter(({ code }) => code === 'unrecognized_keys');
  const asWarning = { error: log.warning.bind(log), isFull: log.isFull };
  reportIssues(unknown, schema, file.root, file.isForeign ? asWarning : log);
  const wrong = issues.filter(({ code }) => code !== 'unrecognized_keys');
  reportIssues(wrong, schema, file.root, log);
  if (log.failed) return null;
  const paths = unknown.flatMap(({ path, ...issue }) =>
    'keys' in issue ? issue.keys.map((key) => [...path, key]) : [],
  );
  return paths.reduce(without, file.values) as Values;
}

function without(value: unknown, [step, ...rest]: readonly PropertyKey[]): unknown {
  if (value === null || typeof value !== 'object' || step === undefined) return value;
  if (Array.isArray(value)) {
    return value.map((item, i) => (i === step ? without(item, rest) : item));
  }
  const entries = Object.entries(value).flatMap(([key, one]) => {
    if (key !== step) return [[key, one]];
    return rest.length === 0 ? [] : [[key, without(one, rest)]];
  });
  return Object.fromEntries(entries);
}

/**
 * Known keys that wait for their feature: plans made by a model, reviews, servers, sessions.
 * `project.key_files` is one too, but `landfast init` writes it with a comment that says so.
 */
const UNUSED: readonly string[] = [
  'claude_projects_dir',
  'workflow.stop_after_run',
  'review',
  'mcps',
];

/** One warning for all such keys, at the first of them. */
export function reportUnused(root: YamlNode, keys: readonly string[], log: ProblemLog): void {
  const found = keys.filter((key) => nodeAt(root, key.split('.')) !== undefined);
  const [first] = found
    .map((key) => placeOf(root, key.split('.'), 'key'))
    .sort((a, b) => a.line - b.line || a.column - b.column);
  if (first === undefined) return;
  const message = `no effect in this version: ${found.join(', ')}`;
  log.warning(first, message, 'remove what you do not need elsewhere');
}

interface Setting {
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

/**
 * `layers` from the weakest to the strongest; `home` stands for `~`. Mappings are merged key by key;
 * lists, scalars and MCP servers are replaced.
 */
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

/** Two names of one thing count as one key. */
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
