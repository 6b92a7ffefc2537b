/**
 * What the runs of a repository have learned: verdicts of gates, and resolutions of conflicts. Keys
 * hold everything the answer depends on (merge/verdict-key.ts, merge/auto-resolve.ts); here they
 * are opaque.
 *
 * - Only green verdicts are kept: a red one may be transient, and its gate is run again anyway.
 *   Only an engine that ran the gate writes one.
 * - Only resolutions that landed are kept: their gates were green. The newest one replaces the
 *   others, as a gate may have refused an older one since.
 */

import type { Database } from './database.ts';

export interface Green {
  readonly key: string;
  readonly gate: string;
  readonly tree: string;
  readonly ms: number;
  readonly run: string;
}

/** Verdicts of gates by tree. */
export function verdictsIn(db: Database) {
  return {
    /** The run in which this was green; null where there is none. */
    recall(key: string): string | null {
      const sql = 'SELECT run FROM verdicts WHERE key = ?';
      return db.get<{ run: string }>(sql, key)?.run ?? null;
    },

    learn({ key, gate, tree, ms, run }: Green, at: number): void {
      const sql = `INSERT INTO verdicts (key, gate, tree, ms, run, at) VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (key) DO UPDATE SET ms = excluded.ms, run = excluded.run, at = excluded.at`;
      db.run(sql, key, gate, tree, ms, run, at);
    },

    /** How long a gate takes: the mean of its last green runs; null before the first. */
    cost(gate: string): number | null {
      const sql = `SELECT avg(ms) AS ms FROM
        (SELECT ms FROM verdicts WHERE gate = ? ORDER BY at DESC LIMIT 10)`;
      return db.get<{ ms: number | null }>(sql, gate)?.ms ?? null;
    },
  };
}

/** What a file became; without an object it was deleted. */
export interface Resolution {
  readonly mode: string;
  readonly object: string | null;
  /** The run that it landed in. */
  readonly run: string;
}

/** Resolutions of conflicts by what conflicted. */
export function resolutionsIn(db: Database) {
  return {
    recall(key: string): Resolution | null {
      const sql = 'SELECT mode, object, run FROM resolutions WHERE key = ?';
      const row = db.get<Resolution>(sql, key);
      return row === undefined ? null : { mode: row.mode, object: row.object, run: row.run };
    },

    learn(key: string, { mode, object, run }: Resolution, at: number): void {
      const sql = `INSERT INTO resolutions (key, mode, object, run, at) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (key) DO UPDATE SET
          mode = excluded.mode, object = excluded.object, run = excluded.run, at = excluded.at`;
      db.run(sql, key, mode, object, run, at);
    },
  };
}
