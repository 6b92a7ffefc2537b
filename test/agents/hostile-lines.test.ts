/** Lines that no agent should print, given to every agent's parser: heard, never fatal. */

import { expect, test } from 'vitest';
import { AGENTS } from '../../src/agents/index.ts';
import { jobOf } from '../support/job.ts';

const MEGABYTE = 'x'.repeat(1024 * 1024);
const HUGE = MEGABYTE.repeat(50);

const LINES: readonly (readonly [string, string])[] = [
  ['50 MB of nothing', HUGE],
  ['50 MB of text in an event', `{"type":"text","session_id":"s","text":"${HUGE}"}`],
  ['half a line', '{"type":"assistant","message":{"content":[{"type":"te'],
  ['a bare number', '123'],
  ['null', 'null'],
  ['a list', '[]'],
  ['an unknown type', '{"type":"never.heard.of","session_id":"s","part":{},"item":{}}'],
  ['fields of the wrong type', '{"type":7,"item":"x","part":3,"message":[],"result":{},"id":{}}'],
  ['characters that were no UTF-8', '\uFFFD\uFFFD{\uFFFD"type":"result"}'],
  ['control characters', '\u0000\u001b[31m\u0007'],
  ['deep nesting', `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`],
];

test.each(AGENTS.map((agent) => [agent.name, agent] as const))('%s', (_, agent) => {
  const parser = agent.parser(jobOf({ options: { ...jobOf().options, command: ['true'] } }));
  for (const [what, line] of LINES) {
    for (const hear of [parser.stdout, parser.stderr]) {
      const events = hear.call(parser, line);
      const results = events.filter((event) => event.type === 'result' && event.ok);
      expect({ what, results }).toEqual({ what, results: [] });
    }
  }
});
