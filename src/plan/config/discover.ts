/**
 * What a project shows by itself: how it is tested, which files matter, where it is hosted; and a first
 * configuration and plan made of that.
 */

import { stringify } from 'yaml';
import type { Config } from './schema.ts';

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

/** The section `project`, as far as the files show it. */
export function discover(files: ProjectFiles): NonNullable<Config['project']> {
  const keyFiles = KEY_FILES.flatMap((kind) => files.paths.filter((path) => kind.test(path)));
  const test = projectGate(files)?.run ?? usualCommand(files);
  return {
    ...(keyFiles.length === 0 ? {} : { key_files: keyFiles.slice(0, MOST_KEY_FILES) }),
    ...(test === null ? {} : { test_command: test }),
    ...(files.paths.includes(INSTRUCTIONS) ? { agent_instructions: INSTRUCTIONS } : {}),
  };
}

/** The usual command of such a project; it need not pass. */
function usualCommand({ paths, read }: ProjectFiles): string | null {
  const python = paths.includes('pyproject.toml') ? (read('pyproject.toml') ?? '') : '';
  if (python.includes('pytest')) return 'pytest tests/';
  if (python.includes('poetry')) return 'poetry run pytest tests/';
  if (paths.includes('package.json')) return 'npm test';
  if (paths.includes('Cargo.toml')) return 'cargo test';
  return paths.includes('go.mod') ? 'go test ./...' : null;
}

const HEAD = '# Landfast settings for this project. All keys: landfast config\n';
const KEY_FILES_NOTE = '  # for plans made by a model, which come later: no effect yet\n';

export function firstConfig(facts: GitFacts, files: ProjectFiles): string {
  const project = discover(files);
  const config: Config = {
    ...withGitFacts({}, facts),
    worktree_dir: '../worktrees',
    ...(Object.keys(project).length === 0 ? {} : { project }),
  };
  const said = stringify(config).replace(/^ {2}key_files:/m, `${KEY_FILES_NOTE}$&`);
  return `${HEAD}${gateText(projectGate(files))}${said}`;
}

const GATE_NOTE = `# Must pass on every combination of finished work before it lands.
`;
const SETUP_NOTE = `# Runs in each new workspace, which begins with what git holds; again when a key file has changed.
`;
const NO_GATE = `# No tests were found: without a gate work lands untested. To add one:
# gates:
#   - name: tests
#     run: make test
`;

function gateText(found: ProjectGate | null): string {
  if (found === null) return NO_GATE;
  const { run, setup, setupKey } = found;
  const gates = `${GATE_NOTE}${stringify({ gates: [{ name: 'tests', run }] })}`;
  if (setup.length === 0) return gates;
  return `${gates}${SETUP_NOTE}${stringify({ workspace: { setup, setup_key: setupKey } })}`;
}

/** A first plan: one task that is useful in any project, and a second as a comment. */
export function firstPlan(files: ProjectFiles): string {
  const check = projectGate(files)?.run ?? 'make test';
  return `# A first plan. Its tasks run in parallel, each by an agent in a git worktree of its own.
#   landfast plan plan.yaml   checks it and shows what would run
#   landfast run plan.yaml    runs it; what passes the gates of landfast.yaml lands on your branch
landfast: 1
name: first
tasks:
  - id: development
    # What the agent is asked to do, in your own words.
    prompt: |
      Add a section "Development" to README.md: how to install, test and run this project.
      Find out from its files, and try every command you name.
    # The only paths it may change. Tasks whose paths overlap take turns.
    writes: [README.md]

  # A second task. It starts when the first has landed, and sees its work:
  # - id: contributing
  #   needs: [development]
  #   prompt: Write CONTRIBUTING.md for this project; refer to README.md where it says the same.
  #   writes: [CONTRIBUTING.md]
  #   # Must pass in the workspace of the task before its work is committed.
  #   checks: [${JSON.stringify(check)}]
`;
}

export interface ProjectGate {
  readonly run: string;
  /** Commands for a new workspace, and the files that say when to run them again. */
  readonly setup: readonly string[];
  readonly setupKey: readonly string[];
}

