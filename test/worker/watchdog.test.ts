/** When an agent has had enough time. The clock is simulated. */

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { AgentEvent } from '../../src/model/agent-event.ts';
import { Watchdog } from '../../src/worker/watchdog.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const SECOND = 1_000;
const LIMITS = { timeoutMs: 600 * SECOND, idleMs: 60 * SECOND };
const call = (id: string, input: unknown = { command: 'npm test' }): AgentEvent => ({
  type: 'tool.start',
  id,
  name: 'Bash',
  input,
});
const endOf = (id: string): AgentEvent => ({ type: 'tool.end', id, ok: true, output: '' });

test('silence ends it, a sign of life does not', () => {
  using watch = new Watchdog(LIMITS);
  vi.advanceTimersByTime(59 * SECOND);
  watch.alive();
  vi.advanceTimersByTime(59 * SECOND);
  expect(watch.signal.aborted).toBe(false);
  vi.advanceTimersByTime(SECOND);
  expect(watch.signal.reason).toMatchObject({ failure: { kind: 'idle-timeout', afterMs: 60_000 } });
});

test('a tool that runs may be silent for longer, and no longer than that', () => {
  using watch = new Watchdog(LIMITS);
  watch.saw(call('1'));
  vi.advanceTimersByTime(239 * SECOND);
  expect(watch.signal.aborted).toBe(false);
  vi.advanceTimersByTime(SECOND);
  expect(watch.signal.reason).toMatchObject({
    failure: { kind: 'idle-timeout', afterMs: 240_000 },
  });
});

test('a retry that was announced extends the limit by its delay', () => {
  using watch = new Watchdog(LIMITS);
  const failure = { kind: 'rate-limited', message: 'later' } as const;
  watch.saw({ type: 'retry', attempt: 1, max: 3, delayMs: 40 * SECOND, failure });
  vi.advanceTimersByTime(99 * SECOND);
  expect(watch.signal.aborted).toBe(false);
  vi.advanceTimersByTime(SECOND);
  expect(watch.signal.aborted).toBe(true);
});

test('the total limit counts whatever happens', () => {
  using watch = new Watchdog(LIMITS);
  for (let second = 0; second < 600; second += 10) {
    watch.alive();
    vi.advanceTimersByTime(10 * SECOND);
  }
  expect(watch.signal.reason).toMatchObject({ failure: { kind: 'total-timeout' } });
});

test('after its last word it has a few seconds to go, unless work goes on behind it', () => {
  using watch = new Watchdog(LIMITS);
  watch.saw({ type: 'activity', what: 'background', background: 1 });
  watch.saw({ type: 'result', ok: true, text: '' });
  vi.advanceTimersByTime(30 * SECOND);
  expect(watch.signal.aborted).toBe(false);
  watch.saw({ type: 'activity', what: 'background', background: 0 });
  watch.saw({ type: 'result', ok: true, text: '' });
  vi.advanceTimersByTime(10 * SECOND);
  expect(watch.signal.reason).toEqual({ lingered: true });
});

test('an agent that cannot log in is not waited for', () => {
  using watch = new Watchdog(LIMITS);
  const failure = { kind: 'auth', message: '401' } as const;
  watch.saw({ type: 'retry', attempt: 1, max: 10, delayMs: 500, failure });
  expect(watch.signal.reason).toEqual({ failure });
});

test('the same call twenty times in a row is stuck; other calls in between are not', () => {
  using watch = new Watchdog(LIMITS);
  for (let nth = 1; nth < 20; nth += 1) {
    watch.saw(call(`a${nth}`));
    watch.saw(endOf(`a${nth}`));
  }
  watch.saw(call('other', { command: 'ls' }));
  for (let nth = 1; nth < 20; nth += 1) watch.saw(call(`b${nth}`));
  expect(watch.signal.aborted).toBe(false);
  watch.saw(call('b20'));
  expect(watch.signal.reason).toMatchObject({ failure: { kind: 'stuck' } });
});

test('a script has no idle limit', () => {
  using watch = new Watchdog({ ...LIMITS, idleMs: Number.POSITIVE_INFINITY });
  vi.advanceTimersByTime(599 * SECOND);
  expect(watch.signal.aborted).toBe(false);
});

test('while it is halted no time passes, however long that is', () => {
  using watch = new Watchdog(LIMITS);
  vi.advanceTimersByTime(40 * SECOND);
  watch.halt();
  vi.advanceTimersByTime(10_000 * SECOND);
  watch.alive(); // A line that was on its way.
  vi.advanceTimersByTime(10_000 * SECOND);
  expect(watch.signal.aborted).toBe(false);
  watch.goOn();
  vi.advanceTimersByTime(59 * SECOND);
  expect(watch.signal.aborted).toBe(false);
  vi.advanceTimersByTime(SECOND);
  expect(watch.signal.reason).toMatchObject({ failure: { kind: 'idle-timeout' } });
});

test('the total time stands still, too', () => {
  using watch = new Watchdog({ ...LIMITS, idleMs: Number.POSITIVE_INFINITY });
  vi.advanceTimersByTime(599 * SECOND);
  watch.halt();
  vi.advanceTimersByTime(3_600 * SECOND);
  watch.goOn();
  expect(watch.signal.aborted).toBe(false);
  vi.advanceTimersByTime(SECOND);
  expect(watch.signal.reason).toMatchObject({ failure: { kind: 'total-timeout' } });
});

test('time while the machine sleeps does not count', () => {
  let asleep = 0;
  const awake = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => awake() + asleep);
  using watch = new Watchdog(LIMITS);
  vi.advanceTimersByTime(30 * SECOND);
  asleep = 8 * 3_600 * SECOND;
  vi.advanceTimersByTime(28 * SECOND);
  expect(watch.signal.aborted).toBe(false);
  vi.advanceTimersByTime(3 * SECOND);
  expect(watch.signal.reason).toMatchObject({ failure: { kind: 'idle-timeout' } });
});
