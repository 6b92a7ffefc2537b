/**
 * The one SQLite database of a repository, `<stateDir>/landfast.db`: opening it, and its tables.
 * docs/journal.md describes the format, sqlite-error.ts what its errors mean.
 *
 * - A commit is on the disk when `transaction` returns (WAL, synchronous=FULL).
 * - Only `openDatabase` creates anything. Readers get null if there is no database.
 * - A database that is newer than this program, or damaged, is never written to.
 * - Folder 0700, files 0600: a journal holds prompts and the output of gates.
 * - Whatever the world does wrong is an OperationalError that names the file and a way out.
 */

import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { assert } from '../base/assert.ts';
import { messageOf, OperationalError, rethrowBug } from '../base/errors.ts';
import { makeFolders } from '../base/make-folders.ts';
import { BUSY_MS, explain, isLocked } from './sqlite-error.ts';

const FILE_NAME = 'landfast.db';

const FIRST_TABLES = `
  CREATE TABLE runs (
    run        TEXT PRIMARY KEY,
    plan_name  TEXT NOT NULL,
    started_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE entries (
    run   TEXT NOT NULL REFERENCES runs,
    seq   INTEGER NOT NULL,
    at    INTEGER NOT NULL,
    event TEXT NOT NULL,
    type  TEXT GENERATED ALWAYS AS (json_extract(event, '$.type')) VIRTUAL,
    PRIMARY KEY (run, seq)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX entries_of_ends ON entries (run, seq)
    WHERE type IN ('run.finished', 'run.resumed');

  CREATE TABLE commands (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    run         TEXT NOT NULL REFERENCES runs,
    command     TEXT NOT NULL,
    sent_at     INTEGER NOT NULL,
    taken_at    INTEGER,
    answer      TEXT
  ) STRICT;
  CREATE INDEX commands_not_taken ON commands (run, id) WHERE taken_at IS NULL;

  CREATE TABLE leases (
    run        TEXT PRIMARY KEY,
    token      INTEGER NOT NULL,
    pid        INTEGER,
    start      TEXT,
    host       TEXT NOT NULL,
    renewed_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
`;

const VERDICTS = `
  CREATE TABLE verdicts (
    key   TEXT PRIMARY KEY,
    gate  TEXT NOT NULL,
    tree  TEXT NOT NULL,
    ms    INTEGER NOT NULL,
    run   TEXT NOT NULL,
    at    INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX verdicts_by_gate ON verdicts (gate, at);
`;

const RESOLUTIONS = `
  CREATE TABLE resolutions (
    key    TEXT PRIMARY KEY,
    mode   TEXT NOT NULL,
    object TEXT,
    run    TEXT NOT NULL,
    at     INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
`;

/** What each format brought. */
const FORMATS = [FIRST_TABLES, VERDICTS, RESOLUTIONS];

/** What `PRAGMA user_version` says in a database of this program. */
export const FORMAT_VERSION = FORMATS.length;

/** A connection: SQL with values bound by position, and errors that can be shown. */
export class Database implements Disposable {
  readonly file: string;
  readonly #sqlite: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  #busy = false;

  constructor(file: string, sqlite: DatabaseSync) {
    this.file = file;
    this.#sqlite = sqlite;
  }

  /** All rows. The caller names their type; it wrote the SQL. */
  all<Row>(sql: string, ...values: readonly SQLInputValue[]): Row[] {
    return this.#explained(() => this.#prepare(sql).all(...values) as Row[]);
  }

  /** The first row, if there is one. */
  get<Row>(sql: string, ...values: readonly SQLInputValue[]): Row | undefined {
    return this.#explained(() => this.#prepare(sql).get(...values) as Row | undefined);
  }

  /** How many rows changed, and the id of the one inserted last. */
  run(sql: string, ...values: readonly SQLInputValue[]): { changes: number; id: number } {
    const result = this.#explained(() => this.#prepare(sql).run(...values));
    return { changes: Number(result.changes), id: Number(result.lastInsertRowid) };
  }

  /** Statements without values or rows. */
  exec(sql: string): void {
    this.#explained(() => this.#sqlite.exec(sql));
  }

  /** All of `work` or nothing of it, with no other writer in between. */
  transaction<T>(work: () => T): T {
    return this.#atomic('BEGIN IMMEDIATE', work);
  }

  /** Everything `work` reads is of one moment. */
  snapshot<T>(work: () => T): T {
    return this.#atomic('BEGIN', work);
  }

  /** Changes whenever another connection has committed. */
  dataVersion(): number {
    return this.get<{ data_version: number }>('PRAGMA data_version')?.data_version ?? 0;
  }

