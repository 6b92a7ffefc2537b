/**
 * The real Codex CLI, driven through our agent's command, parser and outcome, against a scripted
 * Responses API: every option reaches it and does what it says.
 */

import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import type { Job } from '../../src/agents/agent.ts';
import { turnMetadata } from '../support/agents/dialects.ts';
import { MCP_SERVER, ofType, resultOf, sessionOf, workplace } from '../support/agents/drive.ts';
import { CODEX } from '../support/agents/real-agents.ts';
import { untold } from '../support/agents/scene.ts';
import { say, toolCall } from '../support/agents/scripted-api.ts';

const { shell } = CODEX;

test('a resumed or forked session knows what was said, and uses only what it adds', async () => {
  await using place = await workplace(CODEX, [say('First part.'), say('Second part.')]);
  const first = await place.drive({ prompt: 'The first prompt. [[scenario:it]]' });
  const session = sessionOf(first.events);

  const resumed = await place.drive({ resume: session });
  const forked = await place.drive({ resume: session, fork: true });

  expect(resumed.outcome).toEqual({ ok: true, text: 'Second part.' });
  expect(sessionOf(resumed.events)).toBe(session);
  expect(sessionOf(forked.events)).not.toBe(session);
  const usage = { costUsd: 0, inputTokens: 100, outputTokens: 20 };
  expect([first, resumed, forked].map(({ events }) => resultOf(events)?.usage)).toEqual([
    ...[usage, usage, usage],
  ]);
  const [, second, third] = place.api.requests.map(({ conversation }) => conversation);
  expect(second).toContain('The first prompt.');
  expect(second).toContain('First part.');
  expect(third).toContain('Second part.');
});

test('the model and the schema reach the service, and the answer is data', async () => {
  await using place = await workplace(CODEX, [say('{"ok":true}')]);
  const schema = {
    type: 'object',
    properties: { ok: { type: 'boolean' } },
    required: ['ok'],
    additionalProperties: false,
  };

  const { outcome } = await place.drive({ model: 'another' }, { schema });

  expect(outcome).toEqual({ ok: true, text: '{"ok":true}', structured: { ok: true } });
  expect(place.api.requests.map(({ body }) => [body.model, body.text])).toEqual([
    ['another', { format: expect.objectContaining({ type: 'json_schema', schema }) }],
  ]);
});

test('an answer that does not fit the schema is a failure', async () => {
  await using place = await workplace(CODEX, [say('I would rather not.')]);

  const { outcome } = await place.drive({}, { schema: { type: 'object' } });

  const message = 'The agent’s answer is not in the form that was asked for.';
  expect(outcome).toEqual({ ok: false, failure: { kind: 'schema', message } });
});

/** Writes to the workspace, to a further folder and to a third one that no option names. */
const WRITES = 'echo x > in; echo x > ../further/in; echo x > ../third/in; echo done';

/** An attempt that tries all three, and the folders that it wrote to. */
async function attemptWrites(permissions: Job['permissions'], isOpen = false) {
  await using place = await workplace(CODEX, [shell(WRITES), say('Done.')]);
  const [further, third] = [join(place.root, 'further'), join(place.root, 'third')];
  await mkdir(further);
  await mkdir(third);
  const driven = await place.drive({ permissions }, { dirs: isOpen ? [further] : [] });
  const written = [place.work, further, third].filter((dir) => existsSync(join(dir, 'in')));
  const turn = turnMetadata(place.api.requests[0]?.headers ?? {});
  return { ...driven, turn, written: written.map((dir) => basename(dir)) };
}

/** Not every machine can build the CLI's sandbox: a container may lack the rights. */
const hasSandbox = (await attemptWrites('acceptEdits')).outcome.ok;

test.skipIf(!hasSandbox).each([
  ['plan', 'without a further folder', []],
  ['acceptEdits', 'without a further folder', ['work']],
  ['acceptEdits', 'with a further folder', ['work', 'further']],
  ['auto', 'without a further folder', ['work']],
] as const)('%s %s writes where it may', async (permissions, folder, expected) => {
  const isOpen = folder === 'with a further folder';

  const { outcome, turn, written } = await attemptWrites(permissions, isOpen);

  expect(outcome).toEqual({ ok: true, text: 'Done.' });
  expect(turn).toMatchObject({ auto_review_enabled: permissions === 'auto' });
  expect(written).toEqual(expected);
});

test.skipIf(hasSandbox).each(['plan', 'acceptEdits', 'auto'] as const)(
  'without a sandbox %s writes nothing, and the failure says why',
  async (permissions) => {
    const { events, outcome, written } = await attemptWrites(permissions);

    const message = expect.stringContaining('Codex could not set up its sandbox');
    expect(outcome).toMatchObject({ ok: false, failure: { message } });
    expect(ofType(events, 'warning').length).toBeGreaterThan(0);
    expect(written).toEqual([]);
  },
);

test('bypassPermissions writes everywhere', async () => {
  const { outcome, turn, written } = await attemptWrites('bypassPermissions');

  expect(outcome).toEqual({ ok: true, text: 'Done.' });
  expect(turn).toMatchObject({ auto_review_enabled: false });
  expect(written).toEqual(['work', 'further', 'third']);
});

test.each([
  ['bypassPermissions', true, 'hey s3'],
  ['acceptEdits', false, 'MCP tool call requires approval, but approval policy is never'],
] as const)('with %s an MCP server’s tool runs: %s', async (permissions, ok, output) => {
  const call = toolCall('tell', { text: 'hey' }, 'mcp__my_keeper');
  await using place = await workplace(CODEX, [call, say('Done.')]);
  const server = join(place.root, 'server.cjs');
  await writeFile(server, MCP_SERVER);
  const command = [process.execPath, server];

  const { events, outcome } = await place.drive(
    { permissions },
    { mcp: { 'my-keeper': { command, env: { WORD: 's3' } } } },
  );

  expect(outcome).toEqual({ ok: true, text: 'Done.' });
  expect(ofType(events, 'tool.start')).toMatchObject([
    { name: 'mcp:my-keeper/tell', input: { arguments: { text: 'hey' } } },
  ]);
  expect(ofType(events, 'tool.end')).toMatchObject([{ ok, output }]);
  expect(ofType(events, 'denied')).toMatchObject(
    ok ? [] : [{ type: 'denied', tool: 'mcp:my-keeper/tell' }],
  );
});

test('a prompt of 300 KB arrives whole', async () => {
  await using place = await workplace(CODEX, [say('Read.')]);
  const prompt = `--help\n/clear\n[[scenario:it]]\n${'long '.repeat(60_000)}the end`;

  const { outcome } = await place.drive({ prompt });

  expect(outcome).toEqual({ ok: true, text: 'Read.' });
  expect(untold(place.api.requests[0], prompt)).toEqual([]);
});
