/** The registry of agents. */

import { expect, test } from 'vitest';
import { endOf } from '../../test/support/job.ts';
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

test.each([claude, codex, gemini, opencode])(
  '$name: its result decides, whatever the exit',
  (agent) => {
    const result = { type: 'result', ok: true, text: 'Done.' } as const;
    for (const exit of [
      { kind: 'signalled', signal: 'SIGKILL' },
      { kind: 'aborted', reason: 'it lingered' },
    ] as const) {
      const end = endOf({ result, spoke: true, exit });
      expect(agent.outcome(end)).toEqual({ ok: true, text: 'Done.' });
    }
    const failure = { kind: 'turns', message: 'Too many.' } as const;
    for (const code of [0, 145]) {
      const end = endOf({
        result: { ...result, ok: false, failure },
        exit: { kind: 'exited', code },
      });
      expect(agent.outcome(end)).toEqual({ ok: false, failure });
    }
  },
);
