/**
 * `dependencies`: packages to remove, upgrade and add before the first agent starts, with the package
 * manager that the project already uses. An entry is a name and a version (none to remove): options,
 * paths, addresses and shell syntax are refused.
 */

import { shellWord } from '../../../../base/shell-word.ts';
import { type ProblemLog, quote } from '../../../problem.ts';
import { expectMap, isNothing, type YamlNode } from '../../../syntax/yaml.ts';
import type { PlanInput } from '../../format.ts';
import { readWord, readWords } from './manifest.ts';

const LISTS = ['remove', 'upgrade', 'add', 'add_dev'] as const;

const VERSION = String.raw`[\w.*+!^~-]+`;
const PYTHON_RANGE = `(?:===|==|~=|!=|<=|>=|<|>)${VERSION}`;
/** Not the one that a scope begins with. */
const AT = /(?<!^)@/;
const NODE_NAME = String.raw`(?:@[a-z\d~][\w.~-]*/)?[A-Za-z\d][\w.~-]*`;

const ENTRIES: Readonly<
  Record<Ecosystem, { readonly form: RegExp; readonly version: RegExp; readonly example: string }>
> = {
  python: {
    form: new RegExp(
      String.raw`^[A-Za-z\d][\w.-]*(?:\[[\w.,-]+\])?(?:${PYTHON_RANGE}(?:,${PYTHON_RANGE})*)?$`,
    ),
    version: /[=<>~!]/,
    example: 'pydantic==2.5.3',
  },
  node: {
    form: new RegExp(`^${NODE_NAME}(?:@(?:<=|>=|<|>|=)?${VERSION})?$`),
    version: AT,
    example: 'zod@3.22.4',
  },
  rust: {
    form: /^[A-Za-z][\w-]*(?:@[=^~]?[\d][\w.+-]*)?$/,
    version: AT,
    example: 'serde@1.0.200',
  },
  go: {
    form: /^[a-z\d][\w-]*(?:\.[\w-]+)+(?:\/[\w.~-]+)*(?:@v?[\w.+-]+)?$/,
    version: AT,
    example: 'github.com/google/uuid@v1.6.0',
  },
};

/** The script that installs the packages; null if there are none. */
export function dependencyScript(
  section: YamlNode | null,
  repository: PlanInput['repository'],
  log: ProblemLog,
): string | null {
  if (section === null || isNothing(section)) return null;
  const map = expectMap(section, 'dependencies', log, { called: 'an object' });
  const commands: string[] = [];
  for (const { key, keyAt, value } of map?.entries.values() ?? []) {
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
      const remedy = `${installer.name} is run anyway; create it first if that fails`;
      log.warning(keyAt, `there is no ${installer.missing} in the repository`, remedy);
    }
    commands.push(...INSTALLERS[installer.name](changes));
  }
  return commands.length === 0 ? null : commands.join('\n');
}

function readChanges(node: YamlNode, ecosystem: Ecosystem, log: ProblemLog): Changes {
  const map = expectMap(node, `dependencies.${ecosystem}`, log, { called: 'an object' });
  for (const { key, keyAt } of map?.entries.values() ?? []) {
    if (LISTS.some((list) => list === key)) continue;
    const remedy = `known lists: ${LISTS.join(', ')}`;
    log.error(keyAt, `dependencies.${ecosystem}.${String(key)} is unknown`, remedy);
  }
  const lists = LISTS.map((name) => [name, readList(node, name, ecosystem, log)]);
  return Object.fromEntries(lists) as Changes;
}

function readList(
  node: YamlNode,
  name: (typeof LISTS)[number],
  ecosystem: Ecosystem,
  log: ProblemLog,
): readonly string[] {
  const { form, version, example } = ENTRIES[ecosystem];
  const words = readWords(node, name, log);
  const fine = words.filter(({ text, at }) => {
    const isVersioned = version.test(text);
    const isPackage = form.test(text) && text.length <= 200;
    const wantsVersion = name !== 'remove';
    if (isPackage && isVersioned === wantsVersion) return true;
    const what = isPackage && wantsVersion ? 'has no version' : 'is not a package';
    const remedy =
      isVersioned && !wantsVersion
        ? 'give the name alone'
        : `write a name and a version, such as ${example}`;
    log.error(at, `dependencies.${ecosystem}.${name}: ${quote(text)} ${what}`, remedy);
    return false;
  });
  return [...new Set(fine.map(({ text }) => text))];
}

