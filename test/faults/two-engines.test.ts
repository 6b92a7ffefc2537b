/** An engine that is stopped for a long time, and another one that wants its run. */

import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { tempRepo } from '../support/temp-repo.ts';
import {
  begin,
  elsewhere,
  expectTold,
  expectWhole,
  journalOf,
  make,
  stopBetweenWrites,
  untilMade,
  WAITS,
} from './scene.ts';

const PLAN = { tasks: { one: `echo 1 > one.txt; ${WAITS}`, two: 'echo 2 > two.txt' } };
const FILES = ['one.txt', 'two.txt'];
/** Longer than a lease of another host lasts. */
const LATER_MS = 60_000;

test('on the same machine it keeps its run, however long it is stopped', async () => {
  await using repo = await tempRepo();
  const engine = begin(repo, PLAN);
  await engine.untilFact('workspace.removed', 'two'); // Not while it holds a workspace in its hands.
  await untilMade(repo, 'up');
  await stopBetweenWrites(engine, repo);
  const env = elsewhere({ clockMs: LATER_MS });
  const refused = await landfast(['resume'], { cwd: repo.dir, env });
  expectTold(refused, 3, `is already driven by process ${engine.child.pid}`, 'landfast status');
  engine.child.kill('SIGCONT');
  make(repo, 'go');
  expect((await engine.ended).code).toBe(0);
  await expectWhole(repo, FILES);
});

test('from another host it is taken over; when it wakes up it writes nothing more and says why', async () => {
  await using repo = await tempRepo();
  const engine = begin(repo, PLAN);
  await engine.untilFact('workspace.removed', 'two'); // Not while it holds a workspace in its hands.
  await untilMade(repo, 'up');
  await stopBetweenWrites(engine, repo);
  make(repo, 'go');
  const env = elsewhere({ host: 'other', clockMs: LATER_MS });
  const resumed = await landfast(['resume'], { cwd: repo.dir, env });
  expect(resumed.code, resumed.stderr).toBe(0);
  const before = journalOf(repo);
  engine.child.kill('SIGCONT');
  const ended = await engine.ended;
  expectTold(ended, 3, 'Another engine has taken over run', 'landfast status');
  expect(journalOf(repo)).toEqual(before);
  await expectWhole(repo, FILES);
});
