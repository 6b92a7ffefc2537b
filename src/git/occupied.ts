/**
 * occupied: what lies in a working tree where files are to be put. Names are bytes, as latin1.
 *
 *   O1. No link is followed: one that lies where a folder has to be is itself in the way.
 *   O2. Where a folder lies in place of a file, all that is in it is in the way. A repository in it
 *       is told of as one, by the name of its folder.
 */

import { type Dirent, lstatSync, readdirSync, type Stats } from 'node:fs';
import { bytePath } from './byte-path.ts';

/** Everything that lies where one of the files is to be, whether git knows it or not. */
export function occupiedBy(dir: string, files: readonly string[]): readonly string[] {
  const found = new Set<string>();
  const looked = new Map<string, Stats | undefined>();
  const look = (path: string): Stats | undefined => {
    if (!looked.has(path)) looked.set(path, statOf(dir, path));
    return looked.get(path);
  };
  for (const file of files) {
    const way = [...foldersAbove(file), file];
    const at = way.find((path) => look(path)?.isDirectory() !== true) ?? file;
    const stat = look(at);
    if (stat?.isDirectory() === true) for (const each of contentsOf(dir, at)) found.add(each);
    else if (stat !== undefined) found.add(at);
  }
  return [...found].sort();
}

/** What cannot be looked at git cannot write to either, and says so. */
function statOf(dir: string, path: string): Stats | undefined {
  try {
    return lstatSync(bytePath(dir, path), { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function* contentsOf(dir: string, outermost: string): Iterable<string> {
  const waiting = [outermost];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const entries = entriesIn(dir, folder);
    if (entries.some(({ name }) => name === '.git')) {
      yield folder;
      continue;
    }
    for (const entry of entries) {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) waiting.push(path);
      else yield path;
    }
  }
}

/** The outermost first. */
function foldersAbove(file: string): readonly string[] {
  const parts = file.split('/').slice(0, -1);
  return parts.map((_, nth) => parts.slice(0, nth + 1).join('/'));
}

function entriesIn(dir: string, folder: string): readonly Dirent[] {
  try {
    return readdirSync(bytePath(dir, folder), { withFileTypes: true, encoding: 'latin1' });
  } catch {
    return [];
  }
}
