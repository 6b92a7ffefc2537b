/**
 * Commands of other processes to an engine: a table of its own, so that only engines write entries.
 *
 *   sent ──take──► taken ──answer──► answered
 *     └──withdraw──► gone
 *
 * - A command is taken at most once. If its engine dies before answering, it is not acted on again:
 *   a `stop` must not stop the run that was resumed an hour later.
 * - Only the holder of the run's lease takes commands.
 * - A sender that stops waiting withdraws its command, unless an engine has taken it by then.
 */

import { pause } from '../base/pause.ts';
import type { Answer, Command } from '../model/command.ts';
import type { Database } from './database.ts';
import { assertLease, type Lease } from './lease.ts';

const POLL_MS = 50;

/** A command as the engine sees it. */
export interface SentCommand {
  readonly id: number;
  readonly command: Command;
}

/** Leaves a command for the run's engine and returns its id. */
export function sendCommand(db: Database, run: string, command: Command, at: number): number {
  const sql = 'INSERT INTO commands (run, command, sent_at) VALUES (?, ?, ?)';
  return db.run(sql, run, JSON.stringify(command), at).id;
}

/** Takes the commands that wait, oldest first. Cheap when there are none. */
export function takeCommands(db: Database, lease: Lease, at: number): readonly SentCommand[] {
  if (waiting(db, lease.run).length === 0) return [];
  return db.transaction(() => {
    assertLease(db, lease);
    const commands = waiting(db, lease.run);
    for (const { id } of commands) {
      db.run('UPDATE commands SET taken_at = ? WHERE id = ?', at, id);
    }
    return commands;
  });
}

function waiting(db: Database, run: string): SentCommand[] {
  const sql = 'SELECT id, command FROM commands WHERE run = ? AND taken_at IS NULL ORDER BY id';
  const rows = db.all<{ id: number; command: string }>(sql, run);
  return rows.map(({ id, command }) => ({ id, command: JSON.parse(command) }));
}

/** Answers the sender of a command. The first answer stays. */
export function answerCommand(db: Database, id: number, answer: Answer): void {
  const sql = 'UPDATE commands SET answer = ? WHERE id = ? AND answer IS NULL';
  db.run(sql, JSON.stringify(answer), id);
}

export type Reply =
  | { readonly kind: 'answered'; readonly answer: Answer }
  /** No engine took it in time, and none will. */
  | { readonly kind: 'withdrawn' }
  /** An engine has taken it but did not answer in time: it may have happened. */
  | { readonly kind: 'unknown' };

/** Waits for the answer until `signal` aborts, then withdraws the command if it still can. */
export async function awaitAnswer(db: Database, id: number, signal: AbortSignal): Promise<Reply> {
  for (;;) {
    const reply = readReply(db, id);
    if (reply !== null) return reply;
    if (signal.aborted) return withdraw(db, id);
    await pause(POLL_MS, signal); // Once aborted, it looks a last time.
  }
}

function readReply(db: Database, id: number): Reply | null {
  const sql = 'SELECT answer FROM commands WHERE id = ?';
  const row = db.get<{ answer: string | null }>(sql, id);
  if (row === undefined) return { kind: 'withdrawn' };
  return row.answer === null ? null : { kind: 'answered', answer: JSON.parse(row.answer) };
}

function withdraw(db: Database, id: number): Reply {
  const { changes } = db.run('DELETE FROM commands WHERE id = ? AND taken_at IS NULL', id);
  return changes > 0 ? { kind: 'withdrawn' } : (readReply(db, id) ?? { kind: 'unknown' });
}