type Ecosystem = 'python' | 'node' | 'rust' | 'go';
type InstallerName = keyof typeof INSTALLERS;
type Changes = Readonly<Record<(typeof LISTS)[number], readonly string[]>>;

interface Installer {
  readonly name: InstallerName;
  /** Its manifest, if the repository has none. */
  readonly missing: string | null;
}

/** A lockfile decides, then the project's manifest, then the usual package manager. */
function installerOf(ecosystem: Ecosystem, repository: PlanInput['repository']): Installer {
  const files = new Set(repository.list('.'));
  const has = (...names: readonly string[]): boolean => names.some((name) => files.has(name));
  const manifest = MANIFESTS[ecosystem];
  const missing = has(manifest) ? null : manifest;
  switch (ecosystem) {
    case 'python': {
      if (has('uv.lock')) return { name: 'uv', missing };
      if (has('poetry.lock')) return { name: 'poetry', missing };
      if (missing !== null && has('requirements.txt')) return { name: 'pip', missing: null };
      const isPoetry = /^\[tool\.poetry\]/m.test(repository.read(manifest) ?? '');
      return { name: isPoetry ? 'poetry' : 'uv', missing };
    }
    case 'node': {
      if (has('pnpm-lock.yaml')) return { name: 'pnpm', missing };
      if (has('yarn.lock')) return { name: 'yarn', missing };
      if (has('bun.lock', 'bun.lockb')) return { name: 'bun', missing };
      if (has('package-lock.json')) return { name: 'npm', missing };
      const field = /"packageManager"\s*:\s*"(npm|pnpm|yarn|bun)@/;
      const [, named] = field.exec(repository.read(manifest) ?? '') ?? [];
      return { name: (named as InstallerName | undefined) ?? 'npm', missing };
    }
    case 'rust':
      return { name: 'cargo', missing };
    case 'go':
      return { name: 'go', missing };
  }
}

const MANIFESTS: Readonly<Record<Ecosystem, string>> = {
  python: 'pyproject.toml',
  node: 'package.json',
  rust: 'Cargo.toml',
  go: 'go.mod',
};

type Commands = (changes: Changes) => readonly string[];

const GO = verbs({ remove: 'go get', add: 'go get', dev: 'go get' });

/** Every word that comes from the plan is quoted for the shell. */
const INSTALLERS = {
  uv: verbs({
    remove: 'uv remove',
    upgrade: 'uv add --upgrade',
    add: 'uv add',
    dev: 'uv add --dev',
  }),
  poetry: verbs({ remove: 'poetry remove', add: 'poetry add', dev: 'poetry add --group dev' }),
  pip,
  npm: verbs({ remove: 'npm uninstall', add: 'npm install', dev: 'npm install --save-dev' }),
  pnpm: verbs({ remove: 'pnpm remove', add: 'pnpm add', dev: 'pnpm add --save-dev' }),
  yarn: verbs({ remove: 'yarn remove', add: 'yarn add', dev: 'yarn add --dev' }),
  bun: verbs({ remove: 'bun remove', add: 'bun add', dev: 'bun add --dev' }),
  cargo: verbs({ remove: 'cargo remove', add: 'cargo add', dev: 'cargo add --dev' }),
  // `go get path@none` removes.
  go: ({ remove, ...changes }: Changes) =>
    GO({ ...changes, remove: remove.map((path) => `${path}@none`) }),
};

/** Upgrading is adding, unless there is a verb for it. */
function verbs(words: {
  readonly remove: string;
  readonly upgrade?: string;
  readonly add: string;
  readonly dev: string;
}): Commands {
  return ({ remove, upgrade, add, add_dev }) => [
    ...command(words.remove, remove),
    ...command(words.upgrade ?? words.add, upgrade),
    ...command(words.add, add),
    ...command(words.dev, add_dev),
  ];
}

/**
 * pip cannot express "add": its record is requirements.txt. The lines are rewritten, and then
 * installed into an environment of the workspace, so that what cannot be had fails here.
 */
