/** What each reason to wait is called. */

import { expect, test } from 'vitest';
import type { Wait } from '../model/state.ts';
import { waitText } from './task-view.ts';

const NOW = Date.parse('2026-07-01T12:00:00Z');
const clock = (at: number): string => new Date(at).toISOString().slice(11, 16);

test.each<[Wait, string]>([
  [{ kind: 'slot', workers: 4 }, 'a worker slot (4 of 4 busy)'],
  [{ kind: 'group', group: 'db', busy: 1, limit: 1 }, 'group db (1 of 1 busy)'],
  [{ kind: 'needs', tasks: ['a', 'b'] }, 'needs a, b'],
  [{ kind: 'scope', task: 'a' }, 'overlaps with a'],
  [{ kind: 'checkout', task: 'a' }, 'a works in your checkout'],
  [{ kind: 'workspace' }, 'its old workspace is being removed'],
  [{ kind: 'money' }, 'budget: its expected cost is already spent or reserved'],
  [{ kind: 'room', of: 'memory', why: '1 MB is left.' }, 'memory: 1 MB is left.'],
  [{ kind: 'retry', until: NOW + 2_000 }, 'retry in 2.0 s'],
  [{ kind: 'retry', until: NOW }, 'retry now'],
  [
    { kind: 'limit', agent: 'claude', until: NOW + 3_600_000 },
    'waits: claude is at its limit until 13:00',
  ],
  [
    { kind: 'limit', agent: 'claude', until: NOW + 3 * 86_400_000 },
    'waits: claude is at its limit until 2026-07-04 12:00',
  ],
  [
    { kind: 'probe', agent: 'claude', task: 'a' },
    'waits: claude was at its limit, a tries it first',
  ],
  [
    { kind: 'refusal', agent: 'codex', why: 'auth' },
    'waits: codex is not signed in; sign in, then `landfast retry`',
  ],
  [{ kind: 'paused' }, 'the run is paused'],
  [{ kind: 'stopping' }, 'the run is stopping'],
  [{ kind: 'queue' }, 'waits to land'],
])('%j', (wait, text) => {
  expect(waitText(wait, { now: NOW, clock })).toBe(text);
});
