/**
 * The real OpenCode CLI for tests, and an environment that cannot reach an account: built from
 * nothing, so that no key, token or session of whoever runs the tests reaches the CLI.
 *
 * Its first start would fetch packages for plugins into its configuration folder, and a list of
 * models. Neither is needed: the folder looks as if the packages were there, the only model is
 * scripted, and should it ask for a package after all, the registry is a closed port.
 */

import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cachedCli, executable } from './cli-cache.ts';

/** The version the recorded transcripts and the end-to-end tests speak about. */
export const OPENCODE_VERSION = '1.18.33';

let installed: Promise<string> | undefined;

/** The path of the CLI's executable; installs it on the first call on this machine. */
export function opencodeCli(): Promise<string> {
  installed ??= cachedCli({
    name: 'opencode',
    version: OPENCODE_VERSION,
    packages: [`opencode-ai@${OPENCODE_VERSION}`],
    find: findNative,
  });
  return installed;
}

/** The whole environment of a CLI that talks to `baseUrl` and keeps its sessions below `home`. */
export async function opencodeEnv(
  home: string,
  baseUrl: string,
  more: object = {},
): Promise<Record<string, string>> {
  const dir = join(home, '.config', 'opencode');
  await mkdir(join(dir, 'node_modules'), { recursive: true });
  await writeFile(join(dir, 'package-lock.json'), JSON.stringify(LOCK));
  await writeFile(join(dir, 'opencode.json'), JSON.stringify({ ...config(baseUrl), ...more }));
  await writeFile(join(home, '.npmrc'), 'registry=http://127.0.0.1:9/\nfetch-retries=0\n');
  return {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    HOME: home,
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  };
}

const LOCK = { packages: { '': { dependencies: { '@opencode-ai/plugin': OPENCODE_VERSION } } } };

/** A provider of one model, which costs 3 and 15 dollars for a million tokens in and out. */
function config(baseUrl: string): object {
  const model = {
    name: 'Scripted',
    cost: { input: 3, output: 15 },
    limit: { context: 200_000, output: 8_000 },
  };
  const options = { baseURL: `${baseUrl}/v1`, apiKey: 'sk-test-not-a-key' };
  return {
    model: 'scripted/model',
    provider: {
      scripted: { npm: '@ai-sdk/anthropic', name: 'Scripted', options, models: { model } },
    },
  };
}

/** The package's `bin` is a stub until its install script has run; the native one needs none. */
async function findNative(modules: string): Promise<string | null> {
  const packages = await readdir(modules).catch(() => []);
  const native = packages.filter((name) => name.startsWith('opencode-') && name !== 'opencode-ai');
  // The `baseline` build comes first: it runs on older processors, too. `musl` is for Alpine.
  for (const name of native
    .filter((name) => !name.includes('musl'))
    .sort()
    .reverse()) {
    const file = await executable(join(modules, name, 'bin', 'opencode'));
    if (file !== null) return file;
  }
  return null;
}
