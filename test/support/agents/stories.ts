/**
 * The stories that every real agent must pass, told once. A tier calls each with its agent and with
 * what that agent does differently.
 */

import { expect, test } from 'vitest';
import type { Running } from '../landfast.ts';
import { workplace } from './drive.ts';
import type { RealAgent } from './real-agents.ts';
import { type AgentScene, agentScene, facts, scriptedTask, untold } from './scene.ts';
import { endless, hang, type Step, say, TOKENS } from './scripted-api.ts';

/** How the resumed conversation shows the file that was written before the stop. */
interface Half {
  readonly half?: string;
}

/** Work lands by the agent's own commit, by ours, and after the service was overloaded. */
export function landingStory(
  agent: RealAgent,
  {
    overload,
    variables,
  }: {
    readonly overload: readonly Step[];
    /** The variables of agents and vendors that the CLI gets. */
    readonly variables: readonly string[];
  },
): void {
  test('work lands: by our commit, by the agent’s own, and after an overload', async () => {
    await using scene = await agentScene(agent, {
      committer: [
        agent.write('committer.txt', 'own\n'),
        agent.shell('git add committer.txt && git commit -qm "Add it by hand"'),
        say('Committed.'),
      ],
      overloaded: [...overload, agent.write('overloaded.txt', 'late\n'), say('Late, but done.')],
      plain: [agent.write('plain.txt', 'plain work\n'), say('Done.')],
    });
    const replies = { committer: 3, overloaded: 2, plain: 2 };
    const tasks = Object.keys(replies).map((id) => scriptedTask(id));

    // One at a time: two first starts of OpenCode in one home can collide on its database.
    const run = await scene.runTasks(tasks, { limits: { workers: 1 } });
    const { code, stderr } = await run.ended;

    expect(stderr).toContain('All 3 tasks succeeded');
    expect(code).toBe(0);
    expect(await filesOf(scene)).toEqual([
      ...['README.md', 'committer.txt', 'overloaded.txt', 'plain.txt'],
    ]);
    const commits = await scene.repo.git('log', '--no-merges', '--format=%s', 'main');
    expect(commits.split('\n').sort()).toEqual([
      ...['Add it by hand', 'Change'],
      ...['overloaded: Do what overloaded says', 'plain: Do what plain says'],
    ]);
    expect(facts(run.entries, 'attempt.failed')).toEqual([]);
    const rows = (await scene.report()).tasks.map(({ id, state, tokens, session }) => {
      return { id, state, tokens, session };
    });
    expect(rows).toEqual(
      Object.entries(replies).map(([id, count]) => ({
        id,
        state: 'landed',
        tokens: { input: TOKENS.input * count, output: TOKENS.output * count },
        session: facts(run.entries, 'attempt.session', id)[0]?.session,
      })),
    );
    expect(scene.processes()).toEqual([]);
    await expectOwnEnvironment(scene, agent, variables);
  });
}

/** What another session had set, or the tests' own process, did not reach the CLI. */
async function expectOwnEnvironment(
  scene: AgentScene,
  { otherSession }: RealAgent,
  variables: readonly string[],
): Promise<void> {
  const environments = await scene.cliEnvironments();
  expect(environments).toHaveLength(3);
  const ours = /CLAUDE|ANTHROPIC|CODEX|OPENAI|RUST|GEMINI|GOOGLE|OPENCODE/;
  const names = environments.map((environment) => Object.keys(environment));
  expect(names.map((all) => all.filter((name) => ours.test(name)).sort())).toEqual(
    environments.map(() => [...variables].sort()),
  );
  const leaked = environments.flatMap((environment) =>
    Object.entries(otherSession).filter(([name, value]) => environment[name] === value),
  );
  expect(leaked).toEqual([]);
}

/** The script of a task that is stopped in its second step and resumed with the third. */
function stoppedSteps(agent: RealAgent): readonly Step[] {
  return [
    agent.write('half.txt', 'half\n'),
    agent.shell(endless('busy')),
    agent.write('rest.txt', 'rest\n'),
    say('Done.'),
  ];
}

