/**
 * The real Claude Code CLI, driven through our agent's command, parser and outcome, against a
 * scripted Messages API. The recorded transcripts still describe it.
 */

import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ofType, resultOf, workplace } from '../support/agents/drive.ts';
import { CLAUDE } from '../support/agents/real-agents.ts';
import { httpError, say } from '../support/agents/scripted-api.ts';

const { shell, write } = CLAUDE;
const BYPASS = { permissions: 'bypassPermissions' } as const;

test('a task that writes a file ends well, with its session, tools, cost and text', async () => {
  await using place = await workplace(CLAUDE, [
    write('a.txt', 'one\n'),
    shell('cat a.txt'),
    say('All done.'),
  ]);
  const newSession = randomUUID();

  const { events, outcome } = await place.drive({ ...BYPASS, newSession });

  expect(outcome).toEqual({ ok: true, text: 'All done.' });
  expect(ofType(events, 'session')[0]).toMatchObject({ id: newSession });
  expect(events.filter(({ type }) => type.startsWith('tool.'))).toMatchObject([
    { type: 'tool.start', name: 'Write' },
    { type: 'tool.end', ok: true },
    { type: 'tool.start', name: 'Bash' },
    { type: 'tool.end', ok: true, output: 'one' },
  ]);
  expect(resultOf(events)).toMatchObject({
    turns: 3,
    usage: { costUsd: expect.closeTo(0.0024, 6), inputTokens: 300, outputTokens: 60 },
  });
  expect(await readFile(join(place.work, 'a.txt'), 'utf8')).toBe('one\n');
});

test('a 429 is told as a retry, and the task still ends well', async () => {
  await using place = await workplace(CLAUDE, [
    httpError(429, { headers: { 'retry-after': '1' } }),
    say('Late, but done.'),
  ]);

  const { events, outcome } = await place.drive(BYPASS);

  expect(outcome).toEqual({ ok: true, text: 'Late, but done.' });
  expect(ofType(events, 'retry')).toMatchObject([
    { attempt: 1, max: 3, failure: { kind: 'rate-limited' } },
  ]);
});

test('a 401 is known at the first retry, long before the CLI gives up', async () => {
  await using place = await workplace(CLAUDE, [httpError(401)]);

  const { outcome } = await place.drive(BYPASS);

  expect(outcome).toEqual({
    ok: false,
    failure: { kind: 'auth', message: 'The service answered 401 (authentication_failed).' },
  });
  expect(place.api.requests).toHaveLength(1);
});

test('a read-only job is refused the tools that write, and each refusal is told once', async () => {
  await using place = await workplace(CLAUDE, [
    write('a.txt', 'x'),
    shell('touch b.txt'),
    say('Could not write.'),
  ]);

  const { events, outcome } = await place.drive({ ...BYPASS, readOnly: true });

  expect(outcome).toEqual({ ok: true, text: 'Could not write.' });
  expect(ofType(events, 'denied')).toMatchObject([{ type: 'denied', tool: 'Bash' }]);
  expect(ofType(events, 'tool.end')).toMatchObject([{ ok: false }, { ok: false }]);
  expect(await place.files()).toEqual([]);
});

test('a resumed session knows what was said, and costs only what it adds', async () => {
  await using place = await workplace(CLAUDE, [say('First part.'), say('Second part.')]);
  const session = randomUUID();
  await place.drive({
    ...BYPASS,
    newSession: session,
    prompt: '# The first prompt [[scenario:it]]',
  });

  const { events, outcome } = await place.drive({ ...BYPASS, resume: session });

  expect(outcome).toEqual({ ok: true, text: 'Second part.' });
  expect(ofType(events, 'session')[0]).toMatchObject({ id: session });
  expect(resultOf(events)).toMatchObject({ usage: { costUsd: expect.closeTo(0.0008, 6) } });
  expect(place.api.requests[1]?.conversation).toContain('The first prompt');
});

test('a role that does not exist stops the CLI at once, and the message names it', async () => {
  await using place = await workplace(CLAUDE, [say('Never asked.')]);

  const { outcome } = await place.drive({ ...BYPASS, role: 'nobody' });

  expect(outcome).toMatchObject({
    ok: false,
    failure: { kind: 'permanent', message: expect.stringContaining("'nobody' not found") },
  });
});
