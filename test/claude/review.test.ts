/** Review comments on the work of the real Claude Code CLI: its own session answers them. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CLAUDE } from '../support/agents/real-agents.ts';
import {
  type AgentScene,
  agentScene,
  facts,
  scriptedTask,
  untold,
} from '../support/agents/scene.ts';
import { after, say, toolCall } from '../support/agents/scripted-api.ts';
import type { Running } from '../support/landfast.ts';

const { write } = CLAUDE;

/** What the model does once the comments have come: it looks at the file and changes it. */
const ANSWER = [
  toolCall('Read', { file_path: '{{cwd}}/login.txt' }),
  write('login.txt', 'name\npassphrase\n'),
  say('Renamed it.'),
];
const COMMENT = ['comment', 'login', 'login.txt:2', 'Call it "passphrase".'];

/** The one session did both attempts, was told the comment in the second, and its answer landed. */
async function expectAnswered(scene: AgentScene, run: Running): Promise<void> {
  expect(await run.ended).toMatchObject({ code: 0 });
  const requests = scene.requests('login');
  const session = requests[0]?.session;
  expect(requests.map((request) => request.session)).toEqual(Array(5).fill(session));
  const comment = '- `login.txt:2`: Call it "passphrase".';
  expect(untold(requests[1], comment)).toEqual([comment]);
  expect(untold(requests[2], 'Do what login says', 'Wrote it.', comment)).toEqual([]);
  expect(facts(run.entries, 'task.commented')).toMatchObject([
    { task: 'login', comments: [{ path: 'login.txt', line: 2, text: 'Call it "passphrase".' }] },
  ]);
  const starts = facts(run.entries, 'attempt.started').map(({ start }) => start);
  expect(starts).toMatchObject([{ kind: 'fresh' }, { session }]);
  expect(await scene.repo.git('show', 'main:login.txt')).toBe('name\npassphrase');
  expect(facts(run.entries, 'merge.landed')).toHaveLength(1);
  expect((await scene.report()).tasks).toMatchObject([{ id: 'login', state: 'landed', session }]);
  expect(scene.processes()).toEqual([]);
}

test('a comment on a line takes finished work out of the queue and back to its session', async () => {
  const steps = [write('login.txt', 'name\npassword\n'), say('Wrote it.'), ...ANSWER];
  await using scene = await agentScene(CLAUDE, { login: steps });
  const gates = [{ name: 'slow', run: 'until test -e "$HOME/go"; do sleep 0.05; done' }];
  const run = await scene.runTasks([scriptedTask('login')], { gates });
  await run.untilFact('candidate.verifying', 'login');
  expect(await scene.command(...COMMENT)).toMatchObject({ code: 0, stderr: '' });
  await run.untilFact('merge.withdrawn', 'login');
  await writeFile(join(scene.repo.outside, 'go'), '');
  await expectAnswered(scene, run);
});

test('a comment that comes while the session works is answered in its next attempt', async () => {
  const commented = Promise.withResolvers<void>();
  const done = after(commented.promise, say('Wrote it.'));
  const steps = [write('login.txt', 'name\npassword\n'), done, ...ANSWER];
  await using scene = await agentScene(CLAUDE, { login: steps });
  const run = await scene.runTasks([scriptedTask('login')]);
  await scene.api.requested('login', 1);
  const sent = await scene.command(...COMMENT);
  expect(sent.stdout).toBe('login: its agent gets 1 review comment when its attempt ends.\n');
  commented.resolve();
  await expectAnswered(scene, run);
});
