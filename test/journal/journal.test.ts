/** The journal: order, atomicity, durability, and finding runs. */

import { expect, test } from 'vitest';
import { type Database, openForReading } from '../../src/journal/database.ts';
import { findRun, Journal, listRuns, outcomeOf, readEntries } from '../../src/journal/journal.ts';
import { releaseLease } from '../../src/journal/lease.ts';
import { NO_SECRETS } from '../../src/journal/mask.ts';
import { Engine, finished, lead, started, tempDatabase, usage } from './support.ts';

test('entries are numbered from one without a gap, over batches and after reopening', () => {
  using temp = tempDatabase();
  const lease = lead(temp.db, 'r1');

  const first = Journal.create(temp.db, lease, NO_SECRETS).append([started(), usage(1)], 10);
  const journal = Journal.open(temp.db, lease, NO_SECRETS);
  const second = journal.append([usage(2)], 20);

  const expected = [
    { seq: 1, at: 10, event: started() },
    { seq: 2, at: 10, event: usage(1) },
    { seq: 3, at: 20, event: usage(2) },
  ];
  expect([...first, ...second]).toEqual(expected);
  expect(journal.read(0)).toEqual(expected);
  expect(journal.read(2)).toEqual(expected.slice(2));
  expect(journal.append([], 30)).toEqual([]);
});

test('the events of one append appear together or not at all', () => {
  using temp = tempDatabase();
  const journal = Journal.create(temp.db, lead(temp.db, 'r1'), NO_SECRETS);
  journal.append([started()], 1);

  expect(() => journal.append([usage(1), started()], 2)).toThrow('entry 3 is run.started');

  expect(journal.read(0)).toEqual([{ seq: 1, at: 1, event: started() }]);
});

test('a run begins with run.started, exists once, and is opened only if it exists', () => {
  using temp = tempDatabase();
  const lease = lead(temp.db, 'r1');

  expect(() => Journal.open(temp.db, lease, NO_SECRETS)).toThrow('there is no run r1');
  expect(() => Journal.create(temp.db, lease, NO_SECRETS).append([usage(1)], 1)).toThrow(
    'entry 1 is',
  );
  expect(listRuns(temp.db)).toEqual([]);
  Journal.create(temp.db, lease, NO_SECRETS).append([started()], 1);
  expect(() => Journal.create(temp.db, lease, NO_SECRETS)).toThrow('exists already');
});

test('after the lease is released nothing can be appended', () => {
  using temp = tempDatabase();
  const lease = lead(temp.db, 'r1');
  const journal = Journal.create(temp.db, lease, NO_SECRETS);
  journal.append([started()], 1);
  releaseLease(temp.db, lease);

  expect(() => journal.append([usage(1)], 2)).toThrow('Another engine has taken over run r1');
  expect(journal.read(1)).toEqual([]);
});

test('a kill -9 in the middle of writing loses no acknowledged entry', async () => {
  using temp = tempDatabase();
  for (const run of ['r1', 'r2', 'r3']) {
    await using engine = new Engine(temp.stateDir, run);
    await engine.ask('lead');
    engine.send('flood');
    for (let n = 0; n < 50; n++) await engine.answer();
    await engine.kill();
    const acknowledged = Number((await engine.rest()).at(-1) ?? 50);

    const seqs = readEntries(temp.db, run, 0).map(({ seq }) => seq);

    expect(acknowledged).toBeGreaterThanOrEqual(50);
    expect(seqs.length).toBeGreaterThanOrEqual(acknowledged);
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
  }
  expect(temp.db.get('PRAGMA integrity_check')).toEqual({ integrity_check: 'ok' });
});

