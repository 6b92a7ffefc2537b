/** The registry of agents. */

import { expect, test } from 'vitest';
import { acp } from './acp.ts';
import { claude } from './claude.ts';
import { codex } from './codex.ts';
import { command } from './command.ts';
import { gemini } from './gemini.ts';
import { AGENT_NAMES, findAgent } from './index.ts';
import { opencode } from './opencode.ts';
import { shell } from './shell.ts';

test('an agent is found by its name, and an unknown one is not', () => {
  expect(AGENT_NAMES).toEqual(['claude', 'codex', 'gemini', 'opencode', 'acp', 'command', 'shell']);
  expect(AGENT_NAMES.map(findAgent)).toEqual([
    claude,
    codex,
    gemini,
    opencode,
    acp,
    command,
    shell,
  ]);
  expect(findAgent('nobody')).toBeNull();
});