function pip(changes: Changes): readonly string[] {
  const { remove, upgrade, add, add_dev } = changes;
  return [
    `python3 -c ${shellWord(REWRITE)} requirements.txt ${words([...upgrade, ...add], remove)}`,
    ...(add_dev.length === 0
      ? []
      : [
          '[ -f requirements-dev.txt ] && dev=requirements-dev.txt || dev=requirements.txt',
          `python3 -c ${shellWord(REWRITE)} "$dev" ${words(add_dev, [])}`,
        ]),
    'python3 -m venv .venv',
    'for file in requirements.txt requirements-dev.txt; do',
    '  [ ! -f "$file" ] || .venv/bin/python -m pip install --quiet -r "$file"',
    'done',
  ];
}

/** Puts `+entry` in place of the line with the same name, and drops that of `-name`. */
const REWRITE = `import re, sys
path, words = sys.argv[1], sys.argv[2:]
name = lambda entry: re.sub(r'[-_.]+', '-', re.split(r'[^A-Za-z0-9._-]', entry.strip())[0]).lower()
lines = open(path).read().splitlines()
for word in words:
    entry, sign = word[1:], word[0]
    at = [i for i, line in enumerate(lines) if name(line) == name(entry)]
    if sign == '-':
        lines = [line for i, line in enumerate(lines) if i not in at]
    elif at:
        lines[at[0]] = entry
    else:
        lines.append(entry)
open(path, 'w').write(''.join(line + '\\n' for line in lines))
`;

function words(put: readonly string[], drop: readonly string[]): string {
  return [...drop.map((name) => `-${name}`), ...put.map((entry) => `+${entry}`)]
    .map(shellWord)
    .join(' ');
}

function command(verb: string, packages: readonly string[]): readonly string[] {
  return packages.length === 0 ? [] : [`${verb} ${packages.map(shellWord).join(' ')}`];
}

const PYTHON_VERSION = /^\d+\.\d+(?:\.\d+)?$/;

/** Compares `python_version` with `requires-python` in pyproject.toml and `.python-version`. */
export function checkPythonVersion(
  root: YamlNode,
  repository: PlanInput['repository'],
  log: ProblemLog,
): void {
  const wanted = readWord(root, 'python_version', log);
  if (wanted === null) return;
  const { text, at } = wanted;
  if (!PYTHON_VERSION.test(text)) {
    log.error(at, `python_version ${quote(text)} is not a version`, 'write it as "3.12"');
    return;
  }
  const project = repository.read('pyproject.toml') ?? '';
  const [, range] = /^\s*requires-python\s*=\s*["']([^"'\n]+)["']/m.exec(project) ?? [];
  if (range !== undefined && !fits(text, range)) {
    const message = `python_version ${quote(text)} does not match the project's requires-python`;
    log.error(at, message, `pyproject.toml says ${quote(range)}: change one of them`);
  }
  const [pinned] = /^\d+\.\d+[\d.]*/.exec(repository.read('.python-version') ?? '') ?? [];
  if (pinned === undefined || fits(pinned, `==${text}.*`) || fits(text, `==${pinned}.*`)) return;
  const message = `python_version ${quote(text)} is not the project's own, ${pinned}`;
  log.warning(at, message, 'agents work with that of .python-version');
}

/** Whether a version is in a range such as `>=3.9,<4`; unknown parts of a range do not count. */
function fits(version: string, range: string): boolean {
  return range.split(',').every((part) => {
    const [, sign, bound = ''] =
      /^\s*(===|==|~=|!=|<=|>=|<|>)\s*([\d.]+?)(?:\.?\*)?\s*$/.exec(part) ?? [];
    if (sign === undefined) return true;
    const order = compare(version, bound);
    const isPrefix = compare(version, bound, bound.split('.').length) === 0;
    switch (sign) {
      case '<':
        // 3.12 stands for all of 3.12.x.
        return order < 0;
      case '<=':
        return order <= 0 || isPrefix;
      case '>':
        return order > 0 && !isPrefix;
      case '>=':
        return (
          order >= 0 || version === bound.split('.').slice(0, version.split('.').length).join('.')
        );
      case '!=':
        return !isPrefix;
      case '~=':
        return order >= 0 && compare(version, bound, bound.split('.').length - 1) === 0;
      default:
        return isPrefix;
    }
  });
}

/** Missing numbers count as 0. */
function compare(a: string, b: string, depth = 3): number {
  const [one, other] = [a, b].map((text) => text.split('.').map(Number));
  for (let at = 0; at < depth; at += 1) {
    const difference = (one?.[at] ?? 0) - (other?.[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
