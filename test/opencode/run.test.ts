/** The main job with the real OpenCode CLI: work that lands, through the troubles a service has. */

import { expect, test } from 'vitest';
import { hang, httpError, say } from '../support/messages-api.ts';
import { facts, opencodeTask, sessionOf, setScene, untold } from './scene.ts';
import { bash, write } from './steps.ts';

const DEFAULTS = { agent: 'opencode', permissions: 'bypassPermissions' };
/** What one answer of the model counts. */
const EACH = { input: 100, output: 20 };

test('work lands: by the agent’s own commit, and by ours after an overload', async () => {
  await using scene = await setScene({
    committer: [
      write('committer.txt', 'own\n'),
      bash('git add committer.txt && git commit -qm "Add it by hand"'),
      say('Committed.'),
    ],
    overloaded: [httpError(529), write('overloaded.txt', 'late\n'), say('Late, but done.')],
  });
  const ids = ['committer', 'overloaded'];

  // One after the other: two first starts of the CLI can be in each other's way.
  const run = await scene.run({
    defaults: DEFAULTS,
    limits: { workers: 1 },
    tasks: ids.map((id) => opencodeTask(id)),
  });
  const { code, stderr } = await run.ended;

  expect(stderr).toContain('All 2 tasks succeeded');
  expect(code).toBe(0);
  expect((await scene.repo.git('ls-tree', '-r', '--name-only', 'main')).split('\n')).toEqual([
    ...['README.md', 'committer.txt', 'overloaded.txt'],
  ]);
  const commits = await scene.repo.git('log', '--no-merges', '--format=%s', 'main');
  expect(commits.split('\n').sort()).toEqual([
    ...['Add it by hand', 'Change', 'overloaded: Do what overloaded says'],
  ]);
  expect(facts(run.entries, 'attempt.failed')).toEqual([]);
  const answers: Record<string, number> = { committer: 3, overloaded: 2 };
  const { tasks } = await scene.report();
  const rows = tasks.map(({ id, state, tokens, session }) => ({ id, state, tokens, session }));
  expect(rows).toEqual(
    ids.map((id) => ({
      id,
      state: 'landed',
      tokens: { input: EACH.input * answers[id]!, output: EACH.output * answers[id]! },
      session: sessionOf(scene.requests(id)[0]),
    })),
  );
  expect(scene.processes()).toEqual([]);
  for (const environment of await scene.cliEnvironments()) {
    const names = Object.keys(environment).filter((name) =>
      /OPENCODE|OPENAI|CLAUDE|ANTHROPIC|GEMINI|GOOGLE/.test(name),
    );
    expect(names.sort()).toEqual([
      'OPENCODE_CONFIG_CONTENT',
      'OPENCODE_DISABLE_AUTOUPDATE',
      'OPENCODE_DISABLE_LSP_DOWNLOAD',
      'OPENCODE_DISABLE_MODELS_FETCH',
    ]);
    expect(environment.OPENCODE_CONFIG_CONTENT).not.toContain('other/model');
  }
});

test('an agent that hangs is ended, and its session goes on with all that was said', async () => {
  const steps = [write('half.txt', 'half\n'), hang(), write('rest.txt', 'rest\n'), say('Done.')];
  await using scene = await setScene({ hung: steps });

  const run = await scene.run({
    defaults: { ...DEFAULTS, idle: '12s', retries: 1 },
    tasks: [opencodeTask('hung')],
  });
  const { code } = await run.ended;

  expect(code).toBe(0);
  const [first, , third] = scene.requests('hung');
  const session = sessionOf(first);
  expect(facts(run.entries, 'attempt.failed').map(({ failure }) => failure.kind)).toEqual([
    'idle-timeout',
  ]);
  expect(facts(run.entries, 'attempt.started').map(({ start }) => start)).toEqual([
    { kind: 'fresh' },
    { kind: 'continue', session },
  ]);
  expect(scene.requests('hung').map(sessionOf)).toEqual(steps.map(() => session));
  expect(untold(third, 'Do what hung says', 'half\n', '# Task hung, attempt 2')).toEqual([]);
  expect(await scene.repo.git('ls-tree', '--name-only', 'main')).toBe(
    ['README.md', 'half.txt', 'rest.txt'].join('\n'),
  );
  // One answer before it hung, two in the second attempt: none is counted twice.
  const tokens = { input: EACH.input * 3, output: EACH.output * 3 };
  expect((await scene.report()).tasks).toMatchObject([{ id: 'hung', session, tokens }]);
  expect(scene.processes()).toEqual([]);
});
