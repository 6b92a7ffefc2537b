/** Paths as manifests have them: absolute, below the home, or relative to the repository. */

import { normaliseGlob } from '../../../model/scope.ts';
import type { PlanInput } from '../format.ts';

/** What a path can be relative to. */
export interface Roots {
  readonly root: string;
  readonly home: string;
}

/** The two folders of an input. */
export function rootsOf({ repository, home }: PlanInput): Roots {
  return { root: repository.root, home };
}

/** Relative to the repository's root where it is below it; '' is the root; else absolute. */
export function placeOfPath(path: string, { root, home }: Roots): string {
  const full = expandHome(path.trim(), home);
  const given = full.startsWith('/') ? full : `${root}/${full}`;
  const normal = normaliseGlob(given);
  const base = normaliseGlob(root);
  if (normal === base) return '';
  return normal.startsWith(`${base}/`) ? normal.slice(base.length + 1) : normal;
}

/** Whether a path that `placeOfPath` gave is outside of the repository. */
export function isOutside(path: string): boolean {
  return path.startsWith('/');
}

function expandHome(path: string, home: string): string {
  return path === '~' || path.startsWith('~/') ? `${home}${path.slice(1)}` : path;
}
