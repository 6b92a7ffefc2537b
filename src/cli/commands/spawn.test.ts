import { expect, test } from 'vitest';
import { tasksIn } from './spawn.ts';

test('a list has one task a line; blank lines are none', () => {
  expect(tasksIn(' fix a\r\n\r\n\tfix b \n- fix c')).toEqual(['fix a', 'fix b', '- fix c']);
  expect(tasksIn(' \n')).toEqual([]);
});
