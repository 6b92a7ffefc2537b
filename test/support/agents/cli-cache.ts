/**
 * Real agent CLIs for tests: one pinned version each, fetched from npm once per machine.
 *
 *   C1. A cache folder holds a whole installation or none: it is filled aside and renamed, so that
 *       callers in several processes never see half of one.
 *   C2. No install script of a package is run.
 */

import { execFile } from 'node:child_process';
import { access, constants, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** A CLI as npm knows it. */
export interface PinnedCli {
  /** The name of its cache folder. */
  readonly name: string;
  readonly version: string;
  readonly packages: readonly string[];
  /** Its executable below an installation's `node_modules`; null where there is none. */
  find(modules: string): Promise<string | null>;
}

/** The path of the CLI's executable; installs it on the first call on this machine. */
export async function cachedCli(cli: PinnedCli): Promise<string> {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  const dir = join(cache, 'landfast-test', `${cli.name}-${cli.version}`);
  const find = () => cli.find(join(dir, 'node_modules'));
  const found = await find();
  if (found !== null) return found;

  await mkdir(dirname(dir), { recursive: true });
  const aside = await mkdtemp(`${dir}.`);
  try {
    await install(aside, cli.packages);
    await rename(aside, dir).catch(async (error: unknown) => {
      if ((await find()) === null) throw error; // Otherwise another process was faster.
    });
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
  const executable = await find();
  if (executable === null) throw new Error(`no ${cli.name} for this platform in ${dir}`);
  return executable;
}

/** The file where it can be executed, else null. */
export async function executable(file: string): Promise<string | null> {
  return access(file, constants.X_OK).then(
    () => file,
    () => null,
  );
}

async function install(prefix: string, packages: readonly string[]): Promise<void> {
  const flags = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
  await promisify(execFile)('npm', ['install', '--prefix', prefix, ...flags, ...packages]);
}
