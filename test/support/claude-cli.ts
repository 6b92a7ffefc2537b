/**
 * The real Claude Code CLI for tests: one pinned version, fetched once, and an environment that
 * cannot reach an account.
 *
 *   C1. The cache folder holds a whole installation or none: it is filled aside and renamed, so
 *       that callers in several processes never see half of one.
 *   C2. The environment is built from nothing. No key, token or session of the person (or agent)
 *       who runs the tests reaches the CLI.
 */

import { execFile } from 'node:child_process';
import { access, constants, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** The version the recorded transcripts and the end-to-end tests speak about. */
export const CLAUDE_VERSION = '2.1.325';

let installed: Promise<string> | undefined;

/** The path of the CLI's executable; installs it on the first call on this machine. */
export function claudeCli(): Promise<string> {
  installed ??= findOrInstall();
  return installed;
}

/** The whole environment of a CLI that talks to `baseUrl` and keeps its sessions below `home`. */
export function claudeEnv(home: string, baseUrl: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    HOME: home,
    CLAUDE_CONFIG_DIR: join(home, '.claude'),
    ANTHROPIC_BASE_URL: baseUrl,
    ANTHROPIC_API_KEY: 'sk-test-not-a-key',
    IS_SANDBOX: '1', // Lets root skip permissions, as in a container.
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_AUTOUPDATER: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  };
}

async function findOrInstall(): Promise<string> {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  const dir = join(cache, 'landfast-test', `claude-${CLAUDE_VERSION}`);
  const found = await executableIn(dir);
  if (found !== null) return found;

  await mkdir(dirname(dir), { recursive: true });
  const aside = await mkdtemp(`${dir}.`);
  try {
    await install(aside);
    await moveInto(aside, dir);
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
  const executable = await executableIn(dir);
  if (executable === null) throw new Error(`no Claude Code for this platform in ${dir}`);
  return executable;
}

/** The package's `bin` is a stub until its install script has run; the native one needs none. */
async function executableIn(dir: string): Promise<string | null> {
  const scope = join(dir, 'node_modules', '@anthropic-ai');
  const packages = await readdir(scope).catch(() => []);
  for (const name of packages.filter((name) => name.startsWith('claude-code-'))) {
    const file = join(scope, name, 'claude');
    const runs = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (runs) return file;
  }
  return null;
}

async function install(prefix: string): Promise<void> {
  const spec = `@anthropic-ai/claude-code@${CLAUDE_VERSION}`;
  const flags = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
  await promisify(execFile)('npm', ['install', '--prefix', prefix, ...flags, spec]);
}

async function moveInto(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if ((await executableIn(to)) === null) throw error; // Otherwise somebody else was faster.
  }
}
