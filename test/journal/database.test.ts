/** Opening the database: what is created, what is refused, and what a person is told. */

import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { OperationalError } from '../../src/base/errors.ts';
import {
  type Database,
  FORMAT_VERSION,
  openDatabase,
  openForReading,
} from '../../src/journal/database.ts';
import { Journal, readEntries } from '../../src/journal/journal.ts';
import { NO_SECRETS } from '../../src/journal/mask.ts';
import { Engine, lead, started, tempDatabase, tempState, usage } from './support.ts';

test('the folder is 0700 and every file of the database 0600, whatever the umask', () => {
  using state = tempState();
  mkdirSync(state.stateDir, { mode: 0o755 });
  const umask = process.umask(0);
  try {
    using db = openDatabase(state.stateDir);
    Journal.create(db, lead(db, 'r1'), NO_SECRETS).append([started()], 1);

    expect(modeOf(state.stateDir)).toBe('700');
    expect(
      readdirSync(state.stateDir).map((name) => [name, modeOf(join(state.stateDir, name))]),
    ).toEqual([
      ['landfast.db', '600'],
      ['landfast.db-shm', '600'],
      ['landfast.db-wal', '600'],
    ]);
  } finally {
    process.umask(umask);
  }
});

test('every commit is flushed to the disk', () => {
  using temp = tempDatabase();

  expect([
    temp.db.get('PRAGMA journal_mode'),
    temp.db.get('PRAGMA synchronous'),
    temp.db.get('PRAGMA foreign_keys'),
    temp.db.get('PRAGMA busy_timeout'),
  ]).toEqual([{ journal_mode: 'wal' }, { synchronous: 2 }, { foreign_keys: 1 }, { timeout: 5000 }]);
});

test('a reader that finds no database gets null and leaves nothing behind', () => {
  using state = tempState();

  expect(openForReading(state.stateDir)).toBe(null);
  expect(readdirSync(state.dir)).toEqual([]);
});

test('a database that is only just being created holds nothing to read yet', () => {
  using state = tempState();
  mkdirSync(state.stateDir);
  writeFileSync(join(state.stateDir, 'landfast.db'), '');

  expect(openForReading(state.stateDir)).toBe(null);
  expect(readdirSync(state.stateDir)).toEqual(['landfast.db']);
});

test('a database of a newer landfast is left alone, by writers and by readers', () => {
  using state = tempState();
  openDatabase(state.stateDir).close();
  const file = join(state.stateDir, 'landfast.db');
  setVersion(state.stateDir, FORMAT_VERSION + 1);
  const before = readFileSync(file);
  const refusal = {
    message:
      `${file} was written by a newer landfast ` +
      `(format ${FORMAT_VERSION + 1}, this one knows ${FORMAT_VERSION}).`,
    remedy: 'Update landfast, then try again. Nothing was changed.',
  };

  expect(complaint(() => openDatabase(state.stateDir))).toEqual(refusal);
  expect(complaint(() => openForReading(state.stateDir))).toEqual(refusal);
  expect(readFileSync(file)).toEqual(before);
});

test('a database of format 1 gets what came later, and keeps what it holds', () => {
  using state = tempState();
  using old = openDatabase(state.stateDir);
  old.run("INSERT INTO runs (run, plan_name, started_at) VALUES ('r1', 'p', 1)");
  old.exec('DROP TABLE verdicts; DROP TABLE resolutions');
  setVersion(state.stateDir, 1);
  using db = openDatabase(state.stateDir);
  expect(db.all('SELECT run FROM runs')).toEqual([{ run: 'r1' }]);
  expect(db.all('SELECT key FROM verdicts')).toEqual([]);
  expect(db.all('SELECT key FROM resolutions')).toEqual([]);
});

test.each([
  ['a file that is no database', 'These are not the bytes of a database. '.repeat(500)],
  ['a database whose pages are overwritten', null],
])('%s is reported as damaged and kept as it is', (_what, text) => {
  using state = tempState();
  openDatabase(state.stateDir).close();
  const file = join(state.stateDir, 'landfast.db');
  const bytes = text === null ? readFileSync(file).fill(0xaa, 100) : Buffer.from(text);
  writeFileSync(file, bytes);

  for (const open of [openDatabase, openForReading]) {
    const told = complaint(() => {
      using db = open(state.stateDir);
      if (db !== null) readEntries(db, 'r1', 0);
    });
    expect(told.message).toBe(`${file} is damaged or not a database. Nothing was changed.`);
    expect(told.remedy).toContain('move it away');
  }
  expect(readFileSync(file)).toEqual(bytes);
});

test('a state folder that is a file is an error with a way out', () => {
  using state = tempState();
  writeFileSync(state.stateDir, '');

  expect(complaint(() => openDatabase(state.stateDir)).message).toContain('cannot be created');
});

test('writing through a reader is refused', () => {
  using temp = tempDatabase();
  using reader = openForReading(temp.stateDir) as Database;

  const told = complaint(() => reader.run('DELETE FROM runs'));

  expect(told.message).toContain('landfast.db cannot be written: it is read-only');
});

test('a full disk is told, undoes only what it hit, and is over once there is room', () => {
  using temp = tempDatabase();
  const journal = Journal.create(temp.db, lead(temp.db, 'r1'), NO_SECRETS);
  journal.append([started()], 1);
  const pages = temp.db.get<{ page_count: number }>('PRAGMA page_count')?.page_count ?? 0;
  temp.db.get(`PRAGMA max_page_count = ${pages + 1}`);
  const many = Array.from({ length: 500 }, (_, n) => usage(n));

  expect(complaint(() => journal.append(many, 2)).message).toContain('the disk is full');
  temp.db.get('PRAGMA max_page_count = 1000000');
  expect(journal.read(0).length).toBe(1);
  expect(journal.append([usage(1)], 3)).toEqual([{ seq: 2, at: 3, event: usage(1) }]);
});

test('a database that another process keeps locked is an error with a way out', async () => {
  using temp = tempDatabase();
  await using other = new Engine(temp.stateDir, 'r1');
  expect(await other.ask('lock')).toBe('locked');

  const told = complaint(() => lead(temp.db, 'r1'));

  expect(told.message).toContain('landfast.db is locked');
  expect(told.remedy).toContain('Try again.');
});

test('processes that create the same database at the same moment all succeed', async () => {
  using state = tempState();
  await using a = new Engine(state.stateDir, 'r1');
  await using b = new Engine(state.stateDir, 'r1');
  await using c = new Engine(state.stateDir, 'r1');
  const engines = [a, b, c];
  const answers: string[][] = [];
  for (let round = 0; round < 20; round++) {
    answers.push(await Promise.all(engines.map((engine) => engine.ask(`create ${round}`))));
  }

  expect(new Set(answers.flat())).toEqual(new Set(['created']));
});

test('transactions do not nest', () => {
  using temp = tempDatabase();

  expect(() => temp.db.transaction(() => temp.db.transaction(() => 1))).toThrow('do not nest');
  expect(temp.db.transaction(() => 2)).toBe(2);
});

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

function setVersion(stateDir: string, version: number): void {
  using db = openDatabase(stateDir);
  db.exec(`PRAGMA user_version = ${version}`);
}

function complaint(work: () => unknown): { message: string; remedy: string | undefined } {
  try {
    work();
  } catch (error) {
    if (error instanceof OperationalError) return { message: error.message, remedy: error.remedy };
    throw error;
  }
  throw new Error('it did not complain');
}
