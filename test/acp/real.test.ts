/** Real agents that speak the Agent Client Protocol, against scripted models: the main job. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { GEMINI_VERSION, geminiCli, geminiEnv } from '../support/gemini-cli.ts';
import * as generate from '../support/generate-api.ts';
import { hang, type Step, say, startMessagesApi, tool } from '../support/messages-api.ts';
import { OPENCODE_VERSION, opencodeCli, opencodeEnv } from '../support/opencode-cli.ts';
import { acpTask, facts, setScene } from './scene.ts';

/** Known before a test begins: installing them may take longer than a test may. */
const [GEMINI, OPENCODE] = [await geminiCli(), await opencodeCli()];
console.info(`Runs Gemini CLI ${GEMINI_VERSION} and OpenCode ${OPENCODE_VERSION} as ACP agents.`);

const WITH_GEMINI = {
  command: [GEMINI, '--acp'],
  pass_env: ['GEMINI_API_KEY', 'GOOGLE_GEMINI_BASE_URL', 'GEMINI_MODEL'],
  env: { GEMINI_CLI_NO_RELAUNCH: 'true', GEMINI_CLI_TRUST_WORKSPACE: 'true' },
};
const WITH_OPENCODE = {
  command: [OPENCODE, 'acp'],
  pass_env: ['OPENCODE_DISABLE_MODELS_FETCH', 'OPENCODE_DISABLE_LSP_DOWNLOAD'],
  permissions: 'bypassPermissions',
};

test('work lands: by the agent’s own commit, and without what was denied', async () => {
  await using api = await generate.startGenerateApi({
    scenarios: {
      committer: [
        generate.write('committer.txt', 'own\n'),
        generate.shell('git add committer.txt && git commit -qm "Add it by hand"'),
        generate.say('Committed.'),
      ],
      careful: [
        generate.shell('touch sneaky.txt'),
        generate.write('careful.txt', 'allowed\n'),
        generate.say('Done without it.'),
      ],
      reader: [generate.write('a.txt', 'x'), generate.say('It is all there.')],
    },
  });
  await using scene = await setScene((home) => geminiEnv(home, api.url));

  const run = await scene.run({
    defaults: WITH_GEMINI,
    tasks: [
      acpTask('committer', { permissions: 'bypassPermissions', model: 'gemini-3.8-flash' }),
      acpTask('careful', { permissions: 'acceptEdits' }),
      acpTask('reader', { permissions: 'bypassPermissions', read_only: true }),
    ],
  });
  const { code, stderr } = await run.ended;

  expect(stderr).toContain('All 3 tasks succeeded');
  expect(code).toBe(0);
  expect((await scene.repo.git('ls-tree', '--name-only', 'main')).split('\n')).toEqual([
    ...['README.md', 'careful.txt', 'committer.txt'],
  ]);
  expect(await scene.repo.git('log', '--format=%s', 'main')).toContain('Add it by hand');
  const denied = facts(run.entries, 'attempt.denied').map((fact) => `${fact.task}: ${fact.tool}`);
  expect(denied.sort()).toEqual([
    'careful: execute: touch sneaky.txt',
    'reader: edit: Writing to a.txt',
  ]);
  const models = api.requests.map(({ scenario, model }) => `${scenario}: ${model}`);
  expect([...new Set(models)].sort()).toEqual([
    ...['careful: gemini-2.5-pro', 'committer: gemini-3.8-flash', 'reader: gemini-2.5-pro'],
  ]);
  expect(facts(run.entries, 'attempt.usage', 'committer').at(-1)).toMatchObject({
    ...{ costUsd: 0, inputTokens: 300, outputTokens: 60 },
  });
  expect(scene.processes()).toEqual([]);
});

