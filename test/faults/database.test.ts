/** The run database, locked by another process or damaged. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { tempRepo } from '../support/temp-repo.ts';
import { begin, expectResumed, expectTold, make, untilMade, WAITS, workspaceOf } from './scene.ts';

const PLAN = { tasks: { one: `echo 1 > one.txt; ${WAITS}` } };

test('a database locked for too long ends the engine, which names the likely holder; the run can be resumed', async () => {
  await using repo = await tempRepo();
  const engine = begin(repo, PLAN);
  await untilMade(repo, 'up');
  const other = new DatabaseSync(join(repo.commonDir, 'landfast', 'landfast.db'));
  other.exec('BEGIN IMMEDIATE');
  make(repo, 'go');
  const ended = await engine.ended;
  other.exec('ROLLBACK');
  other.close();
  expectTold(ended, 3, 'is locked: another process has been writing to it', 'Try again. `fuser ');
  await expectResumed(repo, ['one.txt']);
});

/** What the log beside a database holds would hide that its file is damaged. */
function moveIntoOneFile(file: string): void {
  const db = new DatabaseSync(file);
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
}

test('damaged: every command says so and leaves it as it is; the work is where it was', async () => {
  await using repo = await tempRepo();
  const engine = begin(repo, PLAN);
  await untilMade(repo, 'up');
  const work = join(workspaceOf(repo, 'one'), 'one.txt');
  engine.child.kill('SIGKILL');
  await engine.ended;
  const file = join(repo.commonDir, 'landfast', 'landfast.db');
  moveIntoOneFile(file);
  const good = readFileSync(file);
  const bad = Buffer.from(good).fill('x', 0, 100);
  writeFileSync(file, bad);
  for (const args of [['status'], ['resume'], ['run', '../plan.yaml'], ['runs']]) {
    const told = await landfast(args, { cwd: repo.dir });
    expectTold(told, 3, `${file} is damaged or not a database. Nothing was changed.`, '.recover');
  }
  expect(readFileSync(file)).toEqual(bad);
  expect(readFileSync(work, 'utf8')).toBe('1\n');
  writeFileSync(file, good);
  make(repo, 'go');
  await expectResumed(repo, ['one.txt']);
});
