/**
 * Whether an import means a file. A relative path is followed; through an index of a folder it
 * means all that is below. For other paths (packages, aliases) the end has to be the file's name or
 * one of its folders: the setting that would tell it exactly is not read.
 */

const SUFFIX = /(?:\.d)?\.(?:[cm]?[jt]sx?|pyi?)$/;
const INDEX = /(?:^|\/)(?:index|__init__)$/;

/** Whether `specifier`, in the file `importer`, means the file `declaring`. */
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