test('a wrong key fails at once, and the user is told to sign in', async () => {
  const said = 'API key not valid. Please pass a valid API key.';
  await using api = await generate.startGenerateApi({
    scenarios: { locked: [generate.httpError(400, said)] },
  });
  await using scene = await setScene((home) => geminiEnv(home, api.url));

  const run = await scene.run({
    defaults: { ...WITH_GEMINI, retries: 2 },
    tasks: [acpTask('locked')],
  });
  const { code, stderr } = await run.ended;

  expect(code).toBe(1);
  expect(facts(run.entries, 'task.failed').map(({ failure }) => failure)).toEqual([
    { kind: 'auth', message: said },
  ]);
  expect(api.requests).toHaveLength(1);
  expect(stderr).toContain('Sign in with the agent itself, then go on.');
  expect(scene.processes()).toEqual([]);
});

test('an agent that hangs is ended, and its session is loaded with all that was said', async () => {
  const steps = [
    tool('keeper_tell', {}),
    write('half.txt', 'half\n'),
    hang(),
    write('rest.txt', 'rest\n'),
    say('Done.'),
  ];
  await using api = await startMessagesApi({ scenarios: { hung: steps } });
  await using scene = await setScene((home) => opencodeEnv(home, api.url));
  const server = join(scene.repo.outside, 'server.mjs');
  await writeFile(server, MCP_SERVER);

  const run = await scene.run({
    defaults: { ...WITH_OPENCODE, idle: '20s', retries: 1 },
    tasks: [
      acpTask('hung', {
        mcp: { keeper: { command: [process.execPath, server], env: { WORD: 'open sesame' } } },
      }),
    ],
  });
  const { code } = await run.ended;

  expect(code).toBe(0);
  expect(facts(run.entries, 'attempt.failed').map(({ failure }) => failure.kind)).toEqual([
    'idle-timeout',
  ]);
  const session = String(api.requests[0]?.headers['x-session-id']);
  expect(facts(run.entries, 'attempt.started').map(({ start }) => start)).toEqual([
    { kind: 'fresh' },
    { kind: 'continue', session },
  ]);
  expect(api.requests.map(({ headers }) => headers['x-session-id'])).toEqual(
    steps.map(() => session),
  );
  const told = JSON.stringify(api.requests[3]?.body.messages);
  for (const text of ['Do what hung says', 'open sesame', 'half', '# Task hung, attempt 2']) {
    expect(told).toContain(text);
  }
  expect(await scene.repo.git('ls-tree', '--name-only', 'main')).toBe(
    ['README.md', 'half.txt', 'rest.txt'].join('\n'),
  );
  expect(scene.processes()).toEqual([]);
});

test('cancelling in the middle of a tool ends the agent and its tools', async () => {
  const forever = `node -e "fetch('{{api}}/ring/busy'); setTimeout(() => {}, 600000)"`;
  const long = [write('half.txt', 'half\n'), tool('bash', { command: forever, description: 'x' })];
  await using api = await startMessagesApi({ scenarios: { long } });
  await using scene = await setScene((home) => opencodeEnv(home, api.url));
  const run = await scene.run({ defaults: WITH_OPENCODE, tasks: [acpTask('long')] });
  const tooEarly = run.ended.then(({ stderr }) => {
    throw new Error(`it ended before its tool ran:\n${stderr}`);
  });
  tooEarly.catch(() => {}); // It does end, later.
  await Promise.race([api.rung('busy'), tooEarly]);
  expect(scene.processes().length).toBeGreaterThanOrEqual(2);

  const cancelled = await scene.command('cancel');
  const { code } = await run.ended;

  expect(cancelled).toMatchObject({ code: 0, stderr: '' });
  expect(code).toBe(1);
  expect(scene.processes()).toEqual([]);
  expect(await scene.report()).toMatchObject({
    outcome: 'cancelled',
    tasks: [{ status: 'cancelled', workspace: { state: 'kept' } }],
  });
});

function write(filePath: string, content: string): Step {
  return tool('write', { filePath, content });
}

/** A server of one tool that tells a word of its environment. */
const MCP_SERVER = `
import { createInterface } from 'node:readline';
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'keeper', version: '1' },
  }),
  'tools/list': () => ({ tools: [{ name: 'tell', inputSchema: { type: 'object' } }] }),
  'tools/call': () => ({ content: [{ type: 'text', text: process.env.WORD }] }),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const result = answers[method]?.(params) ?? {};
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
}
`;
