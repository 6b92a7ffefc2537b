/**
 * The Seatbelt profile (macOS) for given bounds. Pure text. The last rule that matches decides:
 * writing is denied, then allowed in places, then denied again for what must stay. Rules are about
 * paths, so of the refs exactly the branch and its lock are writable.
 */

import type { Bounds } from './bounds.ts';

/** The profile that `sandbox-exec -p` takes. */
export function seatbeltProfile(bounds: Bounds, temp: string): string {
  const folders = [...bounds.writable, temp, '/dev'].map((path) => `(subpath ${quoted(path)})`);
  const { branch } = bounds;
  const files = branch === null ? [] : [branch.ref, `${branch.ref}.lock`, branch.log];
  const literals = files.map((path) => `(literal ${quoted(path)})`);
  const kept = bounds.kept.map((path) => `(subpath ${quoted(path)})`);
  return [
    '(version 1)',
    '(allow default)',
    '(deny file-write*)',
    rule('allow file-write*', [...folders, ...literals]),
    rule('deny file-write*', kept),
    // Sockets that are files are no network: tools speak to their own helpers through them.
    ...(bounds.network === 'on'
      ? []
      : ['(deny network*)', '(allow network* (remote unix-socket))']),
    '',
  ].join('\n');
}

function rule(verb: string, filters: readonly string[]): string {
  return [`(${verb}`, ...filters.map((filter) => `  ${filter}`)].join('\n').concat(')');
}

function quoted(path: string): string {
  return `"${path.replace(/[\\"]/g, '\\$&')}"`;
}
