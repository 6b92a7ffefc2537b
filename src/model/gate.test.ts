import { expect, test } from 'vitest';
import { inGateOrder } from './gate.ts';

const order = (
  names: string,
  costs: Readonly<Record<string, number>>,
  gateOrder: 'cheapest' | 'listed' = 'cheapest',
) => {
  const gates = [...names].map((name) => ({ gate: { name, run: 'true', timeoutMs: 1 } }));
  const ran = inGateOrder(gates, { gateOrder }, (name) => costs[name] ?? null);
  return ran.map(({ gate }) => gate.name).join('');
};

test('the cheapest comes first, and equally dear ones as they are listed', () => {
  expect(order('abc', { a: 9, b: 5, c: 1 })).toBe('cba');
  expect(order('abc', { a: 5, b: 5, c: 5 })).toBe('abc');
});

test('a gate without a known duration stays where it is listed', () => {
  expect(order('abc', {})).toBe('abc');
  expect(order('abc', { a: 9, c: 1 })).toBe('cba');
  expect(order('abc', { b: 9, c: 1 })).toBe('acb');
  expect(order('abc', { a: 9, b: 1 })).toBe('bac');
});

test('a declared order is kept', () => {
  expect(order('abc', { a: 9, b: 5, c: 1 }, 'listed')).toBe('abc');
});