test('a reader sees a growing, gap-free journal while another process writes', async () => {
  using temp = tempDatabase();
  using reader = openForReading(temp.stateDir) as Database;
  await using engine = new Engine(temp.stateDir, 'r1');
  await engine.ask('lead');
  engine.send('flood');

  let last = 0;
  for (let n = 0; n < 50; n++) {
    const acknowledged = Number(await engine.answer());
    const seqs = readEntries(reader, 'r1', last).map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_, index) => last + 1 + index));
    last = seqs.at(-1) ?? last;
    expect(last).toBeGreaterThanOrEqual(acknowledged);
  }
});

test('runs are listed newest first with what their entries say', () => {
  using temp = tempDatabase();
  write(temp.db, 'old', 100, [started('first'), usage(1), finished]);
  write(temp.db, 'again', 200, [started('second'), finished, { type: 'run.resumed', retry: [] }]);
  write(temp.db, 'new', 300, [started('third')]);

  expect(listRuns(temp.db)).toEqual([
    { run: 'new', planName: 'third', startedAt: 300, lastAt: 300, entries: 1, outcome: null },
    { run: 'again', planName: 'second', startedAt: 200, lastAt: 202, entries: 3, outcome: null },
    {
      run: 'old',
      planName: 'first',
      startedAt: 100,
      lastAt: 102,
      entries: 3,
      outcome: 'succeeded',
    },
  ]);
  expect(['old', 'again', 'none'].map((run) => outcomeOf(temp.db, run))).toEqual([
    'succeeded',
    null,
    null,
  ]);
});

test('a thousand runs are listed in no noticeable time', () => {
  using temp = tempDatabase();
  const { db } = temp;
  db.exec(`
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
      INSERT INTO runs SELECT 'run' || i, 'plan', i FROM n;
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
      INSERT INTO entries (run, seq, at, event)
        SELECT run, i, started_at + i, '{"type":"attempt.usage"}' FROM runs, n`);

  const times = Array.from({ length: 5 }, () => {
    const before = process.threadCpuUsage();
    listRuns(db);
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  });
  const rows = listRuns(db);

  expect(rows.length).toBe(1000);
  expect(rows[0]).toEqual({
    run: 'run1000',
    planName: 'plan',
    startedAt: 1000,
    lastAt: 1100,
    entries: 100,
    outcome: null,
  });
  // About 6 ms of processor time, which others on the machine do not make longer.
  expect(Math.min(...times)).toBeLessThan(150);
});

test('a run is found by its id, by the beginning of it, or as the one made last', () => {
  using temp = tempDatabase();
  write(temp.db, 'abc', 100, [started()]);
  write(temp.db, 'abcd', 100, [started()]);
  write(temp.db, 'xyz', 50, [started()]);

  expect({
    newest: findRun(temp.db, null),
    unique: findRun(temp.db, 'x'),
    exact: findRun(temp.db, 'abc'),
    ambiguous: findRun(temp.db, 'ab'),
    none: findRun(temp.db, 'q'),
    wildcard: findRun(temp.db, '%'),
  }).toEqual({
    newest: { kind: 'found', run: 'xyz' },
    unique: { kind: 'found', run: 'xyz' },
    exact: { kind: 'found', run: 'abc' },
    ambiguous: { kind: 'ambiguous', runs: ['abcd', 'abc'] },
    none: { kind: 'none' },
    wildcard: { kind: 'none' },
  });
});

test('without any run there is none to find', () => {
  using temp = tempDatabase();

  expect(findRun(temp.db, null)).toEqual({ kind: 'none' });
});

test('an entry cannot hold a value that is not JSON', () => {
  using temp = tempDatabase();
  write(temp.db, 'r1', 1, [started()]);

  expect(() => temp.db.run("UPDATE entries SET event = '{'")).toThrow('malformed JSON');
  expect(readEntries(temp.db, 'r1', 0)).toEqual([{ seq: 1, at: 1, event: started() }]);
});

function write(db: Database, run: string, at: number, events: Parameters<Journal['append']>[0]) {
  const journal = Journal.create(db, lead(db, run), NO_SECRETS);
  events.forEach((event, index) => {
    journal.append([event], at + index);
  });
}