/** Only what is certain counts: a guessed gate might never be green. */
export function projectGate(files: ProjectFiles): ProjectGate | null {
  return pythonGate(files) ?? nodeGate(files) ?? otherGate(files);
}

function gate(run: string, setup?: string, ...setupKey: readonly string[]): ProjectGate {
  return { run, setup: setup === undefined ? [] : [setup], setupKey };
}

function textOf({ paths, read }: ProjectFiles, path: string): string {
  return paths.includes(path) ? (read(path) ?? '') : '';
}

function pythonGate(files: ProjectFiles): ProjectGate | null {
  const { paths } = files;
  const about = ['pyproject.toml', 'setup.cfg', 'tox.ini', 'requirements-dev.txt'];
  const isPytest =
    paths.includes('pytest.ini') || about.some((path) => textOf(files, path).includes('pytest'));
  const tests = paths.filter((path) => /(?:^|\/)(?:test_[^/]*|[^/]*_test)\.py$/.test(path));
  if (!isPytest || tests.length === 0) return null;
  const run = tests.every((path) => path.startsWith('tests/')) ? 'pytest tests/' : 'pytest';
  if (paths.includes('uv.lock')) return gate(`uv run ${run}`, 'uv sync', 'uv.lock');
  if (paths.includes('poetry.lock')) {
    return gate(`poetry run ${run}`, 'poetry install', 'poetry.lock');
  }
  return gate(run);
}

/** By lock file: the manager, and how it installs exactly what is locked. */
const MANAGERS = [
  ['pnpm-lock.yaml', 'pnpm test', 'pnpm install --frozen-lockfile'],
  ['bun.lock', 'bun run test', 'bun install --frozen-lockfile'],
  ['bun.lockb', 'bun run test', 'bun install --frozen-lockfile'],
  ['package-lock.json', 'npm test', 'npm ci'],
  ['npm-shrinkwrap.json', 'npm test', 'npm ci'],
] as const;

function nodeGate(files: ProjectFiles): ProjectGate | null {
  const { scripts, dependencies, devDependencies } = packageOf(files);
  const script = scripts?.test;
  // The script that `npm init` writes always fails.
  if (typeof script !== 'string' || script.includes('no test specified')) return null;
  const { paths } = files;
  if (paths.includes('yarn.lock')) {
    const exactly = paths.includes('.yarnrc.yml') ? '--immutable' : '--frozen-lockfile';
    return gate('yarn test', `yarn install ${exactly}`, 'yarn.lock');
  }
  const [lock, run = 'npm test', install = 'npm install'] =
    MANAGERS.find(([name]) => paths.includes(name)) ?? [];
  const needed = Object.keys({ ...dependencies, ...devDependencies }).length;
  return needed === 0 ? gate(run) : gate(run, install, lock ?? 'package.json');
}

interface Package {
  readonly scripts?: Readonly<Record<string, unknown>>;
  readonly dependencies?: object;
  readonly devDependencies?: object;
}

