/**
 * What gates said of trees, over all runs of the repository: a tree that was green is green.
 *
 *   V1. Only green is remembered: red may have been the weather, and is looked at again anyway.
 *   V2. Only an engine that has run the gate itself writes here; nothing an agent says does.
 *   V3. A key holds all that the verdict depends on (merge/verdict-key.ts); here it is opaque.
 */

import type { Database } from './database.ts';

export interface Green {
  readonly key: string;
  readonly gate: string;
  readonly tree: string;
  readonly ms: number;
  readonly run: string;
}

/** The memory of gates. */
export class Verdicts {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** The run in which this was found green; null where nobody knows. */
  recall(key: string): string | null {
    const sql = 'SELECT run FROM verdicts WHERE key = ?';
    return this.#db.get<{ run: string }>(sql, key)?.run ?? null;
  }

  learn({ key, gate, tree, ms, run }: Green, at: number): void {
    this.#db.run(
      `INSERT INTO verdicts (key, gate, tree, ms, run, at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (key) DO UPDATE SET ms = excluded.ms, run = excluded.run, at = excluded.at`,
      ...[key, gate, tree, ms, run, at],
    );
  }

  /** How long a gate takes, as far as is known: the mean of its last green runs. */
  cost(gate: string): number | null {
    const sql = `SELECT avg(ms) AS ms FROM
      (SELECT ms FROM verdicts WHERE gate = ? ORDER BY at DESC LIMIT 10)`;
    return this.#db.get<{ ms: number | null }>(sql, gate)?.ms ?? null;
  }
}
