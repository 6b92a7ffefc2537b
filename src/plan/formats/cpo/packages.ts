/**
 * `dependencies`: packages that are removed, upgraded and added before the first agent starts, by
 * the package manager that the project already uses.
 *
 *   D1. An entry is a package's name, and a version where one is meant. Options, paths, addresses,
 *       blanks and whatever a shell would obey are refused here, before anything runs.
 *   D2. The order is remove, upgrade, add, add_dev; an empty list calls nobody.
 */

import type { ProblemLog } from '../../problem.ts';
import { quote } from '../../problem.ts';
import { describe, entryOf, type YamlNode } from '../../yaml-source.ts';
import type { PlanInput } from '../format.ts';
import { readWords } from './fields.ts';
import { type Changes, type Ecosystem, INSTALLERS, installerOf } from './installers.ts';

const LISTS = ['remove', 'upgrade', 'add', 'add_dev'] as const;

const VERSION = String.raw`[\w.*+!^~-]+`;
const PYTHON_RANGE = `(?:===|==|~=|!=|<=|>=|<|>)${VERSION}`;
const NODE_NAME = String.raw`(?:@[a-z\d~][\w.~-]*/)?[A-Za-z\d][\w.~-]*`;

/** What an entry looks like, and an example of it. */
const ENTRIES: Readonly<Record<Ecosystem, { readonly form: RegExp; readonly example: string }>> = {
  python: {
    form: new RegExp(
      String.raw`^[A-Za-z\d][\w.-]*(?:\[[\w.,-]+\])?(?:${PYTHON_RANGE}(?:,${PYTHON_RANGE})*)?$`,
    ),
    example: 'pydantic==2.5.3',
  },
  node: {
    form: new RegExp(`^${NODE_NAME}(?:@(?:<=|>=|<|>|=)?${VERSION})?$`),
    example: 'zod@3.22.4',
  },
  rust: { form: /^[A-Za-z][\w-]*(?:@[=^~]?[\d][\w.+-]*)?$/, example: 'serde@1.0.200' },
  go: {
    form: /^[a-z\d][\w-]*(?:\.[\w-]+)+(?:\/[\w.~-]+)*(?:@v?[\w.+-]+)?$/,
    example: 'github.com/google/uuid@v1.6.0',
  },
};

/** The script that brings the packages; null where there is nothing to do. */
export function dependencyScript(
  section: YamlNode | null,
  repository: PlanInput['repository'],
  log: ProblemLog,
): string | null {
  if (section === null || (section.kind === 'scalar' && section.value === null)) return null;
  if (section.kind !== 'map') {
    log.error(section.at, `dependencies must be an object, found ${describe(section)}`);
    return null;
  }
  const commands: string[] = [];
  for (const { key, keyAt, value } of section.entries.values()) {
    const ecosystem = Object.keys(ENTRIES).find((name) => name === key) as Ecosystem | undefined;
    if (ecosystem === undefined) {
      const known = Object.keys(ENTRIES).join(', ');
      log.error(keyAt, `dependencies for ${quote(String(key))} are unknown`, `known: ${known}`);
      continue;
    }
    const changes = readChanges(value, ecosystem, log);
    if (LISTS.every((list) => changes[list].length === 0)) continue;
    const installer = installerOf(ecosystem, repository);
    if (installer.missing !== null) {
      const remedy = `${installer.name} is called all the same; make it first if that fails`;
      log.warning(keyAt, `there is no ${installer.missing} in the repository`, remedy);
    }
    commands.push(...INSTALLERS[installer.name](changes));
  }
  return commands.length === 0 ? null : commands.join('\n');
}

function readChanges(node: YamlNode, ecosystem: Ecosystem, log: ProblemLog): Changes {
  const changes = { remove: [], upgrade: [], add: [], add_dev: [] };
  if (node.kind !== 'map') {
    log.error(node.at, `dependencies.${ecosystem} must be an object, found ${describe(node)}`);
    return changes;
  }
  for (const { key, keyAt } of node.entries.values()) {
    if (LISTS.some((list) => list === key)) continue;
    const remedy = `known lists: ${LISTS.join(', ')}`;
    log.error(keyAt, `dependencies.${ecosystem}.${String(key)} is unknown`, remedy);
  }
  const list = (name: (typeof LISTS)[number]) => readList(node, name, ecosystem, log);
  return {
    remove: list('remove'),
    upgrade: list('upgrade'),
    add: list('add'),
    add_dev: list('add_dev'),
  };
}

function readList(
  node: YamlNode,
  name: (typeof LISTS)[number],
  ecosystem: Ecosystem,
  log: ProblemLog,
): readonly string[] {
  if (entryOf(node, name) === undefined) return [];
  const { form, example } = ENTRIES[ecosystem];
  const words = readWords(node, name, log);
  const fine = words.filter(({ text, at }) => {
    const isVersioned = name === 'remove' && /[=<>~!]|(?<!^)@/.test(text);
    if (form.test(text) && !isVersioned && text.length <= 200) return true;
    const remedy = isVersioned
      ? 'give the name alone'
      : `write a name and a version, such as ${example}`;
    log.error(at, `dependencies.${ecosystem}.${name}: ${quote(text)} is no package`, remedy);
    return false;
  });
  return [...new Set(fine.map(({ text }) => text))];
}
