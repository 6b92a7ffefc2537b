import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import {
  type CustomAgent,
  type CustomJob,
  type CustomResult,
  functionAgent,
} from '../../src/agents/function-agent.ts';
import { Suspensions } from '../../src/base/suspension.ts';
import type { AttemptEffect, Message } from '../../src/model/effect.ts';
import type { Event } from '../../src/model/event.ts';
import type { TaskSpec } from '../../src/model/plan.ts';
import { sameRepository } from '../../src/transport/transport.ts';
import type { Site } from '../../src/worker/attempt.ts';
import { localWorker } from '../../src/worker/worker.ts';
import { taskSpec } from '../support/journal-builder.ts';
import { RUN } from '../support/mark.ts';
import { overWire } from '../support/over-wire.ts';
import { testContext } from '../support/run-context.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

interface Attempted {
  readonly facts: readonly Event[];
  readonly said: readonly Message[];
  readonly last: Event;
}

/** One attempt at task `one` by a function, in a real workspace. */
async function attemptBy(
  repo: TempRepo,
  run: CustomAgent['run'],
  more: {
    readonly task?: Partial<TaskSpec>;
    readonly site?: Partial<Site>;
    readonly signal?: AbortSignal;
    readonly effect?: Partial<AttemptEffect>;
  } = {},
): Promise<Attempted> {
  const spec = taskSpec({ id: 'one', agent: 'function:mine', ...more.task });
  const context = await testContext(repo, {});
  const site: Site = {
    context: { ...context, plan: { ...context.plan, tasks: [spec] } },
    transport: sameRepository(context.repository),
    run: RUN,
    tasks: [spec],
    failures: [],
    dir: repo.dir,
    userEnv: { PATH: process.env.PATH, AWS_SECRET_KEY: 'hidden' },
    agentNamed: () => functionAgent({ name: 'mine', resumes: true, run }),
    resolveDir: (dir) => dir,
    fenceFor: () => null,
    suspensions: new Suspensions(),
    executableOf: () => null,
    ...more.site,
  };
  const said: Message[] = [];
  await overWire(localWorker(site)).attempt(
    {
      kind: 'attempt',
      task: 'one',
      attempt: 1,
      base: await repo.git('rev-parse', 'main'),
      start: { kind: 'fresh' },
      before: null,
      heard: [],
      meanwhile: [],
      budgetUsd: null,
      ...more.effect,
    },
    (message) => said.push(message),
    more.signal ?? repo.signal,
  );
  const facts = said.flatMap((message) => (message.kind === 'fact' ? [message.event] : []));
  return { facts, said, last: facts.at(-1)! };
}

const failureOf = ({ last }: Attempted) => (last.type === 'attempt.failed' ? last.failure : last);

test('a function works in the workspace; its events are facts, its work is one commit', async () => {
  await using repo = await tempRepo();
  let seen: CustomJob | null = null;
  const { facts, said, last } = await attemptBy(repo, async (job, { emit }) => {
    seen = job;
    emit({ type: 'session', id: 's1', model: 'own' });
    emit({ type: 'text', text: 'Writing.' });
    emit({ type: 'tool.start', id: 't1', name: 'write', input: { path: 'new.txt' } });
    await writeFile(join(job.dir, 'new.txt'), 'new\n');
    emit({ type: 'tool.end', id: 't1', ok: true, output: 'written' });
    emit({ type: 'usage', usage: { costUsd: 0.25, inputTokens: 10, outputTokens: 2 } });
    return { ok: true, text: 'Done.', structured: { files: 1 } };
  });
  expect(facts.map(({ type }) => type)).toEqual([
    'attempt.session',
    'attempt.usage',
    'attempt.finished',
  ]);
  expect(last).toMatchObject({
    files: ['new.txt'],
    exitCode: null,
    text: 'Done.',
    structured: { files: 1 },
  });
  const { commit } = last as Event & { type: 'attempt.finished' };
  expect(await repo.git('show', `${commit}:new.txt`)).toBe('new');
  expect(await repo.git('rev-parse', `${commit}^`)).toBe(await repo.git('rev-parse', 'main'));
  const lines = said.flatMap((each) => (each.kind === 'chatter' ? [each.line] : []));
  expect(lines).toContainEqual({ from: 'agent', event: { type: 'text', text: 'Writing.' } });
  const job = seen! as CustomJob;
  expect(job).toMatchObject({ run: RUN, task: 'one', attempt: 1, session: null, readOnly: false });
  expect(job.prompt).toContain('Do one');
  expect(job.env).toMatchObject({ LANDFAST_TASK: 'one', PATH: process.env.PATH });
  expect(job.env).not.toHaveProperty('AWS_SECRET_KEY');
  expect(job.env.TMPDIR).toContain(`landfast-${RUN}-`);
});

test('programs that it starts with its environment carry the mark of the attempt', async () => {
  await using repo = await tempRepo();
  const { last } = await attemptBy(repo, async ({ dir, env }) => {
    const { stdout } = await promisify(execFile)('env', [], { cwd: dir, env });
    return { ok: false, failure: { kind: 'permanent', message: stdout } };
  });
  expect(JSON.stringify(last)).toContain(`LANDFAST_MARK=${RUN}/one.1`);
});