function packageOf(files: ProjectFiles): Package {
  try {
    const found: unknown = JSON.parse(textOf(files, 'package.json') || '{}');
    return typeof found === 'object' && found !== null ? found : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

const OTHERS: readonly (readonly [string, ProjectGate])[] = [
  ['Cargo.toml', gate('cargo test')],
  ['go.mod', gate('go test ./...')],
  ['deno.json', gate('deno test')],
  ['mix.exs', gate('mix test', 'mix deps.get', 'mix.lock')],
  ['gradlew', gate('./gradlew test')],
  ['mvnw', gate('./mvnw -q test')],
  ['pom.xml', gate('mvn -q test')],
  ['Package.swift', gate('swift test')],
];

function otherGate(files: ProjectFiles): ProjectGate | null {
  const found = OTHERS.find(([path]) => files.paths.includes(path));
  if (found !== undefined) return found[1];
  const { paths } = files;
  if (paths.includes('Gemfile') && paths.some((path) => /^spec\/.*_spec\.rb$/.test(path))) {
    return gate('bundle exec rspec', 'bundle install', 'Gemfile.lock');
  }
  return /^test\s*:/m.test(textOf(files, 'Makefile')) ? gate('make test') : null;
}

interface Hosting {
  readonly provider: 'github' | 'bitbucket' | 'unknown';
  readonly owner?: string;
  readonly repo?: string;
}

const PROVIDERS: Readonly<Record<string, Hosting['provider']>> = {
  'github.com': 'github',
  'ssh.github.com': 'github',
  'bitbucket.org': 'bitbucket',
  'altssh.bitbucket.org': 'bitbucket',
  'bitbucket.com': 'bitbucket',
};

/** Reads the address of a remote (`https://…`, `ssh://…`, `git@host:…`); a local path has no owner. */
export function hostingOf(address: string): Hosting {
  const found =
    /^[a-z][a-z\d+.-]*:\/\/(?:[^/@]*@)?([^/:]+)(?::\d+)?\/(.*)$/i.exec(address) ??
    /^(?:[^/@:]+@)([^/:]+):(.*)$/.exec(address);
  const [, host = '', path = ''] = found ?? [];
  const steps = path
    .replace(/[/]+$/, '')
    .replace(/\.git$/, '')
    .split('/')
    .filter((step) => step !== '');
  const provider = PROVIDERS[host.toLowerCase()] ?? 'unknown';
  if (host === '' || /^file:/i.test(address) || steps.length < 2) return { provider };
  return { provider, owner: steps.slice(0, -1).join('/'), repo: steps.at(-1)! };
}

/** What git knows of branches without contacting the remote. */
interface Branches {
  /** Null when HEAD is detached. */
  readonly current: string | null;
  /** Branches of `origin`, as last fetched. */
  readonly remote: readonly string[];
  /** The default branch of `origin`; null if unknown. */
  readonly remoteHead: string | null;
}

const MAIN_BRANCHES = ['main', 'master', 'develop', 'dev', 'development'];
const FALLBACKS = ['main', 'master', 'develop'];

/** The branch that work starts from by default. */
export function baseOf({ current, remote, remoteHead }: Branches): string {
  if (current !== null && MAIN_BRANCHES.includes(current)) return current;
  if (remote.includes('develop')) return 'develop';
  if (remoteHead !== null && remote.includes(remoteHead)) return remoteHead;
  return FALLBACKS.find((name) => remote.includes(name)) ?? 'main';
}

export interface GitFacts extends Hosting {
  readonly base: string;
  readonly destination: string;
  /** Bitbucket's name of the repository; elsewhere the repository's own. */
  readonly slug?: string;
}

/** What is configured wins over what was found. */
export function gitFacts(
  configured: NonNullable<Config['git']>,
  found: { readonly address: string | null; readonly branches: Branches },
): GitFacts {
  const { provider, ...hosting } = hostingOf(found.address ?? '');
  const { provider: named = 'auto', base_branch, destination_branch } = configured;
  const base = base_branch ?? baseOf(found.branches);
  const { owner = hosting.owner, repo = hosting.repo } = configured;
  const { repo_slug: slug = repo } = configured;
  return {
    provider: named === 'auto' ? provider : named,
    ...(owner === undefined ? {} : { owner }),
    ...(repo === undefined ? {} : { repo }),
    ...(slug === undefined ? {} : { slug }),
    base,
    destination: destination_branch ?? base,
  };
}

/** The configuration with its `git` section filled in; an unknown provider stays `auto`. */
export function withGitFacts(config: Config, facts: GitFacts): Config {
  const { provider, owner, repo, slug, base, destination } = facts;
  return {
    ...config,
    git: {
      provider: provider === 'unknown' ? 'auto' : provider,
      base_branch: base,
      destination_branch: destination,
      ...(slug === undefined ? {} : { repo_slug: slug }),
      ...(owner === undefined ? {} : { owner }),
      ...(repo === undefined ? {} : { repo }),
    },
  };
}
