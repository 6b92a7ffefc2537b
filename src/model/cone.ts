/**
 * Cones: the folders that hold whatever a list of globs can cover, for a checkout of only those.
 *
 * - Every path that a glob covers lies in one of the folders, or directly in the root, which is
 *   always checked out. Where no folder short of the root is sure to hold it all: null.
 * - An entry without wildcards may be a file or a folder: only the commit tells.
 */

import { isLiteral, listBraces, normaliseGlob } from './scope.ts';

/** Where to look for what globs cover. */
export interface Places {
  /** Folders, with all that is in them. */
  readonly folders: readonly string[];
  /** Paths that are a file, a folder, or not there yet. */
  readonly paths: readonly string[];
}

/** The places of everything that the globs cover; null where that may be anywhere. */
export function placesOf(globs: readonly string[]): Places | null {
  const folders = new Set<string>();
  const paths = new Set<string>();
  for (const glob of globs.flatMap((one) => listBraces(normaliseGlob(one)))) {
    if (glob.startsWith('/') || glob.startsWith('..')) return null;
    const segments = glob.split('/');
    const wild = segments.findIndex((segment) => !isLiteral(segment));
    const sure = segments.slice(0, wild === -1 ? segments.length : wild).join('/');
    if (wild === -1) paths.add(sure);
    else if (sure !== '') folders.add(sure);
    else if (!isInRoot(segments)) return null;
  }
  return { folders: [...folders], paths: [...paths] };
}

/** The folders that lie in no other, sorted. */
export function outermost(folders: readonly string[]): readonly string[] {
  const all = new Set(folders);
  return [...all].filter((folder) => !parentsOf(folder).some((above) => all.has(above))).sort();
}

/** The folders above a path, the nearest first; not the root. */
export function parentsOf(path: string): readonly string[] {
  const parents: string[] = [];
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    parents.push(path.slice(0, end));
  }
  return parents;
}

/** Whether a file is checked out where only these folders are. */
export function inCone(file: string, folders: ReadonlySet<string>): boolean {
  const parents = parentsOf(file);
  if (parents.length === 0 || parents.some((parent) => folders.has(parent))) return true;
  // Files directly in a folder on the way to a checked out one are checked out with it.
  const [nearest = ''] = parents;
  return [...folders].some((folder) => folder.startsWith(`${nearest}/`));
}

/** `*.md` covers files of the root and nothing below. */
function isInRoot([only = '', ...more]: readonly string[]): boolean {
  return more.length === 0 && !only.includes('**') && !/[{}[\]()|\\"]/.test(only);
}
