/**
 * A world's database: the real tables with the real journal, leases and commands on them, in memory
 * and so without a disk to wait for.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Database, openDatabase } from '../../src/journal/database.ts';

/** Every world has one run. */
export const RUN = 'run';

/** An empty database for one world. */
export function openStore(): Database {
  tables ??= readTables();
  const sqlite = new DatabaseSync(':memory:');
  sqlite.exec(tables);
  return new Database(':memory:', sqlite);
}

let tables: string | undefined;

/** As the program makes them in a folder. */
function readTables(): string {
  const folder = mkdtempSync(join(tmpdir(), 'landfast-sim-'));
  try {
    using db = openDatabase(folder);
    const sql = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'";
    return db
      .all<{ sql: string }>(sql)
      .map((row) => `${row.sql};`)
      .join('\n');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
