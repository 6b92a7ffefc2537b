/**
 * The real Claude Code CLI for tests, and an environment that cannot reach an account: built from
 * nothing, so that no key, token or session of whoever runs the tests reaches the CLI.
 */

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { cachedCli, executable } from './cli-cache.ts';

/** The version the recorded transcripts and the end-to-end tests speak about. */
export const CLAUDE_VERSION = '2.1.325';

let installed: Promise<string> | undefined;

/** The path of the CLI's executable; installs it on the first call on this machine. */
export function claudeCli(): Promise<string> {
  installed ??= cachedCli({
    name: 'claude',
    version: CLAUDE_VERSION,
    packages: [`@anthropic-ai/claude-code@${CLAUDE_VERSION}`],
    find: findNative,
  });
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

/** The package's `bin` is a stub until its install script has run; the native one needs none. */
async function findNative(modules: string): Promise<string | null> {
  const scope = join(modules, '@anthropic-ai');
  const packages = await readdir(scope).catch(() => []);
  for (const name of packages.filter((name) => name.startsWith('claude-code-'))) {
    const file = await executable(join(scope, name, 'claude'));
    if (file !== null) return file;
  }
  return null;
}