  close(): void {
    this.#statements.clear();
    this.#sqlite.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #atomic<T>(begin: string, work: () => T): T {
    assert(!this.#busy, 'transactions do not nest');
    this.#explained(() => this.#prepare(begin).run());
    this.#busy = true;
    try {
      const result = work();
      this.#explained(() => this.#prepare('COMMIT').run());
      return result;
    } catch (error) {
      this.#rollBack();
      throw error;
    } finally {
      this.#busy = false;
    }
  }

  /** Some errors (a full disk) have ended the transaction already: there is nothing to undo. */
  #rollBack(): void {
    try {
      this.#sqlite.exec('ROLLBACK');
    } catch (error) {
      rethrowBug(error); // The error that led here is the one to show.
    }
  }

  #prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#sqlite.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  #explained<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw explain(error, this.file);
    }
  }
}

/** Opens the database for reading and writing; creates it where there is none. */
export function openDatabase(stateDir: string): Database {
  const file = prepareFile(stateDir);
  const db = connect(file, { readOnly: false });
  try {
    setUp(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Opens the database for reading only; null where nothing was ever recorded. */
export function openForReading(stateDir: string): Database | null {
  const file = join(stateDir, FILE_NAME);
  if (!existsSync(file)) return null;
  const db = connect(file, { readOnly: true });
  try {
    if (checkedVersion(db) > 0) return db;
  } catch (error) {
    db.close();
    throw error;
  }
  db.close(); // Another process is just creating it.
  return null;
}

/** SQLite copies the mode of the database to its -wal and -shm files, so the mode comes first. */
function prepareFile(stateDir: string): string {
  const file = join(stateDir, FILE_NAME);
  try {
    makeFolders(stateDir, 0o700);
    if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600));
    for (const [path, mode] of [[stateDir, 0o700] as const, [file, 0o600] as const]) {
      if ((statSync(path).mode & 0o777) !== mode) chmodSync(path, mode);
    }
    return file;
  } catch (error) {
    const why = messageOf(closedTo(stateDir) ?? error);
    throw new OperationalError(`The run database cannot be created: ${why}`, {
      remedy: `Make sure that ${stateDir} is a folder you own and that its disk has room.`,
      cause: error,
    });
  }
}

/**
 * Why nothing can be written below the nearest folder there is: making several folders at once says
 * only that they are missing.
 */
function closedTo(dir: string): unknown {
  if (!existsSync(dir) && dirname(dir) !== dir) return closedTo(dirname(dir));
  try {
    accessSync(dir, constants.W_OK);
    return null;
  } catch (error) {
    return error;
  }
}

function connect(file: string, options: { readonly readOnly: boolean }): Database {
  const { DatabaseSync } = loadSqlite();
  try {
    const sqlite = new DatabaseSync(file, { ...options, timeout: BUSY_MS });
    sqlite.exec(`PRAGMA busy_timeout = ${BUSY_MS}`); // Node 22.13 to 22.15 ignore `timeout`.
    return new Database(file, sqlite);
  } catch (error) {
    throw explain(error, file);
  }
}

/** Node 22 warns that SQLite is experimental; that one sentence is kept from the user's screen. */
function loadSqlite(): typeof import('node:sqlite') {
  const { emitWarning } = process;
  process.emitWarning = ((warning: string | Error, ...rest: []) => {
    if (!String(warning).startsWith('SQLite is an experimental')) {
      emitWarning.call(process, warning, ...rest);
    }
  }) as typeof emitWarning;
  try {
    const sqlite = process.getBuiltinModule('node:sqlite');
    if (sqlite !== undefined) return sqlite;
  } finally {
    process.emitWarning = emitWarning;
  }
  throw new OperationalError(`Node ${process.versions.node} has no SQLite.`, {
    remedy: 'Use Node 22.13 or newer.',
  });
}

function setUp(db: Database): void {
  checkedVersion(db);
  useWal(db);
  db.exec('PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA foreign_keys = ON');
  if (checkedVersion(db) === FORMAT_VERSION) return;
  db.transaction(() => {
    for (const sql of FORMATS.slice(checkedVersion(db))) db.exec(sql);
    db.exec(`PRAGMA user_version = ${FORMAT_VERSION}`);
  });
}

function checkedVersion(db: Database): number {
  const version = db.get<{ user_version: number }>('PRAGMA user_version')?.user_version ?? 0;
  if (version <= FORMAT_VERSION) return version;
  throw new OperationalError(
    `${db.file} was written by a newer landfast ` +
      `(format ${version}, this one knows ${FORMAT_VERSION}).`,
    { remedy: 'Update landfast, then try again. Nothing was changed.' },
  );
}

function useWal(db: Database): void {
  const mode = switchToWal(db, Date.now() + BUSY_MS);
  if (mode === 'wal') return;
  throw new OperationalError(`${db.file} is on a disk that cannot share a database safely.`, {
    remedy: 'Keep the repository on a local disk, not on a network one.',
  });
}

/** SQLite does not wait for another process that is just doing the same; so we do. */
function switchToWal(db: Database, deadline: number): string | undefined {
  for (;;) {
    try {
      return db.get<{ journal_mode: string }>('PRAGMA journal_mode = WAL')?.journal_mode;
    } catch (error) {
      if (!isLocked(error) || Date.now() > deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}
