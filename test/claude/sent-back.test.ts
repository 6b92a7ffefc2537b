/** Work of the real Claude Code CLI that conflicts with work that landed before it. */

import { expect, test } from 'vitest';
import { CLAUDE } from '../support/agents/real-agents.ts';
import { agentScene, facts, scriptedTask, untold } from '../support/agents/scene.ts';
import { after, say, toolCall } from '../support/agents/scripted-api.ts';

const { write } = CLAUDE;

test('work that conflicts goes back to its own session, which resolves it and lands', async () => {
  const firstLanded = Promise.withResolvers<void>();
  const read = toolCall('Read', { file_path: '{{cwd}}/same.txt' });
  const scenarios = {
    first: [read, write('same.txt', 'first\n'), say('Done.')],
    second: [
      read,
      write('same.txt', 'second\n'),
      after(firstLanded.promise, say('Done.')),
      read,
      write('same.txt', 'first and second\n'),
      say('Resolved.'),
    ],
  };
  await using scene = await agentScene(CLAUDE, scenarios, { files: { 'same.txt': 'neither\n' } });

  const run = await scene.runTasks([scriptedTask('first'), scriptedTask('second')], {
    land: { on_conflict: 'agent' },
  });
  await run.untilFact('merge.landed', 'first');
  firstLanded.resolve();
  const { code } = await run.ended;

  const [work] = facts(run.entries, 'attempt.finished', 'second');
  const rejections = facts(run.entries, 'merge.rejected').map(({ task, failure }) => [
    task,
    failure,
  ]);
  expect(rejections).toEqual([
    ['second', expect.objectContaining({ kind: 'conflict', files: ['same.txt'] })],
  ]);
  const [asked, , , askedAgain, sawConflict] = scene.requests('second');
  const session = asked?.session;
  expect(facts(run.entries, 'attempt.started', 'second').map(({ start }) => start)).toEqual([
    { kind: 'fresh' },
    { kind: 'rework', session, commit: work?.commit },
  ]);
  expect(scene.requests('second').map((request) => request.session)).toEqual(
    Array.from({ length: 6 }, () => session),
  );
  const conflict = 'conflicts with what landed meanwhile (`first`)';
  const markers = '- `same.txt`: both changed';
  expect(untold(askedAgain, 'Do what second says', conflict, markers)).toEqual([]);
  expect(untold(sawConflict, '<<<<<<<', '>>>>>>>')).toEqual([]);

  expect(code).toBe(0);
  expect(await scene.repo.git('show', 'main:same.txt')).toBe('first and second');
  const subjects = await scene.repo.git('log', '--first-parent', '--format=%s', 'main');
  expect(subjects.split('\n')).toEqual(['Land second', 'Land first', 'Change']);
  expect((await scene.report()).tasks).toMatchObject([
    { id: 'first', state: 'landed', reworks: 0 },
    { id: 'second', state: 'landed', reworks: 1, session },
  ]);
  expect(scene.processes()).toEqual([]);
});
