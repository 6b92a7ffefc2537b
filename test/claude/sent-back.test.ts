/** What the real CLI cannot put right by itself: a refused log-in, and work that conflicts. */

import { expect, test } from 'vitest';
import { after, httpError, say, tool, write } from '../support/messages-api.ts';
import { claudeTask, facts, setScene, untold } from './scene.ts';

const DEFAULTS = { agent: 'claude', permissions: 'bypassPermissions' };

test('a refused log-in fails at once, and the user is told to sign in', async () => {
  await using scene = await setScene({ scenarios: { locked: [httpError(401)] } });

  const run = await scene.run({ defaults: DEFAULTS, tasks: [claudeTask('locked')] });
  const { code, stderr } = await run.ended;

  expect(code).toBe(1);
  expect(facts(run.entries, 'task.failed').map(({ failure }) => failure)).toEqual([
    { kind: 'auth', message: 'The service answered 401 (authentication_failed).' },
  ]);
  expect(facts(run.entries, 'attempt.started')).toHaveLength(1);
  expect(scene.api.requests).toHaveLength(1); // Left alone, the CLI would go on for minutes.
  expect(stderr).toContain('Sign in with the agent itself, then go on.');
  expect(stderr).toMatch(/^ {4}landfast resume \S+$/m);
  expect((await scene.report()).tasks).toMatchObject([
    { id: 'locked', status: 'failed', failure_category: 'permanent', failure: { kind: 'auth' } },
  ]);
  expect(scene.processes()).toEqual([]);
});

test('work that conflicts goes back to its own session, which resolves it and lands', async () => {
  const firstLanded = Promise.withResolvers<void>();
  const read = tool('Read', { file_path: '{{cwd}}/same.txt' });
  await using scene = await setScene({
    files: { 'same.txt': 'nobody\n' },
    scenarios: {
      first: [read, write('same.txt', 'first\n'), say('Done.')],
      second: [
        read,
        write('same.txt', 'second\n'),
        after(firstLanded.promise, say('Done.')),
        read,
        write('same.txt', 'first and second\n'),
        say('Resolved.'),
      ],
    },
  });

  const run = await scene.run({
    defaults: DEFAULTS,
    land: { on_conflict: 'agent' },
    tasks: [claudeTask('first'), claudeTask('second')],
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
