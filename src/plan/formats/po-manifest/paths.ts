/** Paths of a manifest, which are relative to its folder, as paths from the repository's root. */

import { normaliseGlob } from '../../../model/scope.ts';

/** Whether a path says by itself where it is, on any system. */
export function isAbsolute(path: string): boolean {
  return /^(?:[\\/]|[A-Za-z]:[\\/])/.test(path);
}

/** Whether a path is one below the repository's root. */
export function isInside(target: string): boolean {
  return target !== '' && !isAbsolute(target) && target !== '..' && !target.startsWith('../');
}

/** A path of a folder as a path from the repository's root; '' is the root. */
export function relativePath(directory: string, path: string): string {
  const joined = [directory, path].filter((part) => part !== '').join('/');
  const normal = normaliseGlob(joined);
  return normal === '**' && !joined.includes('*') ? '' : normal;
}

/** An absolute path below the root as one from the root; others stay as they are. */
export function fromRoot(root: string, path: string): string {
  const base = root.replace(/\/+$/, '');
  if (path.replace(/\/+$/, '') === base) return '';
  return path.startsWith(`${base}/`) ? path.slice(base.length + 1) : path;
}