test('a function is judged like any agent: no change, out of scope, red checks', async () => {
  await using repo = await tempRepo();
  const idle = await attemptBy(repo, async () => ({ ok: true }));
  expect(failureOf(idle)).toMatchObject({ kind: 'no-change' });
  const write = async ({ dir }: CustomJob): Promise<CustomResult> => {
    await writeFile(join(dir, 'a.txt'), 'a\n');
    return { ok: true };
  };
  await using second = await tempRepo();
  const strayed = await attemptBy(second, write, { task: { writes: ['src/**'] } });
  expect(failureOf(strayed)).toMatchObject({ kind: 'out-of-scope', files: ['a.txt'] });
  await using third = await tempRepo();
  const red = await attemptBy(third, write, { task: { checks: ['false'] } });
  expect(failureOf(red)).toMatchObject({ kind: 'checks-failed', check: 'false' });
});

test('the session of the attempt before is given to the next one', async () => {
  await using repo = await tempRepo();
  let session: string | null = null;
  await attemptBy(repo, async () => ({ ok: true }));
  await attemptBy(
    repo,
    async (job) => {
      session = job.session;
      return { ok: true };
    },
    { effect: { attempt: 2, start: { kind: 'continue', session: 's1' } } },
  );
  expect(session).toBe('s1');
});

test.each([
  ['a failure it reports', { ok: false, failure: { kind: 'auth', message: 'Log in.' } }, 'auth'],
  [
    'a limit with its end',
    { ok: false, failure: { kind: 'rate-limited', message: 'Wait.', retryAt: 5 } },
    'rate-limited',
  ],
  ['an unknown kind', { ok: false, failure: { kind: 'tired', message: 'No.' } }, 'permanent'],
  ['nothing', undefined, 'permanent'],
])('%s', async (_, result, kind) => {
  await using repo = await tempRepo();
  const attempted = await attemptBy(repo, async () => result as CustomResult);
  expect(failureOf(attempted)).toMatchObject({ kind });
});

test('an error it throws is a transient failure, unless the user knows better', async () => {
  await using repo = await tempRepo();
  const broken = async () => {
    throw new Error('socket hang up');
  };
  const message = 'Agent function:mine threw an error: socket hang up';
  expect(failureOf(await attemptBy(repo, broken))).toEqual({ kind: 'transient', message });
  await using second = await tempRepo();
  const failures = [{ match: 'hang up', kind: 'permanent' }] as const;
  const known = await attemptBy(second, broken, { site: { failures } });
  expect(failureOf(known)).toEqual({ kind: 'permanent', message });
});

/** Never returns by itself; stops when it is asked to. */
const patient: CustomAgent['run'] = (_, { signal }) =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve({ ok: true, text: 'stopped' }));
  });

test('time limits hold for it: the total one, and silence', async () => {
  await using repo = await tempRepo();
  const late = await attemptBy(repo, patient, { task: { timeoutMs: 60 } });
  expect(failureOf(late)).toMatchObject({ kind: 'total-timeout', afterMs: 60 });
  await using second = await tempRepo();
  const silent = await attemptBy(second, patient, { task: { idleMs: 60 } });
  expect(failureOf(silent)).toMatchObject({ kind: 'idle-timeout', afterMs: 60 });
});

test('a sign of life resets the idle limit', async () => {
  await using repo = await tempRepo();
  const { last } = await attemptBy(
    repo,
    async ({ dir }, { emit }) => {
      const enough = performance.now() + 1_500;
      while (performance.now() < enough) {
        await new Promise((resolve) => setTimeout(resolve, 10));
        emit({ type: 'activity', what: 'thinking' });
      }
      await writeFile(join(dir, 'a.txt'), 'a\n');
      return { ok: true };
    },
    { task: { idleMs: 1_000 } },
  );
  expect(last.type).toBe('attempt.finished');
});

test('cancelling aborts its signal, and what it says afterwards is not heard', async () => {
  await using repo = await tempRepo();
  const stop = new AbortController();
  let later: (() => void) | null = null;
  const attempted = await attemptBy(
    repo,
    (_, { signal, emit }) => {
      later = () => emit({ type: 'session', id: 'late' });
      queueMicrotask(() => stop.abort('cancelled'));
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve({ ok: true }));
      });
    },
    { signal: stop.signal },
  );
  later!();
  expect(failureOf(attempted)).toMatchObject({ kind: 'cancelled' });
  expect(attempted.facts.map(({ type }) => type)).toEqual(['attempt.failed']);
});

test('a function that does not stop is left behind, and not retried beside itself', async () => {
  await using repo = await tempRepo();
  const stubborn = () => new Promise<CustomResult>(() => {});
  const attempted = await attemptBy(repo, stubborn, { task: { timeoutMs: 60 } });
  expect(failureOf(attempted)).toEqual({
    kind: 'permanent',
    message:
      'Not finished after 0.06 s. Agent function:mine did not stop within 5 s, so it is not tried again.',
  });
});

test('a plan with a sandbox is refused: a function cannot be fenced', async () => {
  await using repo = await tempRepo();
  let called = false;
  const run = async (): Promise<CustomResult> => {
    called = true;
    return { ok: true };
  };
  const fenceFor: Site['fenceFor'] = () => (program) => program;
  const attempted = await attemptBy(repo, run, { site: { fenceFor } });
  expect(called).toBe(false);
  expect(failureOf(attempted)).toMatchObject({
    kind: 'permanent',
    message: expect.stringContaining('no sandbox can hold'),
  });
});

test('a base that is not in the repository fails the attempt with its name', async () => {
  await using repo = await tempRepo();
  const base = 'f'.repeat(40);
  const attempted = await attemptBy(repo, async () => ({ ok: true }), { effect: { base } });
  expect(failureOf(attempted)).toMatchObject({
    kind: 'workspace-failed',
    message: expect.stringContaining(`Commit ${base} is not in`),
  });
});
