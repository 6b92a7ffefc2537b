/** The main job with the real Gemini CLI: work that lands, though the service has its troubles. */

import { expect, test } from 'vitest';
import { hang, httpError, retryIn, say, shell, tool, write } from '../support/generate-api.ts';
import { facts, geminiTask, setScene, untold } from './scene.ts';

const DEFAULTS = { agent: 'gemini', permissions: 'bypassPermissions' };

const SCENARIOS = {
  committer: [
    write('committer.txt', 'own\n'),
    shell('git add committer.txt && git commit -qm "Add it by hand"'),
    say('Committed.'),
  ],
  busy: [
    httpError(503),
    httpError(429, 'Too many requests', [retryIn(1)]),
    write('busy.txt', 'late\n'),
    say('Late, but done.'),
  ],
  careful: [
    shell('touch sneaky.txt'),
    write('careful.txt', 'allowed\n'),
    tool('enter_plan_mode', { reason: 'to leave it again' }),
    say('Done without it.'),
  ],
  stuck: [write('half.txt', 'half\n'), hang(), write('rest.txt', 'rest\n'), say('Done.')],
  late: [hang(), write('late.txt', 'late\n'), say('Done.')],
};

test('five tasks land: one commits itself, one waits, one is denied, two fall silent', async () => {
  await using scene = await setScene(SCENARIOS);

  const run = await scene.run({
    defaults: DEFAULTS,
    limits: { workers: 5 },
    tasks: [
      geminiTask('committer'),
      geminiTask('busy', { model: 'gemini-2.5-flash' }),
      geminiTask('careful', { permissions: 'acceptEdits' }),
      geminiTask('stuck', { idle: '12s' }),
      geminiTask('late', { idle: '12s' }),
    ],
  });
  const { code, stderr } = await run.ended;

  expect(stderr).toContain('All 5 tasks succeeded');
  expect(code).toBe(0);
  expect((await scene.repo.git('ls-tree', '--name-only', 'main')).split('\n')).toEqual([
    ...['README.md', 'busy.txt', 'careful.txt', 'committer.txt'],
    ...['half.txt', 'late.txt', 'rest.txt'],
  ]);
  expect(await scene.repo.git('log', '--format=%s', 'main')).toContain('Add it by hand');
  expect(new Set(scene.requests('busy').map(({ model }) => model))).toEqual(
    new Set(['gemini-2.5-flash']),
  );
  expect(facts(run.entries, 'attempt.started', 'busy')).toHaveLength(1);
  expect(facts(run.entries, 'attempt.denied').map(({ task, tool: name }) => [task, name])).toEqual([
    ['careful', 'run_shell_command'],
    ['careful', 'enter_plan_mode'],
  ]);
  expect(facts(run.entries, 'attempt.usage', 'committer').at(-1)).toMatchObject({
    ...{ costUsd: 0, inputTokens: 300, outputTokens: 60 },
  });

  for (const task of ['stuck', 'late']) {
    const [session] = facts(run.entries, 'attempt.session', task).map((fact) => fact.session);
    expect(facts(run.entries, 'attempt.failed', task).map(({ failure }) => failure.kind)).toEqual([
      'idle-timeout',
    ]);
    expect(facts(run.entries, 'attempt.started', task).map(({ start }) => start)).toEqual([
      { kind: 'fresh' },
      { kind: 'continue', session },
    ]);
    const last = scene.requests(task).at(-1);
    expect(untold(last, `Do what ${task} says`, `# Task ${task}, attempt 2`)).toEqual([]);
  }
  expect(untold(scene.requests('stuck').at(-1), 'half.txt')).toEqual([]);

  const others = (await scene.cliEnvironments()).flatMap(Object.keys);
  expect(others).toContain('GEMINI_API_KEY');
  expect(others.filter((name) => /^GEMINI_CLI$|IDE|SANDBOX|ANTHROPIC|CLAUDE/.test(name))).toEqual(
    [],
  );
  expect(scene.processes()).toEqual([]);
});
