/**
 * Which package manager a project uses, and how each is asked for changes.
 *
 *   K1. A lockfile decides, then what the manifest of the project says, then the usual one.
 *   K2. Every word of a command that comes from the plan is quoted for the shell.
 */

import { shellWord } from '../../../base/shell-word.ts';
import type { PlanInput } from '../format.ts';

export type Ecosystem = 'python' | 'node' | 'rust' | 'go';
export type InstallerName =
  | 'uv'
  | 'poetry'
  | 'pip'
  | 'npm'
  | 'pnpm'
  | 'yarn'
  | 'bun'
  | 'cargo'
  | 'go';

export interface Changes {
  readonly remove: readonly string[];
  readonly upgrade: readonly string[];
  readonly add: readonly string[];
  readonly add_dev: readonly string[];
}

export interface Installer {
  readonly name: InstallerName;
  /** The file it works on, where the repository has none. */
  readonly missing: string | null;
}

/** The package manager of the project. */
export function installerOf(ecosystem: Ecosystem, repository: PlanInput['repository']): Installer {
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

/** The command lines for a set of changes, in their order. */
export const INSTALLERS: Readonly<Record<InstallerName, Commands>> = {
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
  go: (changes) =>
    verbs({ remove: 'go get', add: 'go get', dev: 'go get' })(withoutVersions(changes)),
};

/** One command a list that is not empty. To upgrade is to add, unless there is a verb for it. */
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

/** `go get path@none` removes. */
function withoutVersions(changes: Changes): Changes {
  return { ...changes, remove: changes.remove.map((path) => `${path}@none`) };
}

/**
 * pip has no word for "add": its record is requirements.txt. The lines are rewritten, and then
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
