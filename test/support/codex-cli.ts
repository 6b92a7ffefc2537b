/**
 * The real Codex CLI for tests, and an environment that cannot reach an account: built from
 * nothing, so that no key, token or session of whoever runs the tests reaches the CLI.
 */

import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cachedCli, executable } from './cli-cache.ts';

/** The version the recorded transcripts and the end-to-end tests speak about. */
export const CODEX_VERSION = '0.166.0';

let installed: Promise<string> | undefined;

/** The path of the CLI's executable; installs it on the first call on this machine. */
export function codexCli(): Promise<string> {
  installed ??= cachedCli({
    name: 'codex',
    version: CODEX_VERSION,
    packages: [`@openai/codex@${CODEX_VERSION}`],
    find: findNative,
  });
  return installed;
}

/** The whole environment of a CLI that talks to `baseUrl` and keeps its sessions below `home`. */
export async function codexEnv(home: string, baseUrl: string): Promise<Record<string, string>> {
  const codexHome = join(home, '.codex');
  await mkdir(codexHome, { recursive: true });
  await writeFile(join(codexHome, 'config.toml'), config(baseUrl));
  return {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    TZ: 'UTC',
    HOME: home,
    CODEX_HOME: codexHome,
    OPENAI_API_KEY: 'sk-test-not-a-key',
  };
}

/** By itself the CLI's sandbox lets /tmp be written, where the folders of tests are. */
function config(baseUrl: string): string {
  return `model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false
[analytics]
enabled = false
[sandbox_workspace_write]
exclude_slash_tmp = true
[model_providers.scripted]
name = "scripted"
base_url = "${baseUrl}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
`;
}

/** The package's `bin` is a launcher that needs Node; the program itself is beside it. */
async function findNative(modules: string): Promise<string | null> {
  const scope = join(modules, '@openai');
  const packages = await readdir(scope).catch(() => []);
  for (const name of packages.filter((name) => name.startsWith('codex-'))) {
    const vendor = join(scope, name, 'vendor');
    for (const target of await readdir(vendor).catch(() => [])) {
      const file = await executable(join(vendor, target, 'bin', 'codex'));
      if (file !== null) return file;
    }
  }
  return null;
}
