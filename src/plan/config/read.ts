/**
 * One configuration file: its text becomes checked values, or problems with line and column.
 *
 *   F1. Never throws, and never takes half of a file that is wrong.
 *   F2. A key with nothing behind it was not said: `git:` alone is an empty section.
 *   F3. An unknown key is an error in a file of ours, a warning in one of another tool.
 */

import type * as z from 'zod';
import { checkGateNames } from '../formats/native/gate-names.ts';
import { withoutBom } from '../front-matter.ts';
import { type Problem, ProblemLog } from '../problem.ts';
import { plainValue, readYaml, type YamlNode } from '../yaml-source.ts';
import { reportIssues } from '../zod-problems.ts';
import { fromOrchestra, orchestraSchema, UNUSED_OF_ORCHESTRA } from './orchestra.ts';
import { configSchema } from './schema.ts';
import { mendTexts } from './typed-text.ts';
import { reportUnused, UNUSED_HERE } from './unused.ts';

/** Whose words a file uses. */
export type ConfigStyle = 'landfast' | 'claude-orchestrator' | 'orchestra';

export interface ConfigFile {
  /** As it is shown to the user. */
  readonly path: string;
  readonly text: string;
  readonly style: ConfigStyle;
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

function readValues({ text, style }: ConfigFile, log: ProblemLog): Values | null {
  const version = style === 'claude-orchestrator' ? '1.1' : '1.2'; // Theirs was read by PyYAML.
  const root = readYaml({ text: withoutBom(text), firstLine: 1, version }, log);
  if (root === null) return null;
  if (root.kind === 'scalar' && root.value === null) return {};
  if (root.kind !== 'map') {
    log.error(root.at, 'a configuration must be a mapping', 'write it as key: value');
    return null;
  }
  const given = said(plainValue(root), style) as Values;
  switch (style) {
    case 'landfast':
      checkGateNames(root, log);
      return usable(root, check(configSchema(), { root, given, isOurs: true }, log), log);
    case 'claude-orchestrator': {
      const mended = mendTexts(given, root, log);
      return usable(root, check(configSchema(), { root, given: mended, isOurs: false }, log), log);
    }
    case 'orchestra': {
      const values = check(orchestraSchema(), { root, given, isOurs: false }, log);
      if (values === null) return null;
      reportUnused(root, UNUSED_OF_ORCHESTRA, log);
      return fromOrchestra(orchestraSchema().parse(values));
    }
  }
}

/** The values as they are; of a file that is right it is said which of its keys have no effect. */
function usable(root: YamlNode, values: Values | null, log: ProblemLog): Values | null {
  if (values !== null) reportUnused(root, UNUSED_HERE, log);
  return values;
}

/** The values without those that say nothing. */
function said(value: unknown, style: ConfigStyle): unknown {
  if (Array.isArray(value) || value === null || typeof value !== 'object') return value;
  const isSaid = (one: unknown) => one !== null && (style === 'landfast' || one !== '');
  const entries = Object.entries(value).filter(([, one]) => isSaid(one));
  return Object.fromEntries(entries.map(([key, one]) => [key, said(one, style)]));
}

function check(
  schema: z.ZodType,
  file: { readonly root: YamlNode; readonly given: Values; readonly isOurs: boolean },
  log: ProblemLog,
): Values | null {
  const parsed = schema.safeParse(file.given);
  if (parsed.success) return file.given;
  const { issues } = parsed.error;
  const unknown = issues.filter(({ code }) => code === 'unrecognized_keys');
  const asWarning = { error: log.warning.bind(log), isFull: log.isFull };
  reportIssues(unknown, schema, file.root, file.isOurs ? log : asWarning);
  const wrong = issues.filter(({ code }) => code !== 'unrecognized_keys');
  reportIssues(wrong, schema, file.root, log);
  if (log.failed) return null;
  const paths = unknown.flatMap(({ path, ...issue }) =>
    'keys' in issue ? issue.keys.map((key) => [...path, key]) : [],
  );
  return paths.reduce(without, file.given) as Values;
}

/** The value without what is at the path. */
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
