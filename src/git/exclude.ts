/**
 * Patterns that git ignores without a tracked file saying so: `info/exclude`, which all worktrees
 * share. Ours are in a block of their own. Two processes that add at once lose nothing: the new
 * content is written into a lock file, which then replaces the old one.
 *
 *     # landfast: begin (added automatically)
 *     /.env.local
 *     # landfast: end
 */

import { open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isSystemError, OperationalError, otherwise } from '../base/errors.ts';
import { makeFolders } from '../base/make-folders.ts';

const BEGIN = '# landfast: begin (added automatically)';
const END = '# landfast: end';

const POLL_MS = 25;
const LOCK_WAIT_MS = 10_000;
/** The owner of an older lock has died. */
const STALE_LOCK_MS = 30_000;

/** Makes git ignore the patterns in every worktree of a repository. */
export async function addExcludes(
  commonDir: string,
  patterns: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const named = join(commonDir, 'info', 'exclude');
  const file = await realpath(named).catch(otherwise(named));
  if (withPatterns(await textOf(file), patterns) === null) return;
  makeFolders(dirname(file));
  const lock = `${file}.lock`;
  const handle = await takeLock(lock, signal);
  try {
    const text = withPatterns(await textOf(file), patterns);
    if (text !== null) await handle.writeFile(text);
    await handle.close();
    await (text === null ? rm(lock) : rename(lock, file));
  } catch (error) {
    await handle.close();
    await rm(lock, { force: true });
    throw error;
  }
}

/** The pattern for exactly one path, relative to the top of a worktree. */
export function literalPattern(path: string): string {
  const escaped = path
    .replace(/[\\*?[\]]/g, '\\$&')
    .replace(/ +$/, (spaces) => '\\ '.repeat(spaces.length))
    .replace(/[\n\r]/g, '?'); // A pattern is a line; `?` is any one character.
  return `/${escaped}`;
}

/** The new content; null if all patterns are there. */
export function withPatterns(text: string, patterns: readonly string[]): string | null {
  const lines = text.split('\n');
  const begin = lines.indexOf(BEGIN);
  const end = lines.indexOf(END, begin);
  const hasBlock = begin !== -1 && end !== -1;
  const present = new Set(hasBlock ? lines.slice(begin + 1, end) : []);
  const missing = [...new Set(patterns)].filter((pattern) => !present.has(pattern));
  if (missing.length === 0) return null;
  if (hasBlock) return [...lines.slice(0, end), ...missing, ...lines.slice(end)].join('\n');
  const before = text === '' || text.endsWith('\n') ? text : `${text}\n`;
  return `${before}${[BEGIN, ...missing, END].join('\n')}\n`;
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return '';
    throw new OperationalError(`cannot read ${file}`, { cause: error });
  }
}

async function takeLock(lock: string, signal: AbortSignal) {
  const deadline = performance.now() + LOCK_WAIT_MS;
  for (;;) {
    signal.throwIfAborted();
    try {
      return await open(lock, 'wx');
    } catch (error) {
      if (!isSystemError(error, 'EEXIST') || performance.now() > deadline) {
        throw new OperationalError(`cannot lock ${lock}`, { cause: error });
      }
    }
    const taken = await stat(lock).catch(otherwise(null));
    if (taken !== null && Date.now() - taken.mtimeMs > STALE_LOCK_MS)
      await rm(lock, { force: true });
    else await sleep(POLL_MS);
  }
}
