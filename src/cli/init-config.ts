/**
 * `landfast init` without a folder: a first `landfast.yaml`, from what the repository and its files
 * tell. No model is asked, and no file that counts is replaced or hidden unless that is wanted.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { messageOf, OperationalError } from '../base/errors.ts';
import { filesIn } from '../git/untracked.ts';
import { discover, firstConfig } from '../plan/config/discover.ts';
import { findGitFacts, knownFiles } from './config-files.ts';
import { EXIT } from './main.ts';
import { findPlace, type Place } from './place.ts';

export interface InitConfigFlags {
  readonly projectDir: string;
  readonly force?: boolean;
}

/** Writes the file, or says which one is there already. */
export async function initConfig({ projectDir, force }: InitConfigFlags): Promise<number> {
  const signal = new AbortController().signal;
  const place = await findPlace(projectDir, signal);
  const known = knownFiles('project', place.dir).map(({ path }) => path);
  const there = known.find((path) => existsSync(path));
  if (there !== undefined && force !== true) {
    console.error(`landfast: ${relative(place.dir, there)} is there already and is what counts.`);
    console.error('  With --force a new landfast.yaml is written, and counts from then on.');
    return EXIT.failed;
  }
  const facts = await findGitFacts({}, place, signal);
  const text = firstConfig(facts, discover(await projectFiles(place, signal)));
  const path = join(place.dir, 'landfast.yaml');
  try {
    writeFileSync(path, text);
  } catch (error) {
    throw new OperationalError(`${path} cannot be written: ${messageOf(error)}`);
  }
  process.stdout.write(`made  ${relative(place.dir, path)}\n\n${text}`);
  return EXIT.ok;
}

async function projectFiles({ repository, dir }: Place, signal: AbortSignal) {
  const paths = repository === null ? [] : await filesIn(dir, signal);
  const read = (path: string): string | null => {
    try {
      return readFileSync(join(dir, path), 'utf8');
    } catch {
      return null;
    }
  };
  return { paths, read };
}
