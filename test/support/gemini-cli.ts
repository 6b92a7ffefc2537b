/**
 * The real Gemini CLI for tests, and an environment that cannot reach an account: built from
 * nothing, so that no key, token or session of whoever runs the tests reaches the CLI.
 */

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cachedCli, executable } from './cli-cache.ts';

/** The version the recorded transcripts and the end-to-end tests speak about. */
export const GEMINI_VERSION = '0.61.0';

let installed: Promise<string> | undefined;

/** The path of the CLI's executable; installs it on the first call on this machine. */
export function geminiCli(): Promise<string> {
  installed ??= cachedCli({
    name: 'gemini',
    version: GEMINI_VERSION,
    packages: [`@google/gemini-cli@${GEMINI_VERSION}`],
    find: (modules) => executable(join(modules, '.bin', 'gemini')),
  });
  return installed;
}

/**
 * The whole environment of a CLI that talks to `baseUrl` and keeps its sessions below `home`.
 *
 * With an address of its own the CLI no longer takes the key for a log-in: settings must say so.
 * The model is named, as the CLI would otherwise ask another one which to use.
 */
export async function geminiEnv(home: string, baseUrl: string): Promise<Record<string, string>> {
  await mkdir(join(home, '.gemini'), { recursive: true });
  await writeFile(join(home, '.gemini', 'settings.json'), JSON.stringify(SETTINGS));
  return {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    HOME: home,
    GOOGLE_GEMINI_BASE_URL: baseUrl,
    GEMINI_API_KEY: 'not-a-key',
    GEMINI_MODEL: 'gemini-2.5-pro',
  };
}

const SETTINGS = {
  security: { auth: { selectedType: 'gemini-api-key' } },
  privacy: { usageStatisticsEnabled: false },
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
};
