/** One engine per run: who may have it, when it is free again, and that a fenced engine is mute. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import {
  isAlive,
  type ProcessIdentity,
  processStart,
  thisHost,
  thisProcess,
} from '../../src/base/process-identity.ts';
import { Journal } from '../../src/journal/journal.ts';
import {
  acquireLease,
  dropUnborn,
  LeaseLostError,
  leaseHolder,
  releaseLease,
  renewLease,
} from '../../src/journal/lease.ts';
import { NO_SECRETS } from '../../src/journal/mask.ts';
import { Engine, lead, started, tempDatabase, usage } from './support.ts';

const here: ProcessIdentity = { pid: 10, start: 'a', host: 'here' };
const near: ProcessIdentity = { pid: 11, start: 'b', host: 'here' };
const far: ProcessIdentity = { pid: 10, start: 'a', host: 'elsewhere' };
const alive = { now: 1_000, isAlive: () => true };
const dead = { now: 1_000, isAlive: () => false };

// Four dispatchers took the same work at once (detent#193).
test('of engines that want one run at the same moment exactly one gets it', async () => {
  using temp = tempDatabase();
  await using a = new Engine(temp.stateDir, 'r1');
  await using b = new Engine(temp.stateDir, 'r1');
  await using c = new Engine(temp.stateDir, 'r1');
  await using d = new Engine(temp.stateDir, 'r1');
  const engines = [a, b, c, d];

  const answers = await Promise.all(engines.map((engine) => engine.ask('lead')));
  const holder = engines[answers.indexOf('held 1')];

  const busy = `busy ${holder?.process.pid}`;
  expect(answers.toSorted()).toEqual([busy, busy, busy, 'held 1']);
});

test('the lease of an engine that was killed is taken over with the next token', async () => {
  using temp = tempDatabase();
  await using engine = new Engine(temp.stateDir, 'r1');
  expect(await engine.ask('lead')).toBe('held 1');
  expect(await engine.ask('append')).toBe('2');
  const world = { now: Date.now(), isAlive };
  const busy = acquireLease(temp.db, 'r1', thisProcess(), world);
  await engine.kill();
  const held = acquireLease(temp.db, 'r1', thisProcess(), world);

  const { pid } = engine.process;
  expect(busy).toEqual({
    kind: 'busy',
    owner: { pid, start: expect.any(String), host: thisHost() },
  });
  expect(held).toEqual({ kind: 'held', run: 'r1', token: 2 });
});

test('an engine that was thought dead and wakes up again cannot append', async () => {
  using temp = tempDatabase();
  await using engine = new Engine(temp.stateDir, 'r1');
  await engine.ask('lead');
  expect(await engine.ask('append')).toBe('2');
  engine.process.kill('SIGSTOP');

  const lease = acquireLease(temp.db, 'r1', thisProcess(), {
    now: Date.now(),
    isAlive: () => false,
  });
  if (lease.kind === 'busy') throw new Error('the lease was not free');
  const journal = Journal.open(temp.db, lease, NO_SECRETS);
  journal.append([usage(7)], 5);
  engine.process.kill('SIGCONT');

  expect(await engine.ask('append')).toBe('LeaseLostError');
  expect(journal.read(2)).toEqual([{ seq: 3, at: 5, event: usage(7) }]);
  expect(await engine.ask('release')).toBe('released'); // Of a lease it does not hold: no effect.
  expect(journal.append([usage(8)], 6)).toEqual([{ seq: 4, at: 6, event: usage(8) }]);
});

test('a released lease is free, and its token is never given again', () => {
  using temp = tempDatabase();
  const first = lead(temp.db, 'r1');
  releaseLease(temp.db, first);

  expect(lead(temp.db, 'r1').token).toBe(first.token + 1);
});

test('leases of different runs do not disturb each other', () => {
  using temp = tempDatabase();

  expect(acquireLease(temp.db, 'r1', here, alive).kind).toBe('held');
  expect(acquireLease(temp.db, 'r2', here, alive).kind).toBe('held');
});

test('on this host a lease lives as long as its process, however long it is silent', () => {
  using temp = tempDatabase();
  acquireLease(temp.db, 'r1', here, alive);
  const later = 24 * 3_600_000;

  expect(acquireLease(temp.db, 'r1', near, { ...alive, now: later })).toEqual({
    kind: 'busy',
    owner: here,
  });
  expect(acquireLease(temp.db, 'r1', near, dead)).toEqual({ kind: 'held', run: 'r1', token: 2 });
});

test('a lease of another host is free when it was not renewed for thirty seconds', () => {
  using temp = tempDatabase();
  const lease = acquireLease(temp.db, 'r1', far, alive);
  if (lease.kind === 'busy') throw new Error('the lease was not free');
  renewLease(temp.db, lease, 5_000);
  const at = (now: number) => leaseHolder(temp.db, 'r1', { ...dead, host: 'here', now });

  expect([at(35_000), at(35_001)]).toEqual([far, null]);
});

test('renewing a lost lease is an error', () => {
  using temp = tempDatabase();
  const lease = acquireLease(temp.db, 'r1', here, alive);
  if (lease.kind === 'busy') throw new Error('the lease was not free');
  acquireLease(temp.db, 'r1', near, dead);

  expect(() => renewLease(temp.db, lease, 2_000)).toThrow(LeaseLostError);
});

test('a process is itself only from its start to its end', async () => {
  using temp = tempDatabase();
  await using engine = new Engine(temp.stateDir, 'r1');
  await engine.ask('lead');
  const pid = engine.process.pid ?? 0;
  const owner = { pid, start: processStart(pid), host: thisHost() };
  const reused = { ...owner, start: processStart(process.pid) };

  expect([isAlive(thisProcess()), isAlive(owner), isAlive(reused)]).toEqual([true, true, false]);
  await engine.kill();
  expect([isAlive(owner), processStart(pid)]).toEqual([false, null]);
});

test.runIf(process.platform === 'linux')('a zombie is not alive, though it answers', async () => {
  // The shell becomes a program that never asks how its child ended.
  const shell = spawn('sh', ['-c', 'sleep 100 & echo $!; exec sleep 100'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [output] = await once(shell.stdout, 'data');
  const pid = Number(String(output));
  const name = () => readFileSync(`/proc/${shell.pid}/comm`, 'utf8').trim();
  await vi.waitFor(() => expect(name()).toBe('sleep'), { timeout: 60_000 });
  const owner = { pid, start: processStart(pid), host: thisHost() };
  const before = isAlive(owner);
  process.kill(pid, 'SIGKILL');
  await vi.waitFor(() => expect(processStart(pid)).toBe(null), { timeout: 60_000 });

  expect([before, isAlive(owner), process.kill(pid, 0)]).toEqual([true, false, true]);
  shell.kill('SIGKILL');
  await once(shell, 'exit');
});

test('an owner of unknown start time is judged by its pid', async () => {
  using temp = tempDatabase();
  await using engine = new Engine(temp.stateDir, 'r1');
  await engine.ask('lead');
  const owner = { pid: engine.process.pid ?? 0, start: null, host: thisHost() };

  expect(isAlive(owner)).toBe(true);
  await engine.kill();
  expect(isAlive(owner)).toBe(false);
});

test('a journal can begin right after its lease', () => {
  using temp = tempDatabase();
  const journal = Journal.create(temp.db, lead(temp.db, 'r1'), NO_SECRETS);

  expect(journal.append([started()], 1)).toEqual([{ seq: 1, at: 1, event: started() }]);
});

test('the lease of a dead engine whose run never began can be dropped', () => {
  using temp = tempDatabase();
  acquireLease(temp.db, 'unborn', here, alive);
  expect(dropUnborn(temp.db, { ...alive, host: here.host })).toEqual([]);
  expect(dropUnborn(temp.db, { ...dead, host: here.host })).toEqual(['unborn']);
  expect(temp.db.all('SELECT run FROM leases')).toEqual([]);
});
