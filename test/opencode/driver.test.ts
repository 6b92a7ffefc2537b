/**
 * The real OpenCode CLI, driven through our agent's command, parser and outcome, against a scripted
 * Messages API: each option of a job, and each way to deny a tool.
 */

import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  MCP_SERVER,
  ofType,
  resultOf,
  sessionOf,
  type Workplace,
  workplace,
} from '../support/agents/drive.ts';
import { OPENCODE, opencodeEnv } from '../support/agents/real-agents.ts';
import { untold } from '../support/agents/scene.ts';
import { type Step, say, toolCall } from '../support/agents/scripted-api.ts';

const { shell, write } = OPENCODE;
const BYPASS = { permissions: 'bypassPermissions' } as const;

test('a task that writes a file ends well, with its session, model, tools, cost and text', async () => {
  await using place = await workplace(OPENCODE, [
    write('a.txt', 'one\n'),
    shell('cat a.txt; exit 3'),
    say('All done.'),
  ]);

  const { events, outcome } = await place.drive(BYPASS);

  expect(outcome).toEqual({ ok: true, text: 'All done.' });
  const session = place.api.requests[0]?.session;
  expect(ofType(events, 'session')).toEqual([
    { type: 'session', id: session, model: 'scripted/model', cwd: place.work },
  ]);
  expect(events.filter(({ type }) => type.startsWith('tool.'))).toMatchObject([
    { type: 'tool.start', name: 'write', input: { filePath: 'a.txt' } },
    { type: 'tool.end', ok: true },
    { type: 'tool.start', name: 'bash' },
    { type: 'tool.end', ok: false, output: 'one\n' },
  ]);
  expect(resultOf(events)).toMatchObject({
    turns: 3,
    usage: { costUsd: expect.closeTo(0.0018, 6), inputTokens: 300, outputTokens: 60 },
  });
  expect(await readFile(join(place.work, 'a.txt'), 'utf8')).toBe('one\n');
});

test('acceptEdits edits here, runs what is allowed, and is refused everything else', async () => {
  const steps = [
    write('a.txt', 'one\n'),
    shell('touch no.txt'),
    shell('git --version'),
    shell('git --version && touch no.txt'),
    write('../other/b.txt', 'two\n'),
    write('../c.txt', 'three\n'),
    write('secret/d.txt', 'four\n'),
    toolCall('webfetch', { url: 'http://127.0.0.1:9/', format: 'text' }),
    say('Done.'),
  ];
  await using place = await workplace(OPENCODE, steps);
  const other = join(place.root, 'other');
  await mkdir(other);
  const tools = { allowed: [], disallowed: ['edit(secret/*)'], commands: ['git'] };

  const { events, outcome } = await place.drive(
    { permissions: 'acceptEdits' },
    { dirs: [other], tools },
  );

  expect(outcome).toEqual({ ok: true, text: 'Done.' });
  expect(ofType(events, 'tool.end').map(({ ok }) => ok)).toEqual([
    true,
    false,
    true,
    false,
    true,
    false,
    false,
    false,
  ]);
  const denied = ofType(events, 'denied');
  expect(denied).toMatchObject(['bash', 'bash', 'write', 'write', 'webfetch'].map(toDenied));
  expect(await place.files()).toEqual(['a.txt']);
  expect(await readdir(other)).toEqual(['b.txt']);
});

test('the user’s own rules for an agent do not loosen a read task', async () => {
  await using place = await configured(
    {
      permission: { edit: 'allow', '*': 'allow' },
      agent: {
        build: { permission: { '*': 'allow', edit: 'allow', bash: { 'touch *': 'allow' } } },
      },
    },
    [write('a.txt', 'x'), shell('touch b.txt'), say('Could not.')],
  );

  const { events, outcome } = await place.drive({ readOnly: true });

  expect(outcome).toEqual({ ok: true, text: 'Could not.' });
  expect(ofType(events, 'denied')).toMatchObject(['write', 'bash'].map(toDenied));
  expect(await place.files()).toEqual([]);
});

