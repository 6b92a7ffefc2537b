/** The main job with the real Codex CLI: work that lands, through the troubles a service has. */

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EACH, hang, httpError, say, shell, write } from '../support/responses-api.ts';
import { codexTask, facts, setScene, untold } from './scene.ts';

const DEFAULTS = { agent: 'codex', permissions: 'bypassPermissions' };

test('work lands: by our commit, by the agent’s own, and after an overload', async () => {
  await using scene = await setScene({
    plain: [write('plain.txt', 'plain work\n'), say('Done.')],
    committer: [
      write('committer.txt', 'own\n'),
      shell('git add committer.txt && git commit -qm "Add it by hand"'),
      say('Committed.'),
    ],
    overloaded: [httpError(503), write('overloaded.txt', 'late\n'), say('Late, but done.')],
  });
  const ids = ['plain', 'committer', 'overloaded'];

  const run = await scene.run({ defaults: DEFAULTS, tasks: ids.map((id) => codexTask(id)) });
  const { code, stderr } = await run.ended;

  expect(stderr).toContain('All 3 tasks succeeded');
  expect(code).toBe(0);
  expect((await scene.repo.git('ls-tree', '-r', '--name-only', 'main')).split('\n')).toEqual([
    ...['README.md', 'committer.txt', 'overloaded.txt', 'plain.txt'],
  ]);
  const commits = await scene.repo.git('log', '--no-merges', '--format=%s', 'main');
  expect(commits.split('\n').sort()).toEqual([
    ...['Add it by hand', 'Change'],
    ...['overloaded: Do what overloaded says', 'plain: Do what plain says'],
  ]);
  expect(facts(run.entries, 'attempt.failed')).toEqual([]);
  const answers: Record<string, number> = { plain: 2, committer: 3, overloaded: 2 };
  const { tasks } = await scene.report();
  const rows = tasks.map(({ id, state, tokens, session }) => ({ id, state, tokens, session }));
  expect(rows).toEqual(
    ids.map((id) => ({
      id,
      state: 'landed',
      tokens: { input: EACH.input * answers[id]!, output: EACH.output * answers[id]! },
      session: scene.requests(id)[0]?.session,
    })),
  );
  expect(scene.processes()).toEqual([]);
  for (const environment of await scene.cliEnvironments()) {
    const theirs = Object.entries(environment).filter(([name]) =>
      /CODEX|OPENAI|CLAUDE|ANTHROPIC|RUST/.test(name),
    );
    expect(Object.fromEntries(theirs)).toEqual({
      CODEX_HOME: join(scene.repo.outside, '.codex'),
      OPENAI_API_KEY: 'sk-test-not-a-key',
      RUST_LOG: 'error,codex_otel.trace_safe=info',
    });
  }
});

test('an agent that hangs is ended, and its session goes on with all that was said', async () => {
  const steps = [write('half.txt', 'half\n'), hang(), write('rest.txt', 'rest\n'), say('Done.')];
  await using scene = await setScene({ hung: steps });

  const run = await scene.run({
    defaults: { ...DEFAULTS, idle: '12s', retries: 1 },
    tasks: [codexTask('hung')],
  });
  const { code } = await run.ended;

  expect(code).toBe(0);
  const [first, , third] = scene.requests('hung');
  const session = first?.session;
  expect(facts(run.entries, 'attempt.failed').map(({ failure }) => failure.kind)).toEqual([
    'idle-timeout',
  ]);
  expect(facts(run.entries, 'attempt.started').map(({ start }) => start)).toEqual([
    { kind: 'fresh' },
    { kind: 'continue', session },
  ]);
  expect(scene.requests('hung').map((request) => request.session)).toEqual(
    steps.map(() => session),
  );
  expect(untold(third, 'Do what hung says', '+half', '# Task hung, attempt 2')).toEqual([]);
  expect(await scene.repo.git('ls-tree', '--name-only', 'main')).toBe(
    ['README.md', 'half.txt', 'rest.txt'].join('\n'),
  );
  // One answer before it hung, two in the second attempt: none is counted twice.
  const tokens = { input: EACH.input * 3, output: EACH.output * 3 };
  expect((await scene.report()).tasks).toMatchObject([{ id: 'hung', session, tokens }]);
  expect(scene.processes()).toEqual([]);
});
