/** Following a run from another process: nothing missed, soon enough, and an end. */

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { follow } from '../../src/journal/follow.ts';
import { Journal } from '../../src/journal/journal.ts';
import { releaseLease } from '../../src/journal/lease.ts';
import { NO_SECRETS } from '../../src/journal/mask.ts';
import { Engine, finished, lead, started, tempDatabase, tempState, usage } from './support.ts';

const never = new AbortController().signal;

test('entries of another process arrive within 200 ms of their commit', async () => {
  using state = tempState();
  await using engine = new Engine(state.stateDir, 'r1');
  await engine.ask('lead');
  const after = Number(await engine.ask('append'));
  const stop = new AbortController();
  const batches = follow(state.stateDir, 'r1', after, stop.signal);
  for (let seq = after + 1; seq <= after + 20; seq += 1) {
    const next = batches.next();
    expect(await engine.ask('append')).toBe(String(seq));
    const first = await Promise.race([next, ownTime(200)]);
    expect(first?.value?.map((entry) => entry.seq)).toEqual([seq]);
  }
  stop.abort();
  await batches.next();
});

/** Time in steps, of which a busy machine delays each as it delays the one who follows. */
async function ownTime(ms: number): Promise<null> {
  for (let passed = 0; passed < ms; passed += 50) await sleep(50);
  return null;
}

test('following begins before there is a database and ends when the engine lets go', async () => {
  using state = tempState();
  const following = collect(follow(state.stateDir, 'r1', 0, never));
  await using engine = new Engine(state.stateDir, 'r1');
  expect(await engine.ask('lead')).toBe('held 1');
  expect(await engine.ask('append')).toBe('2');
  expect(await engine.ask('finish')).toBe('3');
  expect(await engine.ask('append')).toBe('4'); // After run.finished a workspace may be removed.
  expect(await engine.ask('release')).toBe('released');

  const seqs = (await following).flat().map(({ seq }) => seq);

  expect(seqs).toEqual([1, 2, 3, 4]);
});

test('an engine that dies after run.finished, without letting go, ends it too', async () => {
  using temp = tempDatabase();
  await using engine = new Engine(temp.stateDir, 'r1');
  await engine.ask('lead');
  expect(await engine.ask('finish')).toBe('2');
  const batches = follow(temp.stateDir, 'r1', 0, never);
  const first = await batches.next();
  await engine.kill();

  expect(first.value?.map(({ seq }) => seq)).toEqual([1, 2]);
  expect(await batches.next()).toEqual({ done: true, value: undefined });
});

test('a run that is over gives the entries asked for and ends at once', async () => {
  using temp = tempDatabase();
  const lease = lead(temp.db, 'r1');
  const entries = Journal.create(temp.db, lease, NO_SECRETS).append(
    [started(), usage(1), finished],
    1,
  );
  releaseLease(temp.db, lease);

  expect(await collect(follow(temp.stateDir, 'r1', 1, never))).toEqual([entries.slice(1)]);
  expect(await collect(follow(temp.stateDir, 'r1', 3, never))).toEqual([]);
});

test('a resumed run is followed on', async () => {
  using temp = tempDatabase();
  const first = lead(temp.db, 'r1');
  Journal.create(temp.db, first, NO_SECRETS).append([started(), finished], 1);
  releaseLease(temp.db, first);
  const second = lead(temp.db, 'r1');
  const journal = Journal.open(temp.db, second, NO_SECRETS);
  journal.append([{ type: 'run.resumed', retry: [] }], 2);
  releaseLease(temp.db, second); // Ended without an outcome: it may be resumed again.

  const stop = new AbortController();
  const batches = follow(temp.stateDir, 'r1', 2, stop.signal);
  expect((await batches.next()).value).toEqual([
    { seq: 3, at: 2, event: { type: 'run.resumed', retry: [] } },
  ]);
  const end = batches.next();
  stop.abort();
  expect(await end).toEqual({ done: true, value: undefined });
});

test('a signal that is aborted already ends it before anything is read', async () => {
  using state = tempState();

  expect(await collect(follow(state.stateDir, 'r1', 0, AbortSignal.abort()))).toEqual([]);
});

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