/** A run that is stopped while the agent's tool runs: nothing stays alive, no work is lost. */
export function stopStories(
  agent: RealAgent,
  {
    half = 'half\n',
    leastLeft = 2,
  }: Half & {
    /** How many processes at least survive the engine: the CLI and its tool, unless it ends too. */
    readonly leastLeft?: number;
  } = {},
): void {
  test('cancelling a run ends the agent and its tools, and keeps the work', async () => {
    await using scene = await agentScene(agent, { long: stoppedSteps(agent) });
    const run = await startedTool(scene);

    const cancelled = await scene.command('cancel');
    const { code } = await run.ended;

    expect(cancelled).toMatchObject({ code: 0, stderr: '' });
    expect(code).toBe(1);
    expect(scene.processes()).toEqual([]);
    expect(facts(run.entries, 'attempt.failed').map(({ failure }) => failure.kind)).toEqual([
      'cancelled',
    ]);
    expect(facts(run.entries, 'run.finished').map(({ outcome }) => outcome)).toEqual(['cancelled']);
    expect(await scene.report()).toMatchObject({
      outcome: 'cancelled',
      tasks: [{ status: 'cancelled', workspace: { state: 'kept' } }],
    });
    expect(await filesOf(scene)).toEqual(['README.md']);
    const [kept = ''] = await workspaces(scene);
    expect(await scene.repo.git('-C', kept, 'status', '--porcelain')).toBe('?? half.txt');
  });

  test('a run ended by SIGTERM is resumed in the same session, and lands', async () => {
    await using scene = await agentScene(agent, { long: stoppedSteps(agent) });
    const run = await startedTool(scene);

    run.child.kill('SIGTERM');
    const { code } = await run.ended;

    expect(code).toBe(143);
    expect(scene.processes()).toEqual([]);
    expect(facts(run.entries, 'attempt.failed').map(({ failure }) => failure.kind)).toEqual([
      'interrupted',
    ]);
    expect(facts(run.entries, 'run.finished').map(({ outcome }) => outcome)).toEqual([
      'interrupted',
    ]);
    await expectResumed(scene, run, half);
  });

  test('an agent that outlives its engine is ended by the next one, which resumes it', async () => {
    await using scene = await agentScene(agent, { long: stoppedSteps(agent) });
    const run = await startedTool(scene);

    run.child.kill('SIGKILL');
    await run.ended;

    expect(scene.processes().length).toBeGreaterThanOrEqual(leastLeft);
    await expectResumed(scene, run, half);
  });
}

/** Starts the plan and waits until the agent's tool runs: a CLI, a shell and what it started. */
async function startedTool(scene: AgentScene): Promise<Running> {
  const run = await scene.runTasks([scriptedTask('long')]);
  const tooEarly = run.ended.then(({ stderr }) => {
    throw new Error(`it ended before its tool ran:\n${stderr}`);
  });
  tooEarly.catch(() => {}); // It does end, later.
  await Promise.race([scene.api.rung('busy'), tooEarly]);
  expect(scene.processes().length).toBeGreaterThanOrEqual(2);
  return run;
}

