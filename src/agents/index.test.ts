/** The registry of agents. */

import { expect, test } from 'vitest';
import { claude } from './claude.ts';
import { AGENT_NAMES, findAgent } from './index.ts';
import { shell } from './shell.ts';

test('an agent is found by its name, and an unknown one is not', () => {
  expect(AGENT_NAMES).toEqual(['claude', 'shell']);
  expect(AGENT_NAMES.map(findAgent)).toEqual([claude, shell]);
  expect(findAgent('nobody')).toBeNull();
});
