/** The real OpenCode CLI where only some folders are checked out: it is told, and its shell gets more. */

import { expect, test } from 'vitest';
import { say } from '../support/messages-api.ts';
import { opencodeTask, setScene, untold } from './scene.ts';
import { bash } from './steps.ts';

const STEPS = [
  bash(
    'git sparse-checkout add lib && cat lib/one > app/seen && git add -A && git commit -qm mine',
  ),
  say('Done.'),
];

test('the agent gets a folder that is not checked out, by the command it is told', async () => {
  await using scene = await setScene({ sparse: STEPS });
  await scene.repo.commit('main', { 'app/page': '1\n', 'lib/one': 'one\n', 'tools/x': '1\n' });
  const run = await scene.run({
    defaults: { agent: 'opencode', permissions: 'bypassPermissions' },
    workspace: { sparse: 'auto' },
    tasks: [opencodeTask('sparse', { writes: ['app/**'] })],
  });
  const { code, stderr } = await run.ended;
  expect(stderr).toContain('The task succeeded');
  expect(code).toBe(0);
  expect(await scene.repo.git('show', 'main:app/seen')).toBe('one');
  expect(await scene.repo.git('diff', '--name-only', 'main~1', 'main')).toBe('app/seen');
  const [request] = scene.requests('sparse');
  expect(
    untold(request, 'Only `app` and the files in the root', 'git sparse-checkout add'),
  ).toEqual([]);
});