test('in default mode a tool that would need a prompt is denied, and the agent continues', async () => {
  await using place = await configured({ permission: { bash: 'ask' } }, [
    shell('touch b.txt'),
    write('a.txt', 'x'),
    say('Without it.'),
  ]);

  const { events, outcome } = await place.drive({ permissions: 'default' });

  expect(outcome).toEqual({ ok: true, text: 'Without it.' });
  expect(ofType(events, 'denied')).toMatchObject([toDenied('bash')]);
  expect(await place.files()).toEqual(['a.txt']);
});

test('a session is resumed and forked with what was said, and costs only what it adds', async () => {
  await using place = await workplace(OPENCODE, [say('First part.'), say('Second part.')]);
  const first = await place.drive({ ...BYPASS, prompt: '# The first prompt [[scenario:it]]' });
  const session = sessionOf(first.events);

  const second = await place.drive({ ...BYPASS, resume: session });
  const fork = await place.drive({ ...BYPASS, resume: session, fork: true });

  expect(second.outcome).toEqual({ ok: true, text: 'Second part.' });
  expect(sessionOf(second.events)).toBe(session);
  expect(resultOf(second.events)).toMatchObject({ usage: { inputTokens: 100, outputTokens: 20 } });
  // A fork is a new session, for which the script starts over.
  expect(fork.outcome).toEqual({ ok: true, text: 'First part.' });
  expect(sessionOf(fork.events)).not.toBe(session);
  const untoldTexts = place.api.requests.map((request) => untold(request, 'The first prompt'));
  expect(untoldTexts).toEqual([[], [], []]);
});

test('an MCP server of the plan is started with its secret, and its tools must be allowed', async () => {
  await using place = await workplace(OPENCODE, [toolCall('keeper_tell', {}), say('Told.')]);
  const server = join(place.root, 'server.cjs');
  await writeFile(server, MCP_SERVER);
  const tools = { allowed: ['keeper_*'], disallowed: [], commands: [] };
  const mcp = { keeper: { command: [process.execPath, server], env: { WORD: 'open "sesame"' } } };

  const { events, outcome } = await place.drive({}, { tools, mcp });

  expect(outcome).toEqual({ ok: true, text: 'Told.' });
  expect(ofType(events, 'tool.end')).toMatchObject([{ ok: true, output: 'open "sesame"' }]);
});

test('a role works with its own prompt, and one that is not there stops the CLI', async () => {
  await using place = await configured({ agent: { critic: { prompt: 'Be very critical.' } } }, [
    say('Bad.'),
  ]);

  const critic = await place.drive({ role: 'critic' });
  const nobody = await place.drive({ role: 'nobody' });
  const free = await place.drive({ ...BYPASS, role: 'nobody' });

  expect(critic.outcome).toEqual({ ok: true, text: 'Bad.' });
  expect(JSON.stringify(place.api.requests[0]?.body)).toContain('Be very critical.');
  const message = expect.stringContaining('agent "nobody" not found');
  expect(nobody.outcome).toEqual({ ok: false, failure: { kind: 'permanent', message } });
  expect(free.outcome).toEqual({ ok: false, failure: { kind: 'permanent', message } });
  expect(place.api.requests).toHaveLength(1);
});

test('an unknown model stops the CLI, and the message names it', async () => {
  await using place = await workplace(OPENCODE, [say('Never asked.')]);

  const { outcome } = await place.drive({ model: 'scripted/other' });

  const message = expect.stringContaining('Model not found: scripted/other');
  expect(outcome).toEqual({ ok: false, failure: { kind: 'permanent', message } });
  expect(place.api.requests).toEqual([]);
});

const toDenied = (tool: string) => ({ type: 'denied', tool });

/** A workplace with more in the user's configuration. */
function configured(config: object, steps: readonly Step[]): Promise<Workplace> {
  return workplace(OPENCODE, steps, { env: (home, url) => opencodeEnv(home, url, config) });
}
