/**
 * How conflicts were resolved, over all runs of the repository: nobody is asked the same twice.
 *
 *   R1. Only what has landed is remembered: its gates were green.
 *   R2. A key holds all that was in question (merge/resolutions.ts); here it is opaque.
 *   R3. The newest resolution counts: an older one may have been refused by a gate since.
 */

import type { Database } from './database.ts';

/** What a file became; without an object it was deleted. */
export interface Resolution {
  readonly mode: string;
  readonly object: string | null;
  /** The run that it landed in. */
  readonly run: string;
}

/** The memory of conflicts. */
export class Resolutions {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  recall(key: string): Resolution | null {
    const sql = 'SELECT mode, object, run FROM resolutions WHERE key = ?';
    const row = this.#db.get<Resolution>(sql, key);
    return row === undefined ? null : { mode: row.mode, object: row.object, run: row.run };
  }

  learn(key: string, { mode, object, run }: Resolution, at: number): void {
    this.#db.run(
      `INSERT INTO resolutions (key, mode, object, run, at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (key) DO UPDATE SET
         mode = excluded.mode, object = excluded.object, run = excluded.run, at = excluded.at`,
      ...[key, mode, object, run, at],
    );
  }
}
