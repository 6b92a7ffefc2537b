/**
 * Where a repository is hosted and which branch work starts from, as its remote shows it. Used where
 * nothing is configured, and never written to a file.
 */

import type { Config } from './schema.ts';

export interface Hosting {
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

/**
 * Reads the address of a remote: `https://host/owner/repo.git`, `ssh://git@host:22/owner/repo` or
 * `git@host:owner/repo`. A path on this machine has no owner.
 */
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
export interface Branches {
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
  const hosting =
    found.address === null ? { provider: 'unknown' as const } : hostingOf(found.address);
  const { provider = 'auto', base_branch, destination_branch } = configured;
  const base = base_branch ?? baseOf(found.branches);
  const owner = configured.owner ?? hosting.owner;
  const repo = configured.repo ?? hosting.repo;
  const slug = configured.repo_slug ?? repo;
  return {
    provider: provider === 'auto' ? hosting.provider : provider,
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
