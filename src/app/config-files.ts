/**
 * The files a configuration is made of, and where they are. A Landfast file hides those of other
 * tools in the same place. A file that cannot be used ends the command: nothing runs on half of
 * what is configured.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { trySystem, UserError } from '../base/errors.ts';
import { remoteAddress, remoteBranches } from '../git/remote.ts';
import { headBranch } from '../git/repository.ts';
import { filesIn } from '../git/untracked.ts';
import {
  type GitFacts,
  gitFacts,
  type ProjectFiles,
  withGitFacts,
} from '../plan/config/discover.ts';
import {
  type ConfigFile,
  type ConfigLayer,
  type Configuration,
  mergeConfig,
  readConfig,
} from '../plan/config/read.ts';
import type { Config } from '../plan/config/schema.ts';
import { CONFIG_DIALECTS } from '../plan/formats/index.ts';
import { formatProblem, type Problem } from '../plan/problem.ts';
import type { Host, Place } from './place.ts';
import { ProblemsError } from './problems.ts';

type Scope = ConfigFile['scope'];
type KnownFile = Omit<ConfigFile, 'text'>;

/** What is configured, with the hosting and branches that git knows unless `asksGit` is false. */
export async function findConfig(
  place: Place,
  signal: AbortSignal,
  { asksGit }: { readonly asksGit: boolean } = { asksGit: true },
): Promise<Config> {
  const { config } = loadConfiguration(place);
  if (!asksGit) return config;
  return withGitFacts(config, await findGitFacts(config, place, signal));
}

/** What is configured for a repository. Throws the problems of files that cannot be used. */
export function loadConfiguration(
  { dir, host }: Pick<Place, 'dir' | 'host'>,
  scopes: readonly Scope[] = ['global', 'project'],
): Configuration {
  const layers: ConfigLayer[] = [];
  const found: Problem[] = [];
  let isBroken = false;
  for (const file of scopes.flatMap((scope) => filesOf(scope, dir, host))) {
    const { layer, problems } = readConfig(file);
    found.push(...problems);
    if (layer === null) isBroken = true;
    else layers.push(layer);
  }
  if (isBroken) throw new ProblemsError(found);
  for (const problem of found) host.problem(formatProblem(problem));
  return mergeConfig(layers, host.home);
}

/** The files of one place that are read, the weakest first. */
export function filesOf(scope: Scope, root: string, host: Host): readonly ConfigFile[] {
  const [ours, ...others] = knownFiles(scope, root, host);
  const own = ours === undefined ? null : read(ours);
  return own === null ? others.flatMap((file) => read(file) ?? []) : [own];
}

/** Ours first, then those that are read where ours is not there. */
export function knownFiles(
  scope: Scope,
  root: string,
  { env, home: userHome }: Host,
): readonly KnownFile[] {
  const home = join(userHome, '.config');
  const own = env.XDG_CONFIG_HOME || home;
  return CONFIG_DIALECTS.map((dialect) => {
    const folder = scope === 'project' ? root : dialect.isForeign ? home : own;
    const name = scope === 'project' ? dialect.projectFile : dialect.userFile;
    return { path: join(folder, name), dialect, scope };
  });
}

/** What is configured about the repository's hosting and branches, and what git knows of them. */
export async function findGitFacts(
  config: Config,
  { repository }: Pick<Place, 'repository'>,
  signal: AbortSignal,
): Promise<GitFacts> {
  const configured = config.git ?? {};
  if (repository === null) {
    const branches = { current: null, remote: [], remoteHead: null };
    return gitFacts(configured, { address: null, branches });
  }
  const { dir, commonDir } = repository;
  const [address, known, head] = await Promise.all([
    remoteAddress(commonDir, 'origin', signal),
    remoteBranches(commonDir, 'origin', signal),
    headBranch(dir, signal),
  ]);
  const current = head.kind === 'detached' ? null : head.name;
  const branches = { current, remote: known.names, remoteHead: known.head };
  return gitFacts(configured, { address, branches });
}

function read(file: KnownFile): ConfigFile | null {
  try {
    return { ...file, text: readFileSync(file.path, 'utf8') };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw new UserError(`The configuration ${file.path} cannot be read (${code}).`);
  }
}

/** The files of a project that git knows. */
export async function projectFiles(place: Place, signal: AbortSignal): Promise<ProjectFiles> {
  const paths = place.repository === null ? [] : await filesIn(place.dir, signal);
  return { ...rootFiles(place.dir), paths };
}

/** The files of its root: they tell enough for an example. */
export function rootFiles(dir: string): ProjectFiles {
  const read = (path: string) => trySystem(() => readFileSync(join(dir, path), 'utf8'), null);
  return { paths: trySystem(() => readdirSync(dir), []), read };
}
