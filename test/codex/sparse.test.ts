/** The real Codex CLI where only some folders are checked out: it is told, and its shell gets more. */

import { expect, test } from 'vitest';
import { say, shell } from '../support/responses-api.ts';
import { codexTask, setScene, untold } from './scene.ts';

const STEPS = [
  shell(
    'git sparse-checkout add lib && cat lib/one > app/seen && git add -A && git commit -qm mine',
  ),
  say('Done.'),
];

test('the agent gets a folder that is not checked out, by the command it is told', async () => {
  await using scene = await setScene({ sparse: STEPS });
  await scene.repo.commit('main', { 'app/page': '1\n', 'lib/one': 'one\n', 'tools/x': '1\n' });
  const run = await scene.run({
    defaults: { agent: 'codex', permissions: 'bypassPermissions' },
    workspace: { sparse: 'auto' },
    tasks: [codexTask('sparse', { writes: ['app/**'] })],
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
