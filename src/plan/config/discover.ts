/**
 * What the files of a project say about it, without asking a model: how it is tested, which files
 * matter, and a first configuration made of that.
 */

import { stringify } from 'yaml';
import { type GitFacts, withGitFacts } from './origin.ts';
import type { Config } from './schema.ts';

/** A project's files, as far as they are looked at. */
export interface ProjectFiles {
  /** Paths from the root, sorted. */
  readonly paths: readonly string[];
  read(path: string): string | null;
}

const INSTRUCTIONS = '.claude/AGENT_INSTRUCTIONS.md';
const KEY_FILES = [
  /^src\/.*\.py$/,
  /^src\/.*\.ts$/,
  /^src\/.*\.js$/,
  /^lib\/.*\.py$/,
  /^[^/]*\.py$/,
];
const MOST_KEY_FILES = 10;

/** The section `project`, as far as the files tell. */
export function discover(files: ProjectFiles): NonNullable<Config['project']> {
  const keyFiles = KEY_FILES.flatMap((kind) => files.paths.filter((path) => kind.test(path)));
  const test = testCommand(files);
  return {
    ...(keyFiles.length === 0 ? {} : { key_files: keyFiles.slice(0, MOST_KEY_FILES) }),
    ...(test === null ? {} : { test_command: test }),
    ...(files.paths.includes(INSTRUCTIONS) ? { agent_instructions: INSTRUCTIONS } : {}),
  };
}

function testCommand({ paths, read }: ProjectFiles): string | null {
  const python = paths.includes('pyproject.toml') ? (read('pyproject.toml') ?? '') : '';
  if (python.includes('pytest')) return 'pytest tests/';
  if (python.includes('poetry')) return 'poetry run pytest tests/';
  if (paths.includes('package.json')) return 'npm test';
  if (paths.includes('Cargo.toml')) return 'cargo test';
  return paths.includes('go.mod') ? 'go test ./...' : null;
}

const HEAD = '# What landfast is told for this project. All keys: landfast config --list\n';
const KEY_FILES_NOTE = '  # for plans made by a model, which come later: no effect yet\n';

/** The text of a first configuration file. */
export function firstConfig(facts: GitFacts, project: NonNullable<Config['project']>): string {
  const config: Config = {
    ...withGitFacts({}, facts),
    worktree_dir: '../worktrees',
    ...(Object.keys(project).length === 0 ? {} : { project }),
  };
  const said = stringify(config).replace(/^ {2}key_files:/m, `${KEY_FILES_NOTE}$&`);
  return `${HEAD}${said}`;
}