/** Resumes the run: it continues in the same session, knows what was said, and lands. */
async function expectResumed(scene: AgentScene, stopped: Running, half: string): Promise<void> {
  const resumed = scene.resume();
  const { code } = await resumed.ended;

  expect(code).toBe(0);
  const [session] = facts(stopped.entries, 'attempt.session').map((fact) => fact.session);
  expect(session).toBeTypeOf('string');
  expect(facts(resumed.entries, 'attempt.started').map(({ start }) => start)).toEqual([
    { kind: 'continue', session },
  ]);
  const requests = scene.requests('long');
  expect(requests.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
  expect(untold(requests[2], 'Do what long says', half, '# Task long, attempt 2')).toEqual([]);
  expect(await filesOf(scene)).toEqual(['README.md', 'half.txt', 'rest.txt']);
  const merges = await scene.repo.git('log', '--first-parent', '--format=%s', 'main');
  expect(merges.split('\n').filter((subject) => subject === 'Land long')).toHaveLength(1);
  expect((await scene.report()).tasks).toMatchObject([{ id: 'long', state: 'landed', session }]);
  expect(scene.processes()).toEqual([]);
}

/** A service that falls silent: the agent is ended, and its session continues. */
export function hangStory(
  agent: RealAgent,
  {
    half = 'half\n',
    countedReplies = 3,
  }: Half & {
    /** One reply before it hung and two in the second attempt, unless the CLI reports fewer. */
    readonly countedReplies?: number;
  } = {},
): void {
  test('an agent that hangs is ended, and its session continues with all that was said', async () => {
    const steps = [
      agent.write('half.txt', 'half\n'),
      hang(),
      agent.write('rest.txt', 'rest\n'),
      say('Done.'),
    ];
    await using scene = await agentScene(agent, { hung: steps });

    const run = await scene.runTasks([scriptedTask('hung')], {
      defaults: { idle: '20s', retries: 1 },
    });
    const { code } = await run.ended;

    expect(code).toBe(0);
    const [session] = facts(run.entries, 'attempt.session').map((fact) => fact.session);
    expect(facts(run.entries, 'attempt.failed').map(({ failure }) => failure.kind)).toEqual([
      'idle-timeout',
    ]);
    expect(facts(run.entries, 'attempt.started').map(({ start }) => start)).toEqual([
      { kind: 'fresh' },
      { kind: 'continue', session },
    ]);
    const requests = scene.requests('hung');
    expect(requests.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
    expect(untold(requests[2], 'Do what hung says', half, '# Task hung, attempt 2')).toEqual([]);
    expect(await filesOf(scene)).toEqual(['README.md', 'half.txt', 'rest.txt']);
    const tokens = {
      input: TOKENS.input * countedReplies,
      output: TOKENS.output * countedReplies,
    };
    expect((await scene.report()).tasks).toMatchObject([{ id: 'hung', session, tokens }]);
    expect(scene.processes()).toEqual([]);
  });
}

/** A login or key that the service refuses is no reason to try again. */
export function refusedLoginStory(
  agent: RealAgent,
  {
    refusal,
    message,
    mostRequests = 1,
  }: {
    readonly refusal: Step;
    readonly message: unknown;
    readonly mostRequests?: number;
  },
): void {
  test('a refused login fails at once, and the user is told to sign in', async () => {
    await using scene = await agentScene(agent, { locked: [refusal] });

    const run = await scene.runTasks([scriptedTask('locked')]);
    const { code, stderr } = await run.ended;

    expect(code).toBe(1);
    expect(facts(run.entries, 'task.failed').map(({ failure }) => failure)).toEqual([
      { kind: 'auth', message },
    ]);
    expect(facts(run.entries, 'attempt.started')).toHaveLength(1);
    expect(scene.api.requests.length).toBeGreaterThanOrEqual(1);
    expect(scene.api.requests.length).toBeLessThanOrEqual(mostRequests);
    expect(stderr).toContain('Sign in with the agent itself, then resume.');
    expect(stderr).toMatch(/^ {4}landfast resume \S+$/m);
    expect((await scene.report()).tasks).toMatchObject([
      { id: 'locked', status: 'failed', failure_category: 'permanent', failure: { kind: 'auth' } },
    ]);
    expect(scene.processes()).toEqual([]);
  });
}

/** Where only some folders are checked out, the agent is told, and its shell can get more. */
export function sparseStory(agent: RealAgent): void {
  test('the agent gets a folder that is not checked out, by the command it is told', async () => {
    const more =
      'git sparse-checkout add lib && cat lib/one > app/seen && git add -A && git commit -qm mine';
    await using scene = await agentScene(agent, { sparse: [agent.shell(more), say('Done.')] });
    const { repo } = scene;
    await repo.commit('main', { 'app/page': '1\n', 'lib/one': 'one\n', 'tools/x': '1\n' });

    const run = await scene.runTasks([scriptedTask('sparse', { writes: ['app/**'] })], {
      workspace: { sparse: 'auto' },
    });
    const { code, stderr } = await run.ended;

    expect(stderr).toContain('The task succeeded');
    expect(code).toBe(0);
    expect(await repo.git('show', 'main:app/seen')).toBe('one');
    expect(await repo.git('diff', '--name-only', 'main~1', 'main')).toBe('app/seen');
    const [first] = scene.requests('sparse');
    const told = ['Only `app` and the files in the root', 'git sparse-checkout add'];
    expect(untold(first, ...told)).toEqual([]);
  });
}

/** A session that the CLI does not know is told as one, without asking the model. */
export function lostSessionStory(
  agent: RealAgent,
  {
    message,
    session = '00000000-0000-4000-8000-000000000000',
  }: {
    readonly message: string;
    readonly session?: string;
  },
): void {
  test('a session that does not exist cannot be resumed, and the message says so', async () => {
    await using place = await workplace(agent, [say('Never asked.')]);

    const { outcome } = await place.drive({ resume: session });

    expect(outcome).toMatchObject({
      ok: false,
      failure: {
        kind: 'session-lost',
        message: expect.stringMatching(/^The agent no longer knows the session to resume\./),
      },
    });
    expect(outcome).toMatchObject({ failure: { message: expect.stringContaining(message) } });
    expect(place.api.requests).toEqual([]);
  });
}

async function filesOf({ repo }: AgentScene): Promise<readonly string[]> {
  return (await repo.git('ls-tree', '-r', '--name-only', 'main')).split('\n');
}

/** The workspaces that are left, as git lists them after the checkout. */
async function workspaces({ repo }: AgentScene): Promise<readonly string[]> {
  const listed = await repo.git('worktree', 'list', '--porcelain');
  return [...listed.matchAll(/^worktree (.*)$/gm)].map(([, path = '']) => path).slice(1);
}
