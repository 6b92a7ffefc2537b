/** How a session is set up for a job: model, mode and servers, or a refusal. */

import { expect, test } from 'vitest';
import { endOf, Talk } from '../../../test/support/acp-talk.ts';
import { NO_OPTIONS } from '../../model/plan.ts';
import type { Job } from '../agent.ts';

const OFFER = {
  modes: {
    currentModeId: 'yolo',
    availableModes: [{ id: 'default' }, { id: 'yolo' }, { id: 'plan' }],
  },
  models: { currentModelId: 'm1', availableModels: [{ modelId: 'm1' }, { modelId: 'm2' }] },
};
const OPTIONS = {
  configOptions: [
    {
      ...{ id: 'mo', category: 'mode', type: 'select', currentValue: 'default' },
      options: ['default', 'acceptEdits', 'bypassPermissions', 'dontAsk'].map((value) => ({
        value,
      })),
    },
    {
      ...{ id: 'ml', category: 'model', type: 'select', currentValue: 'm1' },
      options: [{ group: 'g', name: 'G', options: [{ value: 'm1' }, { value: 'm2' }] }],
    },
  ],
};

// biome-ignore format: a table is read by its rows
test.each<[Partial<Job>, object, readonly (readonly [string, object])[]]>([
  [{ permissions: 'acceptEdits' }, OFFER, [['session/set_mode', { modeId: 'default' }]]],
  [{ permissions: 'bypassPermissions' }, OFFER, [['session/set_mode', { modeId: 'default' }]]],
  [{ permissions: 'default' }, OPTIONS, []],
  [{ permissions: 'acceptEdits' }, OPTIONS, [['session/set_config_option', { configId: 'mo', value: 'acceptEdits' }]]],
  [{ permissions: 'bypassPermissions' }, OPTIONS, [['session/set_config_option', { configId: 'mo', value: 'bypassPermissions' }]]],
  [{ readOnly: true }, OPTIONS, [['session/set_config_option', { configId: 'mo', value: 'dontAsk' }]]],
  [{ readOnly: true }, { modes: { currentModeId: 'build', availableModes: [{ id: 'build' }, { id: 'plan' }] } }, [['session/set_mode', { modeId: 'plan' }]]],
  [{}, { modes: { currentModeId: 'build', availableModes: [{ id: 'build' }, { id: 'plan' }] } }, []],
  [{ model: 'm2', permissions: 'default' }, OPTIONS, [['session/set_config_option', { configId: 'ml', value: 'm2' }]]],
  [{ model: 'm2' }, OFFER, [['session/set_model', { modelId: 'm2' }], ['session/set_mode', { modeId: 'default' }]]],
  [{ model: 'm1', permissions: 'default' }, OPTIONS, []],
])('%j is set up before the prompt', (part, offer, settings) => {
  const talk = new Talk(part).begin(offer);
  while (talk.methods.at(-1) !== 'session/prompt') talk.answer(null);
  expect(talk.said.slice(2, -1).map(({ method, params }) => [method, params])).toEqual(
    settings.map(([method, params]) => [method, { sessionId: 's1', ...params }]),
  );
});

test.each<[string, Partial<Job>, object]>([
  ['It does not let its model be chosen.', { model: 'm9' }, {}],
  ['It does not offer the model m9, but: m1, m2.', { model: 'm9' }, OFFER],
  ['It began a session without a name.', {}, { sessionId: 7 }],
])('%s', (why, part, opened) => {
  const talk = new Talk(part).begin(opened);
  const message = `The agent cannot be used. ${why}`;
  expect(endOf(talk)).toEqual({ kind: 'permanent', message });
  expect(talk.methods).toEqual(['initialize', 'session/new']);
});

const MCP = {
  local: { command: ['node', 's.js'], env: { WORD: 'x' } },
  remote: { url: 'http://localhost/mcp' },
};

test('servers of the plan are given to the session', () => {
  const talk = new Talk({ options: { ...NO_OPTIONS, mcp: MCP } });
  talk.begin({}, { mcpCapabilities: { http: true } });
  expect(talk.said[1]?.params).toEqual({
    cwd: '/repo',
    mcpServers: [
      { name: 'local', command: 'node', args: ['s.js'], env: [{ name: 'WORD', value: 'x' }] },
      { type: 'http', name: 'remote', url: 'http://localhost/mcp', headers: [] },
    ],
  });
});

test('a server that the agent cannot reach is refused by name', () => {
  const talk = new Talk({ options: { ...NO_OPTIONS, mcp: MCP } }).answer({ protocolVersion: 1 });
  const message = 'The agent cannot be used. It cannot use MCP server remote by its url.';
  expect(endOf(talk)).toEqual({ kind: 'permanent', message });
});
