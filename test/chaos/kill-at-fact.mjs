/**
 * Loaded into the engine before it starts (`node --import`): counts the facts that reach the journal,
 * and the files that it renames, links and removes itself, and ends the process at one of them, as
 * `kill -9` would. The program itself knows nothing of it.
 *
 *   before  the fact is in an open transaction, and is lost with it
 *   after   the transaction is committed, and nothing has been done about it yet;
 *           the file has just been moved, and nothing else has been done
 *
 * Or it is halted there until it is continued.
 */

import fs, { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync, StatementSync } from 'node:sqlite';

const { on, at, when, everybody, halts = false, countTo } = JSON.parse(process.env.CHAOS_AT);
const statements = new WeakMap();
let [facts, files] = [0, 0];
let isDue = false;

const { prepare } = DatabaseSync.prototype;
DatabaseSync.prototype.prepare = function (sql) {
  const statement = prepare.call(this, sql);
  statements.set(statement, sql);
  return statement;
};

const { run } = StatementSync.prototype;
StatementSync.prototype.run = function (...values) {
  const sql = statements.get(this) ?? '';
  if (/^INSERT INTO entries/.test(sql)) {
    facts += 1;
    writeFileSync(`${countTo}/fact-count`, String(facts));
    const isNow = on === 'fact' && facts === at;
    if (isNow && when === 'before') end();
    if (isNow) isDue = true;
  }
  const result = run.apply(this, values);
  if (isDue && sql === 'COMMIT') end();
  isDue &&= sql !== 'COMMIT';
  return result;
};

for (const name of ['renameSync', 'linkSync', 'unlinkSync', 'rmSync']) {
  const original = fs[name];
  fs[name] = function (...given) {
    const result = original.apply(this, given);
    files += 1;
    writeFileSync(`${countTo}/file-count`, String(files));
    if (on === 'file' && files === at) {
      writeFileSync(`${countTo}/file-at`, `${name} ${given.slice(0, 2).join(' ')}`);
      end();
    }
    return result;
  };
}

function end() {
  if (halts) return process.kill(process.pid, 'SIGSTOP');
  if (everybody) for (const pid of descendants(process.pid)) kill(pid);
  process.kill(process.pid, 'SIGKILL');
}

function descendants(pid) {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === pid)
    .map(Number);
  return children.flatMap((child) => [...descendants(child), child]);
}

function parentOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return 0;
  }
}

function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It was faster.
  }
}
