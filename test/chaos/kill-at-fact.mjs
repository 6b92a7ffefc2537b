/**
 * Loaded into the engine before it starts (`node --import`): counts the facts that reach the journal
 * and ends the process at one of them, as `kill -9` would. The program itself knows nothing of it.
 *
 *   before  the fact is in an open transaction, and is lost with it
 *   after   the transaction is committed, and nothing has been done about it yet
 *
 * Or it is halted there, and goes on when somebody lets it.
 */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync, StatementSync } from 'node:sqlite';

const { at, when, everybody, halts = false, countTo } = JSON.parse(process.env.CHAOS_AT_FACT);
const statements = new WeakMap();
let facts = 0;
let isDue = false;

const { prepare, exec } = DatabaseSync.prototype;
DatabaseSync.prototype.prepare = function (sql) {
  const statement = prepare.call(this, sql);
  statements.set(statement, /^INSERT INTO entries/.test(sql));
  return statement;
};

const { run } = StatementSync.prototype;
StatementSync.prototype.run = function (...values) {
  if (statements.get(this)) {
    facts += 1;
    writeFileSync(countTo, String(facts));
    if (facts === at && when === 'before') end();
    if (facts === at) isDue = true;
  }
  return run.apply(this, values);
};

DatabaseSync.prototype.exec = function (sql) {
  const result = exec.call(this, sql);
  if (isDue && sql === 'COMMIT') end();
  isDue &&= sql !== 'COMMIT';
  return result;
};

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
