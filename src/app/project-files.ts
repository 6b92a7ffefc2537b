/** The files of a project, for what is found out about it. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { trySystem } from '../base/errors.ts';
import { filesIn } from '../git/untracked.ts';
import type { ProjectFiles } from '../plan/config/discover.ts';
import type { Place } from './place.ts';

/** Those that git knows. */
export async function projectFiles(place: Place, signal: AbortSignal): Promise<ProjectFiles> {
  const paths = place.repository === null ? [] : await filesIn(place.dir, signal);
  return { ...rootFiles(place.dir), paths };
}

/** Those of the root: they tell enough for an example. */
export function rootFiles(dir: string): ProjectFiles {
  const read = (path: string) => trySystem(() => readFileSync(join(dir, path), 'utf8'), null);
  return { paths: trySystem(() => readdirSync(dir), []), read };
}
