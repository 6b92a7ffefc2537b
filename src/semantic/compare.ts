/**
 * Finds names that one piece of work removes or changes while another starts to use them: both
 * merge, but do not work together.
 *
 * Only new uses count, because work that removes a name has removed its old uses. A name declared
 * elsewhere in the same work has moved. In doubt nothing is reported: of a half-edited file, only
 * names gone from its text.
 */

import type { ClashingName } from '../model/radar.ts';
import type { Declaration, Module, Use } from './module.ts';

/** One changed file; null where it did not exist, is deleted or cannot be read. */
export interface FileChange {
  readonly file: string;
  readonly before: Module | null;
  readonly after: Module | null;
}

/** Larger changes are not compared. */
export const MOST_FILES = 200;

/** Names that `a` removes or changes and `b` starts to use, sorted by file and name. */
export function clashingNames(
  a: readonly FileChange[],
  b: readonly FileChange[],
): readonly ClashingName[] {
  if (a.length > MOST_FILES || b.length > MOST_FILES) return [];
  const users = b.flatMap(userOf);
  if (users.length === 0) return [];
  const added = new Set(a.flatMap(({ before, after }) => namesAdded(before, after)));
  const found: ClashingName[] = [];
  for (const change of a) {
    for (const declared of change.before?.declarations.values() ?? []) {
      const clash = clashOver(declared, change, { users, added });
      if (clash !== null) found.push(clash);
    }
  }
  const key = ({ file, name }: ClashingName): string => `${file}\0${name}`;
  return found.sort((one, other) => (key(one) < key(other) ? -1 : 1));
}

/** Words that a text must contain to clash with this work. */
export function wordsAtStake(work: readonly FileChange[]): ReadonlySet<string> {
  const used = work.flatMap(userOf).flatMap(({ begun }) => begun.map(({ name }) => name));
  const changed = work.flatMap((change) => {
    const declared = [...(change.before?.declarations.values() ?? [])];
    return declared.filter((each) => anyChangeOf(each, change) !== null).map(({ name }) => name);
  });
  return new Set([...used, ...changed].flatMap((name) => name.split('.')));
}

interface User {
  readonly file: string;
  readonly module: Module;
  readonly begun: readonly Use[];
}

function userOf({ file, before, after }: FileChange): readonly User[] {
  if (after === null) return [];
  const key = ({ name, from, isMember }: Use): string => `${from ?? ''}\0${name}\0${isMember}`;
  const known = new Map(before?.uses.map((use) => [key(use), use.count]));
  const begun = after.uses.filter((use) => use.count > (known.get(key(use)) ?? 0));
  return begun.length === 0 ? [] : [{ file, module: after, begun }];
}

function namesAdded(before: Module | null, after: Module | null): readonly string[] {
  return [...(after?.declarations.keys() ?? [])].filter(
    (name) => before?.declarations.has(name) !== true,
  );
}

function clashOver(
  declared: Declaration,
  change: FileChange,
  others: { readonly users: readonly User[]; readonly added: ReadonlySet<string> },
): ClashingName | null {
  const { file, before, after } = change;
  const { name } = declared;
  const kind = anyChangeOf(declared, change);
  if (kind === null || (kind === 'removed' && others.added.has(name))) return null;
  const isScript = before?.isScript === true;
  const usedBy = others.users
    .filter((user) => changeOf(declared, change, user.file === file) !== null)
    .filter((user) => uses(user, { name, file, isScript }))
    .map((user) => user.file)
    .sort();
  if (usedBy.length === 0) return null;
  const to = kind === 'removed' ? newNameOf(declared, before, after) : undefined;
  if (to !== undefined) return { name, file, change: 'renamed', to, usedBy };
  return { name, file, change: kind, usedBy };
}

function anyChangeOf(declared: Declaration, change: FileChange) {
  return changeOf(declared, change, false) ?? changeOf(declared, change, true);
}

/** How a declaration changed, as seen by its own file or by others. */
function changeOf(
  declared: Declaration,
  { before, after }: FileChange,
  isSameFile: boolean,
): 'removed' | 'signature' | null {
  const { name, arity, isExported } = declared;
  const isEverybodys = before?.isScript === true;
  if (!isSameFile && !isExported && !isEverybodys) return null;
  const now = after?.declarations.get(name);
  const isShared = now?.isExported === true || (isEverybodys && after?.isScript === true);
  if (now === undefined || !(isSameFile || isShared)) {
    return isStillThere(name, after) ? null : 'removed';
  }
  if (arity === null || now.arity === null || after?.brokenWords != null) return null;
  // Calls that were right before have too few arguments now, or too many.
  const isNarrower = now.arity.required > arity.required || now.arity.most < arity.most;
  return isNarrower ? 'signature' : null;
}

function isStillThere(name: string, after: Module | null): boolean {
  const [own = '', member] = name.split('.');
  if (after?.brokenWords?.has(member ?? own) === true) return true;
  // Where the class is gone, that says enough.
  if (member !== undefined) return after?.declarations.has(own) !== true;
  return after !== null && after.stars.length > 0;
}

function newNameOf(
  { name, likeness }: Declaration,
  before: Module | null,
  after: Module | null,
): string | undefined {
  if (likeness === '') return undefined;
  const alike = namesAdded(before, after).filter(
    (each) => each !== name && after?.declarations.get(each)?.likeness === likeness,
  );
  return alike.length === 1 ? alike[0] : undefined;
}

interface Target {
  readonly name: string;
  readonly file: string;
  readonly isScript: boolean;
}

function uses(user: User, target: Target): boolean {
  const [own = '', member] = target.name.split('.');
  if (member === undefined) return user.begun.some((use) => isUseOf(use, user, target));
  // Without types the owner of a method is unknown: the file must at least use the class.
  const knowsClass = user.module.uses.some((use) => isUseOf(use, user, { ...target, name: own }));
  return knowsClass && user.begun.some((use) => use.isMember && use.name === member);
}

function isUseOf({ name, from, isMember }: Use, user: User, target: Target): boolean {
  if (name !== target.name || isMember) return false;
  if (from !== null) return means(from, user.file, target.file);
  if (user.file === target.file) return true;
  if (user.module.declarations.has(name)) return false;
  return target.isScript || user.module.stars.some((star) => means(star, user.file, target.file));
}

const SUFFIX = /(?:\.d)?\.(?:[cm]?[jt]sx?|pyi?)$/;
const INDEX = /(?:^|\/)(?:index|__init__)$/;

/**
 * Whether `specifier` in `importer` refers to the file `declaring`. A relative path is followed; an
 * index of a folder means everything below it. Other paths (packages, aliases) must end in the name
 * of the file or of one of its folders, because path settings are not read.
 */
export function means(specifier: string, importer: string, declaring: string): boolean {
  const target = declaring.replace(SUFFIX, '');
  const folder = target.replace(INDEX, '');
  const wanted = specifier.replace(SUFFIX, '');
  if (!wanted.startsWith('.')) {
    const last = wanted.slice(wanted.lastIndexOf('/') + 1);
    return folder.split('/').includes(last);
  }
  const path = joined(importer, wanted);
  if (path === target || path === folder) return true;
  const passes = path.replace(INDEX, '');
  // Only a folder has something below it: `./lib` is then `./lib/index`.
  return passes === '' ? INDEX.test(path) : target.startsWith(`${passes}/`);
}

function joined(importer: string, relative: string): string {
  const parts = importer.split('/').slice(0, -1);
  for (const part of relative.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.' && part !== '') parts.push(part);
  }
  return parts.join('/');
}
