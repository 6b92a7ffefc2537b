/**
 * Which tool a manifest was written for: parallel-orchestra, its predecessor clade-parallel, whose
 * tasks have times and folders of their own, or a successor, which has models and a plan that is
 * worked through one task after the other.
 */

import { type ProblemLog, quote } from '../../problem.ts';
import { describe, entryOf, type YamlEntry, type YamlMap } from '../../yaml-source.ts';
import { quoteRemedy } from './values.ts';

export interface Dialect {
  /** The predecessor's: times, pauses and folders of tasks are read, and `cwd` is theirs alone. */
  readonly isOld: boolean;
  /** How many attempts follow a failed one where the manifest does not say. */
  readonly retries: number;
  readonly workers: number;
}

const VERSION_KEY = 'po_plan_version';
const VERSION = '0.1';
const SEQUENTIAL = 'sequential';
const OLD_KEY = 'clade_plan_version';
const OLD_VERSIONS = ['0.1', '0.2', '0.3', '0.4', '0.5', '0.6', '0.7'];

const CURRENT: Dialect = { isOld: false, retries: 1, workers: 3 };
const OLD: Dialect = { isOld: true, retries: 0, workers: 3 };

/** Reads the version; one that is wrong is in the log then, and the rest is read as usual. */
export function readDialect(root: YamlMap, log: ProblemLog): Dialect {
  const version = entryOf(root, VERSION_KEY);
  const old = entryOf(root, OLD_KEY);
  if (version === undefined && old !== undefined) return readOld(old, log);
  const remedy = `write ${VERSION_KEY}: "${VERSION}"`;
  if (version === undefined) {
    log.error(root.at, `${VERSION_KEY} is missing`, remedy);
    return CURRENT;
  }
  const text = textOf(version, VERSION_KEY, log, remedy);
  if (text === SEQUENTIAL) {
    const message = `${VERSION_KEY} "${SEQUENTIAL}": its tasks run one after the other`;
    log.warning(version.value.at, message, '--max-workers changes that');
    return { ...CURRENT, workers: 1 };
  }
  if (text !== null && text !== VERSION) {
    const message = `unsupported ${VERSION_KEY} ${quote(text)}; supported: "${VERSION}"`;
    log.error(version.value.at, message, remedy);
  }
  return CURRENT;
}

function readOld(entry: YamlEntry, log: ProblemLog): Dialect {
  const text = textOf(entry, OLD_KEY, log, quoteRemedy(entry.value));
  if (text !== null && !OLD_VERSIONS.includes(text)) {
    const range = `"${OLD_VERSIONS[0]}" to "${OLD_VERSIONS.at(-1)}"`;
    log.error(entry.value.at, `unsupported ${OLD_KEY} ${quote(text)}; supported: ${range}`);
  } else if (text !== null) {
    const message = `${OLD_KEY} is the key of parallel-orchestra's predecessor: it is read as such`;
    log.warning(entry.keyAt, message, 'docs/formats.md says what that means');
  }
  return OLD;
}

function textOf(
  { value }: YamlEntry,
  key: string,
  log: ProblemLog,
  remedy: string | undefined,
): string | null {
  if (value.kind === 'scalar' && typeof value.value === 'string') return value.value;
  log.error(value.at, `${key} must be text, found ${describe(value)}`, remedy);
  return null;
}
