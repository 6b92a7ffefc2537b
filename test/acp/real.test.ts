/** Real agents that speak the Agent Client Protocol, against scripted models. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MCP_SERVER } from '../support/agents/drive.ts';
import { ACP_GEMINI, ACP_OPENCODE } from '../support/agents/real-agents.ts';
import { agentScene, facts, scriptedTask, untold } from '../support/agents/scene.ts';
import { httpError, say, toolCall } from '../support/agents/scripted-api.ts';
import { hangStory, refusedLoginStory, stopStories } from '../support/agents/stories.ts';

const WRONG_KEY = 'API key not valid. Please pass a valid API key.';

refusedLoginStory(ACP_GEMINI, {
  refusal: httpError(400, { message: WRONG_KEY }),
  message: WRONG_KEY,
});
stopStories(ACP_OPENCODE, { leastLeft: 0 }); // It ends with its standard input.
hangStory(ACP_OPENCODE, { countedReplies: 1 }); // It reports the tokens of its last reply.

test('work lands: by the agent’s own commit, and without the tools that were denied', async () => {
  const { shell, write } = ACP_GEMINI;
  await using scene = await agentScene(ACP_GEMINI, {
    committer: [
      write('committer.txt', 'own\n'),
      shell('git add committer.txt && git commit -qm "Add it by hand"'),
      say('Committed.'),
    ],
    careful: [
      shell('touch sneaky.txt'),
      write('careful.txt', 'allowed\n'),
      say('Done without it.'),
    ],
    reader: [write('a.txt', 'x'), say('It is all there.')],
  });

  const run = await scene.runTasks([
    scriptedTask('committer', { model: 'gemini-3.8-flash' }),
    scriptedTask('careful', { permissions: 'acceptEdits' }),
    scriptedTask('reader', { read_only: true }),
  ]);
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
  const models = scene.api.requests.map(({ scenario, model }) => `${scenario}: ${model}`);
  expect([...new Set(models)].sort()).toEqual([
    ...['careful: gemini-2.5-pro', 'committer: gemini-3.8-flash', 'reader: gemini-2.5-pro'],
  ]);
  expect(facts(run.entries, 'attempt.usage', 'committer').at(-1)).toMatchObject({
    ...{ costUsd: 0, inputTokens: 300, outputTokens: 60 },
  });
  expect(scene.processes()).toEqual([]);
});

test('an MCP server of the plan is started with its secret', async () => {
  await using scene = await agentScene(ACP_OPENCODE, {
    asker: [toolCall('keeper_tell', {}), ACP_OPENCODE.write('a.txt', 'x\n'), say('Told.')],
  });
  const server = join(scene.repo.outside, 'server.cjs');
  await writeFile(server, MCP_SERVER);
  const keeper = { command: [process.execPath, server], env: { WORD: 'open sesame' } };

  const run = await scene.runTasks([scriptedTask('asker', { mcp: { keeper } })]);
  const { code } = await run.ended;

  expect(code).toBe(0);
  expect(untold(scene.requests('asker')[1], 'open sesame')).toEqual([]);
});
