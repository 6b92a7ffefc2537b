/**
 * Loads the program, and keeps what V8 has compiled of it for the next time.
 *
 * Node has a cache of its own for that (`module.enableCompileCache`), but it keeps a file as it is
 * right after it was read, when hardly a function of it is compiled. What is kept here are the
 * functions that a command needed (docs/adr/0017-one-file-kept-compiled.md).
 *
 *   K1. It is a shortcut and nothing else: without it, or where V8 refuses it, the same text runs.
 *   K2. A file is of one build and one Node, and appears whole or not at all.
 *   K3. It is code: what another user wrote, or what is damaged, is not read.
 *   K4. The newest few stay. Of a build there are two: of a command that has executed a run, which
 *       is enough for all, and of another one until then.
 */

import {
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';
import { rethrowBug } from '../../base/errors.ts';
import { makeFolders } from '../../base/make-folders.ts';

/** How much of the program a command needs: all that a run does, or something less. */
export type Extent = 'run' | 'part';

export interface Compiled {
  /** Whether this is more than what was found. */
  isMore(extent: Extent): boolean;
  /**
   * Keeps what is compiled by now. V8 refuses what was compiled with other settings than it has
   * when it reads that: they must be those that the process began with.
   */
  keep(extent: Extent): void;
}

/** A program's file: a script whose value is a function, as the build wraps it. */
export interface ProgramFile {
  readonly path: string;
  /** Another one for another text. */
  readonly build: string;
  /** Where to keep what is compiled; null for nowhere. */
  readonly cache: string | null;
}

const MOST = 6; // For two Nodes and a build before; each takes about two megabytes.

type Wrapped = (exports: object, require: NodeJS.Require, module: object) => void;

export function load<T>(
  file: ProgramFile,
  require: NodeJS.Require,
): { readonly program: T; readonly compiled: Compiled } {
  // The build writes ASCII only, which Node reads far faster as latin1.
  const text = readFileSync(file.path).toString('latin1');
  const found = file.cache === null ? null : find(file.cache, file.build);
  const script = new Script(text, {
    filename: file.path,
    ...(found === null ? {} : { cachedData: found.bytes }),
  });
  const known = found === null || script.cachedDataRejected === true ? null : found.extent;
  const module = { exports: {} };
  (script.runInThisContext() as Wrapped)(module.exports, require, module);
  const isMore = (extent: Extent): boolean =>
    file.cache !== null && known !== 'run' && known !== extent;
  const keep = (extent: Extent): void => {
    if (file.cache === null) return;
    keepFile(file.cache, nameOf(extent, file.build), script.createCachedData());
  };
  return { program: module.exports as T, compiled: { isMore, keep } };
}

/** Where the user keeps such things; null where they do not want it. */
export function cacheFolder(env: Readonly<Record<string, string | undefined>>): string | null {
  const { HOME, XDG_CACHE_HOME, NODE_DISABLE_COMPILE_CACHE } = env;
  if (NODE_DISABLE_COMPILE_CACHE) return null;
  const caches = XDG_CACHE_HOME || (HOME && join(HOME, '.cache'));
  return caches && isAbsolute(caches) ? join(caches, 'landfast', 'compiled') : null;
}

function find(cache: string, build: string): { extent: Extent; bytes: Buffer } | null {
  for (const extent of ['run', 'part'] as const) {
    try {
      const bytes = unsealed(readOwn(join(cache, nameOf(extent, build))));
      if (bytes !== null) return { extent, bytes };
    } catch (error) {
      rethrowBug(error); // Not there, or not for us: it is compiled again.
    }
  }
  return null;
}

/** Empty for a file that another user owns. */
function readOwn(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const isOurs = fstatSync(file).uid === (process.getuid?.() ?? 0);
    return isOurs ? readFileSync(file) : Buffer.alloc(0);
  } finally {
    closeSync(file);
  }
}

/**
 * V8 looks at its own version and settings, but not at more of the text than its length. With other
 * options for Node it refuses what was kept, so that they are in the name too.
 */
function nameOf(extent: Extent, build: string): string {
  const options = [process.env.NODE_OPTIONS ?? '', ...process.execArgv].join(' ').trim();
  const node = `${process.version}-${process.arch}`;
  return `${extent}-${node}-${build}${options === '' ? '' : `-${crc32(options)}`}`;
}

/** V8 trusts what it reads, and dies of what is damaged: a checksum is at its end. */
function sealed(bytes: Buffer): Buffer {
  const seal = Buffer.alloc(4);
  seal.writeUInt32LE(crc32(bytes));
  return Buffer.concat([bytes, seal]);
}

function unsealed(file: Buffer): Buffer | null {
  const end = file.length - 4;
  const bytes = file.subarray(0, Math.max(end, 0));
  return end > 0 && crc32(bytes) === file.readUInt32LE(end) ? bytes : null;
}

function keepFile(cache: string, name: string, bytes: Buffer): void {
  try {
    makeFolders(cache, 0o700);
    writeWhole(join(cache, name), sealed(bytes));
    const newestFirst = readdirSync(cache)
      .map((each) => ({ path: join(cache, each), at: statSync(join(cache, each)).mtimeMs }))
      .sort((a, b) => b.at - a.at);
    for (const { path } of newestFirst.slice(MOST)) rmSync(path, { recursive: true, force: true });
  } catch (error) {
    rethrowBug(error); // A full disk, or another user's folder: tried again the next time.
  }
}

function writeWhole(path: string, bytes: Buffer): void {
  const half = `${path}.${process.pid}`;
  const file = openSync(half, 'w', 0o600);
  try {
    writeSync(file, bytes);
    renameSync(half, path);
  } catch (error) {
    rmSync(half, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}
