/** No secret reaches the journal, and with it the screen and the notifier, in any field of an event. */

import { expect, test } from 'vitest';
import { Journal, readEntries } from '../../src/journal/journal.ts';
import { maskedChatter, masker } from '../../src/journal/mask.ts';
import type { AgentEvent } from '../../src/model/agent-event.ts';
import type { Event } from '../../src/model/event.ts';
import { Random } from '../sim/random.ts';
import { drawValue, membersOf, readSchema, type Schema } from '../support/from-schema.ts';
import { lead, started, tempDatabase } from './support.ts';

const SECRET = 'hunter2-hunter2';
const mask = masker([SECRET]);
const DRAWS = 30;

/** Events of every type, with the secret in every text. */
function loaded(schema: Schema): readonly unknown[] {
  return membersOf(schema).flatMap((member, index) =>
    Array.from({ length: DRAWS }, (_, nth) => {
      const random = new Random('masked', index, nth);
      return drawValue(member, { random, text: () => `before ${SECRET} after` });
    }),
  );
}

/** The fields in which the secret still is. */
function leaks(value: unknown, key = ''): readonly string[] {
  if (typeof value === 'string') return value.includes(SECRET) ? [key] : [];
  if (Array.isArray(value)) return value.flatMap((each) => leaks(each, key));
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([name, each]) => [
    ...(name.includes(SECRET) ? [`key ${name}`] : []),
    ...(name === 'plan' ? [] : leaks(each, name)),
  ]);
}

/** What opts out: ids, commits, refs. To add one is to say that no secret can be in it. */
const OPTED_OUT = [
  'a added agent ahead b base branch by commit commits dependency fork gate head keys landedSince',
  'model onto passes planHash ref removed retry sections session target task tip tree',
].flatMap((line) => line.split(' '));

test('entries hold a secret in no field but those that opt out', () => {
  using temp = tempDatabase();
  const journal = Journal.create(temp.db, lead(temp.db, 'r1'), mask);
  const events = (loaded(readSchema('event')) as readonly Event[]).filter(
    ({ type }) => type !== 'run.started',
  );
  const recorded = journal.append([started(), ...events], 1);
  const stored = readEntries(temp.db, 'r1', 0);
  expect(stored).toEqual(recorded);
  expect([...new Set(leaks(stored))].sort()).toEqual(OPTED_OUT);
});

test('a field of an event that is not known yet is masked', () => {
  using temp = tempDatabase();
  const journal = Journal.create(temp.db, lead(temp.db, 'r1'), mask);
  const event = { type: 'task.noted', task: 'a', note: SECRET, lines: [{ words: SECRET }] };
  const [, entry] = journal.append([started(), event as unknown as Event], 1);
  expect(entry?.event).toEqual({
    type: 'task.noted',
    task: 'a',
    note: '[MASKED]',
    lines: [{ words: '[MASKED]' }],
  });
});

test('a field may be plain in one event and text in another', () => {
  using temp = tempDatabase();
  const journal = Journal.create(temp.db, lead(temp.db, 'r1'), masker(['red', SECRET]));
  const broken: Event = {
    type: 'gate.broken',
    task: 'a',
    gate: 'tests',
    why: 'red',
    command: 'echo red',
    exitCode: 1,
    output: '',
    attended: false,
  };
  const files = [{ path: 'a.txt', how: 'command', by: `make KEY=${SECRET}` }] as const;
  const events: Event[] = [started(), broken, { type: 'merge.settled', task: 'a', files }];
  const [, first, second] = journal.append(events, 1);
  expect(first?.event).toMatchObject({ why: 'red', command: 'echo [MASKED]' });
  expect(second?.event).toMatchObject({ files: [{ by: 'make KEY=[MASKED]' }] });
});

test('chatter holds a secret in no field but ids', () => {
  const events = loaded(readSchema('message', 'AgentEvent')) as readonly AgentEvent[];
  const masked = events.map((event) => maskedChatter({ from: 'agent', event }, mask));
  expect([...new Set(leaks(masked))]).toEqual(['id']);
  const line = maskedChatter({ from: 'stdout', text: SECRET }, mask);
  expect(line).toEqual({ from: 'stdout', text: '[MASKED]' });
});

test('a masked event stays as it is when it is masked again', () => {
  const nested = masker(['MASK', 'ED]', SECRET]);
  const once = nested(`a ${SECRET} b`);
  expect([once, nested(once)]).toEqual(['a [MASKED] b', 'a [MASKED] b']);
});
