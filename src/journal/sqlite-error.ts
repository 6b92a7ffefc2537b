/**
 * What an error of SQLite means to a person: the world's faults are OperationalErrors with a way
 * out, everything else is a bug.
 */

import { InvariantError, messageOf, OperationalError } from '../base/errors.ts';

/** How long a connection waits for another one's transaction. */
export const BUSY_MS = 5_000;

const SQLITE_BUSY = 5;

/** What to throw for an error of SQLite; any other error is returned as it is. */
export function explain(error: unknown, file: string): unknown {
  const code = primaryCode(error);
  if (code === null) return error;
  const meaning = MEANINGS.get(code);
  if (meaning === undefined) {
    return new InvariantError(`SQLite: ${messageOf(error)}`, { cause: error });
  }
  return new OperationalError(`${file} ${meaning.what}`, {
    remedy: meaning.remedy(file),
    cause: error,
  });
}

/** Whether this, as explained, is another process being in the way. */
export function isLocked(error: unknown): boolean {
  return error instanceof OperationalError && primaryCode(error.cause) === SQLITE_BUSY;
}

/** The low byte of `errcode`; null for what is not an error of SQLite. */
function primaryCode(error: unknown): number | null {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : null;
}

interface Meaning {
  readonly what: string;
  readonly remedy: (file: string) => string;
}

const LOCKED: Meaning = {
  what: `is locked: another process has been writing to it for ${BUSY_MS / 1000} seconds.`,
  remedy: (file) => `Try again. \`fuser ${file}\` shows who has it open.`,
};

const DAMAGED: Meaning = {
  what: 'is damaged or not a database. Nothing was changed.',
  remedy: (file) =>
    `\`sqlite3 ${file} .recover\` may save its content. To start over, move it away with ` +
    'its -wal and -shm files; branches and workspaces are not in it.',
};

const NO_ACCESS: Meaning = {
  what: 'cannot be written: it is read-only for this process.',
  remedy: (file) => `Check the owner and the mode of ${file} and of its folder.`,
};

const NOT_OPENED: Meaning = {
  what: 'cannot be opened.',
  remedy: (file) => `Check that it is a file, and the owner and mode of ${file} and its folder.`,
};

const FULL: Meaning = {
  what: 'cannot grow: the disk is full. What was recorded before is safe.',
  remedy: () => 'Free some space, then resume the run.',
};

const BROKEN_DISK: Meaning = {
  what: 'cannot be read or written: the disk reports an error.',
  remedy: () => 'Check that the disk is there, has room and is healthy, then try again.',
};

/** By primary result code: https://sqlite.org/rescode.html */
const MEANINGS: ReadonlyMap<number, Meaning> = new Map([
  [3, NO_ACCESS],
  [SQLITE_BUSY, LOCKED],
  [6, LOCKED],
  [8, NO_ACCESS],
  [10, BROKEN_DISK],
  [11, DAMAGED],
  [13, FULL],
  [14, NOT_OPENED],
  [23, NO_ACCESS],
  [26, DAMAGED],
]);
