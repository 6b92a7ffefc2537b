/** A plan's text with the files around it, all of them in memory. */

import { posix } from 'node:path';
import type { PlanInput } from '../../src/plan/formats/format.ts';

export interface PlanFiles {
  /** The plan's folder, relative to the repository's root. */
  readonly directory?: string;
  /** The repository's other files, by path from its root. */
  readonly files?: Readonly<Record<string, string>>;
  readonly config?: PlanInput['config'];
  readonly options?: PlanInput['options'];
}

/** What a format is given for this text. */
export function planInput(path: string, text: string, around: PlanFiles = {}): PlanInput {
  const { directory = '', files = {}, config = {}, options = {} } = around;
  return {
    file: { path, text },
    directory,
    ...readerOf(files, directory),
    repository: { root: '/home/ada/repo', ...readerOf(files, '') },
    home: '/home/ada',
    config,
    options,
  };
}

function readerOf(
  files: Readonly<Record<string, string>>,
  folder: string,
): Pick<PlanInput, 'read' | 'list'> {
  const full = (name: string): string => posix.join('.', folder, name).replace(/\/$/, '');
  return {
    read: (name) => files[full(name)] ?? null,
    list: (name) => {
      const prefix = full(name) === '.' ? '' : `${full(name)}/`;
      const below = Object.keys(files).filter((file) => file.startsWith(prefix));
      return [...new Set(below.map((file) => file.slice(prefix.length).split('/')[0]!))].sort();
    },
  };
}
