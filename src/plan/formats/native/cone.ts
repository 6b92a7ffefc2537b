/** How a plan says which folders a workspace holds. */

import { placesOf } from '../../../model/cone.ts';
import { normaliseGlob } from '../../../model/scope.ts';
import { quote } from '../../problem.ts';
import { type Refusal, type Shape, value } from './value.ts';
import { pathRefusal } from './values.ts';

const FOLDER_SHAPE: Shape = { type: 'string', pattern: '\\S' };

const SPARSE_SHAPE: Shape = {
  anyOf: [
    { type: 'string', enum: ['off', 'auto'] },
    { type: 'array', items: FOLDER_SHAPE, minItems: 1 },
  ],
};

/** A folder, or a glob below one. */
export const coneFolder = value(FOLDER_SHAPE, (given, refuse) => {
  const wrong = folderRefusal(given);
  return wrong === null ? normaliseGlob(given as string) : refuse(wrong);
});

/** All folders, those of a task's scope, or a list of them. */
export const sparse = value(SPARSE_SHAPE, (given, refuse): 'off' | 'auto' | readonly string[] => {
  if (given === 'off' || given === 'auto') return given;
  if (!Array.isArray(given)) {
    const isFolder = typeof given === 'string' && folderRefusal(given) === null;
    const remedy = isFolder ? { remedy: `write it as a list: [${quote(given)}]` } : {};
    return refuse({ expected: 'off, auto or a list of folders', ...remedy });
  }
  if (given.length === 0) return refuse({ message: 'the list is empty', remedy: 'use off' });
  for (const [i, folder] of given.entries()) {
    const wrong = folderRefusal(folder);
    if (wrong !== null) refuse({ ...wrong, path: [i] });
  }
  return given.map((folder) => normaliseGlob(String(folder)));
});

function folderRefusal(given: unknown): Refusal | null {
  const wrong = pathRefusal(given);
  if (wrong !== null) return wrong;
  if (placesOf([given as string]) !== null) return null;
  return { expected: 'a folder', remedy: 'a glob has to begin with the name of one: tools/**' };
}
