/** The package as npm would publish it, installed into an empty folder, without a network. */

import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bareEnv } from './landfast.ts';

const exec = promisify(execFile);
const ROOT = join(import.meta.dirname, '..', '..');

export interface Installed {
  /** The folder with the package in its node_modules. */
  readonly app: string;
  /** An environment whose home and caches are folders of their own beside it. */
  readonly env: Readonly<Record<string, string>>;
}

/** Packs and installs the package below a folder; `root` is the project, or a copy of it. */
export async function installPacked(place: string, root = ROOT): Promise<Installed> {
  const home = join(place, 'home');
  const cache = join(place, 'cache');
  const app = join(place, 'app');
  const env = { ...bareEnv(home), XDG_CACHE_HOME: cache, npm_config_cache: cache };
  for (const folder of [home, app]) mkdirSync(folder);
  const pack = ['pack', '--silent', '--ignore-scripts', '--pack-destination', place];
  const packed = await exec('npm', pack, { cwd: root, env });
  writeFileSync(join(app, 'package.json'), '{"private": true, "type": "module"}\n');
  const tarball = join(place, packed.stdout.trim().split('\n').at(-1) ?? '');
  const install = ['install', '--silent', '--offline', '--no-audit', '--no-fund', tarball];
  await exec('npm', install, { cwd: app, env });
  return { app, env };
}
