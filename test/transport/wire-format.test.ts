import { describe, expect, test } from 'vitest';
import type { AgentEvent } from '../../src/model/agent-event.ts';
import type { Effect, Message } from '../../src/model/effect.ts';
import {
  decodeEffect,
  decodeMessage,
  encodeEffect,
  encodeMessage,
} from '../../src/transport/wire-format.ts';
import { Random } from '../sim/random.ts';
import { drawValue, membersOf, readSchema, type Schema } from '../support/from-schema.ts';

const EACH = 40;

/** Values of every member of a union, many of each. */
function drawn(schema: Schema): readonly unknown[] {
  return membersOf(schema).flatMap((member, index) =>
    Array.from({ length: EACH }, (_, nth) => {
      const random = new Random('wire', index, nth);
      const text = () => random.pick(['', 'plain', 'ünïcode ✓', '"quoted"\n\\', '\u2028 \0']);
      return drawValue(member, { random, text });
    }),
  );
}

test('every effect survives JSON and its schema', () => {
  const effects = drawn(readSchema('effect')) as readonly Effect[];
  for (const effect of effects) expect(decodeEffect(encodeEffect(effect))).toEqual(effect);
  expect(new Set(effects.map(({ kind }) => kind)).size).toBe(6);
});

test('every event and all chatter survive JSON and their schemas', () => {
  const facts = drawn(readSchema('event')).map((event) => ({ kind: 'fact', event }) as Message);
  const lines = (drawn(readSchema('message', 'AgentEvent')) as readonly AgentEvent[]).map(
    (event) => ({ from: 'agent', event }),
  );
  const around = ['stdout', 'stderr', 'prompt', 'setup', 'checks'].map((from) => ({
    from,
    text: 'A line.',
  }));
  const chatter = [...lines, ...around].map(
    (line) => ({ kind: 'chatter', task: 'a', attempt: 1, line }) as Message,
  );
  for (const message of [...facts, ...chatter]) {
    expect(decodeMessage(encodeMessage(message))).toEqual(message);
  }
  expect(facts.length).toBeGreaterThan(45 * EACH);
});

const RELEASE: Effect = { kind: 'release', task: 'a', succeeded: true, safe: [] };

describe('a reader', () => {
  test('accepts fields that it does not know, and keeps them', () => {
    const text = JSON.stringify({ version: 1, later: 1, effect: { ...RELEASE, urgency: 'high' } });
    expect(decodeEffect(text)).toEqual({ ...RELEASE, urgency: 'high' });
  });

  test('refuses a version that it does not know, and says which one it reads', () => {
    const text = JSON.stringify({ version: 2, effect: RELEASE });
    expect(() => decodeEffect(text)).toThrow(
      'This is an effect of version 2; this Landfast reads version 1.',
    );
  });

  test.each([
    ['no JSON', 'hello', 'no version'],
    ['no version', JSON.stringify({ effect: RELEASE }), 'no version'],
    ['a missing field', JSON.stringify({ version: 1, effect: { kind: 'release' } }), 'effect'],
    ['an unknown kind', JSON.stringify({ version: 1, effect: { kind: 'dance' } }), 'effect'],
  ])('refuses %s', (_, text, why) => {
    expect(() => decodeEffect(text)).toThrow(why);
  });

  test('refuses a fact whose field has another type', () => {
    const event = { type: 'task.retried', task: 'a', fresh: 'yes' };
    const text = JSON.stringify({ version: 1, message: { kind: 'fact', event } });
    expect(() => decodeMessage(text)).toThrow('This is not a message of Landfast');
  });
});
