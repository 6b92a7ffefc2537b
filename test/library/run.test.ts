/** A run from its plan to its result: plans as files and objects, events, steering, ending early. */

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type CustomAgent,
  definePlan,
  type NativePlan,
  OperationalError,
  openRepository,
  PlanError,
  UserError,
} from '../../src/index.ts';
import { landfast, start } from '../support/landfast.ts';
import { tempDir } from '../support/temp-dir.ts';
import { entriesOf, scene, scripts, until, writes } from './scene.ts';

const PLAN = definePlan({
  landfast: 1,
  name: 'two',
  defaults: { agent: 'shell' },
  gates: [{ name: 'readme', run: 'test -s README.md' }],
  tasks: [
    { id: 'a', prompt: writes('a') },
    { id: 'b', prompt: writes('b'), needs: ['a'] },
  ],
});

describe('a plan', () => {
  test('from a file, from an object or checked before gives the same run', async () => {
    await using place = await scene();
    const file = join(place.repo.outside, 'plan.yaml');
    writeFileSync(file, JSON.stringify(PLAN));
    const base = await place.repo.git('rev-parse', 'main');
    const checked = await place.opened.plan(file);
    expect(checked).toMatchObject({ name: 'two', tasks: ['a', 'b'], problems: [] });
    expect((await place.opened.plan(PLAN)).plan).toEqual(checked.plan);
    for (const plan of [checked, file, PLAN]) {
      await place.repo.git('reset', '--quiet', '--hard', base);
      const run = await place.opened.start(plan);
      const result = await run.result();
      expect(result).toMatchObject({
        run: run.id,
        outcome: 'succeeded',
        tasks: {
          a: { status: 'succeeded', attempts: 1, failure: null },
          b: { status: 'succeeded', attempts: 1, failure: null },
        },
        published: { target: 'main', commit: await place.repo.git('rev-parse', 'main') },
      });
      expect(result.landed.map(({ task }) => task)).toEqual(['a', 'b']);
      expect(result.tasks.b!.landed).toBe(result.landed[1]!.commit);
      expect(await place.files()).toEqual(['README.md', 'a.txt', 'b.txt']);
    }
  });

  test('that is wrong rejects with every problem as data', async () => {
    await using place = await scene();
    const wrong = {
      landfast: 1,
      gate: [],
      tasks: [{ id: 'a', prompt: 'x', needs: ['b'] }, { id: 'a' }],
    } as unknown as NativePlan;
    const error = await place.opened.start(wrong).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PlanError);
    expect(error).toBeInstanceOf(UserError);
    const { problems } = error as PlanError;
    expect(problems.map(({ severity, path }) => [severity, path])).toEqual(
      expect.arrayContaining([
        ['error', 'gate'],
        ['error', 'tasks[1]'],
      ]),
    );
    const file = join(place.repo.outside, 'plan.yaml');
    writeFileSync(file, 'landfast: 1\ntasks:\n  - id: a\n    promt: x\n');
    await expect(place.opened.plan(file)).rejects.toMatchObject({
      problems: [
        { file, line: 3, message: 'task "a" has no prompt' },
        { file, line: 4, message: expect.stringContaining('promt') },
      ],
    });
    expect(await place.opened.runs()).toEqual([]);
  });

  test('that names an agent which is not provided is refused before anything starts', async () => {
    await using place = await scene();
    const plan = scripts({ a: { prompt: 'x', agent: 'function:nobody' } });
    await expect(place.opened.start(plan)).rejects.toThrow(UserError);
    expect(await place.opened.runs()).toEqual([]);
  });
});

describe('events', () => {
  test('continue where they were left; several readers do not disturb each other', async () => {
    await using place = await scene();
    const run = await place.opened.start(scripts({ a: place.waits('a'), b: writes('b') }));
    const early = entriesOf(run);
    const { seq } = await until(run, 'merge.landed', 'b');
    const late = entriesOf(run, seq);
    place.release();
    const all = await early;
    expect(all.map((entry) => entry.seq)).toEqual(all.map((_, index) => index + 1));
    expect(await late).toEqual(all.slice(seq));
    expect(all.at(-1)!.event).toEqual({ type: 'run.finished', outcome: 'succeeded' });
    expect(await entriesOf(run)).toEqual(all);
    expect(await entriesOf(await place.opened.run(run.id.slice(0, 12)))).toEqual(all);
    await run.result();
  });

  test('a reader that leaves early, by break or by its signal, ends nothing', async () => {
    await using place = await scene();
    const run = await place.opened.start(scripts({ a: place.waits('a') }));
    for await (const _ of run.events()) break;
    const leaving = new AbortController();
    for await (const { event } of run.events({ signal: leaving.signal })) {
      if (event.type === 'attempt.started') leaving.abort();
    }
    place.release();
    expect((await run.result()).outcome).toBe('succeeded');
  });
});

describe('steering', () => {
  test('cancels one task; the others land', async () => {
    await using place = await scene();
    const run = await place.opened.start(scripts({ a: place.waits('a'), b: place.waits('b') }));
    await until(run, 'attempt.started', 'a');
    await run.cancel('a');
    place.release();
    const { outcome, tasks } = await run.result();
    expect(outcome).toBe('failed');
    expect(tasks.a).toMatchObject({
      status: 'failed',
      landed: null,
      failure: { kind: 'cancelled' },
    });
    expect(tasks.b!.status).toBe('succeeded');
    expect(await place.files()).toEqual(['README.md', 'b.txt']);
  });

  test('works at once: a run that was just started can be cancelled as a whole', async () => {
    await using place = await scene();
    const run = await place.opened.start(scripts({ a: place.waits('a') }));
    await run.cancel();
    expect(await run.result()).toMatchObject({ outcome: 'cancelled', landed: [], published: null });
  });

  test('pauses and continues one task, and the run', async () => {
    await using place = await scene();
    const run = await place.opened.start(scripts({ a: place.waits('a'), b: writes('b') }));
    await until(run, 'attempt.started', 'a');
    await run.pause({ tasks: ['a'] });
    await until(run, 'merge.landed', 'b');
    place.release();
    await run.pause();
    await until(run, 'run.paused');
    await run.continue();
    await run.continue({ tasks: ['a'] });
    expect((await run.result()).outcome).toBe('succeeded');
    const types = (await entriesOf(run)).map(({ event }) => event.type);
    expect(types.indexOf('task.continued')).toBeLessThan(types.lastIndexOf('attempt.finished'));
  });

  test('retries a failed task with a note, which its agent is told', async () => {
    await using place = await scene();
    const prompts: string[] = [];
    const run = await place.opened.start(
      scripts({ a: { agent: 'function:picky', prompt: 'Write a.' }, b: place.waits('b') }),
      {
        agents: [
          {
            name: 'picky',
            run: async ({ prompt, dir }) => {
              prompts.push(prompt);
              if (prompts.length === 1) {
                return { ok: false, failure: { kind: 'permanent', message: 'No idea.' } };
              }
              writeFileSync(join(dir, 'a.txt'), 'a');
              return { ok: true };
            },
          },
        ],
      },
    );
    await until(run, 'task.failed', 'a');
    await run.retry(['a'], { note: 'The colour is blue.' });
    place.release();
    expect((await run.result()).tasks.a).toMatchObject({ status: 'succeeded', attempts: 2 });
    expect(prompts[0]).not.toContain('blue');
    expect(prompts[1]).toContain('The colour is blue.');
  });

  test('sends review comments, which the agent answers in another attempt', async () => {
    await using place = await scene();
    const prompts: string[] = [];
    const author: CustomAgent = {
      name: 'author',
      run: async ({ prompt, dir }) => {
        prompts.push(prompt);
        writeFileSync(join(dir, 'a.txt'), prompts.length === 1 ? 'bad\n' : 'good\n');
        return { ok: true };
      },
    };
    const plan = scripts(
      { a: { agent: 'function:author', prompt: 'Write a.' }, b: place.waits('b') },
      {
        gates: [{ name: 'good', run: '! grep -s bad a.txt' }],
        land: { on_gate_failure: 'fail' },
      },
    );
    const run = await place.opened.start(plan, { agents: [author] });
    await until(run, 'task.failed', 'a');
    await run.comment('a', [{ path: 'a.txt', line: 1, text: 'Say something nice.' }]);
    place.release();
    expect((await run.result()).tasks.a).toMatchObject({ status: 'succeeded', attempts: 2 });
    expect(prompts[1]).toContain('Say something nice.');
    expect(await place.repo.git('show', 'main:a.txt')).toBe('good');
  });

  test('limits take effect at once', async () => {
    await using place = await scene();
    const tasks = { a: place.waits('a'), b: place.waits('b') };
    const run = await place.opened.start(scripts(tasks), { workers: 1 });
    await until(run, 'attempt.started', 'a');
    await run.limit({ workers: 2 });
    await until(run, 'attempt.started', 'b');
    place.release();
    expect((await run.result()).outcome).toBe('succeeded');
    const started = (await entriesOf(run)).find(({ event }) => event.type === 'run.started');
    expect(started).toMatchObject({ event: { plan: { limits: { workers: 1 } } } });
  });

  test.each([true, false])('answers land.publish: ask (publish: %s)', async (publish) => {
    await using place = await scene();
    const plan = scripts({ a: writes('a') }, { land: { publish: 'ask' } });
    const run = await place.opened.start(plan, { attended: true });
    await until(run, 'publish.awaited');
    expect(await place.files()).toEqual(['README.md']);
    await run.approve({ publish });
    const { published } = await run.result();
    expect(published?.target ?? null).toBe(publish ? 'main' : null);
    expect(await place.files()).toEqual(publish ? ['README.md', 'a.txt'] : ['README.md']);
  });

  test('land.publish: ask ends a run that is not attended; resume answers it', async () => {
    await using place = await scene();
    const plan = scripts({ a: writes('a') }, { land: { publish: 'ask' } });
    const run = await place.opened.start(plan);
    expect(await run.result()).toMatchObject({ outcome: 'failed', published: null });
    const both = place.opened.resume(run.id, { publish: true, retry: ['a'] });
    await expect(both).rejects.toThrow(UserError);
    const again = await place.opened.resume(run.id, { publish: true });
    expect(await again.result()).toMatchObject({ outcome: 'succeeded', published: {} });
    expect(await place.files()).toEqual(['README.md', 'a.txt']);
  });

  test('skips a task; those that need it start if it counts as satisfied', async () => {
    await using place = await scene();
    const run = await place.opened.start(
      scripts({ a: place.waits('a'), b: { prompt: writes('b'), needs: ['c'] }, c: 'exit 1' }),
    );
    await until(run, 'task.failed', 'c');
    await run.skip(['c'], { satisfied: true });
    await until(run, 'merge.landed', 'b');
    place.release();
    expect((await run.result()).tasks).toMatchObject({
      a: { status: 'succeeded' },
      b: { status: 'succeeded' },
      c: { status: 'skipped' },
    });
  });

  test('a command that makes no sense rejects and changes nothing', async () => {
    await using place = await scene();
    const run = await place.opened.start(scripts({ a: place.waits('a') }));
    await until(run, 'attempt.started', 'a');
    await expect(run.cancel('nobody')).rejects.toThrow(UserError);
    await expect(run.retry(['a'])).rejects.toThrow(UserError);
    await expect(run.approve()).rejects.toThrow(UserError);
    place.release();
    expect((await run.result()).outcome).toBe('succeeded');
    await expect(run.cancel('a')).rejects.toThrow(UserError);
  });
});

describe('a signal', () => {
  test('that has aborted already rejects at once, and nothing was started', async () => {
    await using place = await scene();
    const signal = AbortSignal.abort(new Error('not today'));
    const plan = scripts({ a: writes('a') });
    await expect(place.opened.start(plan, { signal })).rejects.toThrow('not today');
    await expect(place.opened.land(['main'], { signal })).rejects.toThrow('not today');
    await expect(openRepository(place.repo.dir, { signal })).rejects.toThrow();
    expect(await place.opened.runs()).toEqual([]);
  });

  test('that aborts later keeps the work, and resume continues it', async () => {
    await using place = await scene();
    const quitting = new AbortController();
    const plan = scripts({ a: place.waits('a'), b: writes('b') });
    const run = await place.opened.start(plan, { signal: quitting.signal });
    await until(run, 'merge.landed', 'b');
    await until(run, 'attempt.started', 'a');
    quitting.abort();
    const interrupted = await run.result();
    expect(interrupted).toMatchObject({
      outcome: 'interrupted',
      tasks: { a: { status: 'unfinished' }, b: { status: 'succeeded' } },
    });
    const { seq } = (await entriesOf(run)).at(-1)!;
    place.release();
    const again = await place.opened.resume(run.id);
    expect(again.id).toBe(run.id);
    expect(await again.result()).toMatchObject({
      outcome: 'succeeded',
      tasks: { a: { status: 'succeeded', attempts: 2 }, b: { attempts: 1 } },
    });
    const [resumed] = await entriesOf(again, seq);
    expect(resumed!.event.type).toBe('run.resumed');
    expect(await place.files()).toEqual(['README.md', 'a.txt', 'b.txt']);
  });
});

describe('runs of other processes', () => {
  test('are listed, followed and steered like those of this one', async () => {
    await using place = await scene();
    const plan = join(place.repo.outside, 'plan.yaml');
    writeFileSync(plan, JSON.stringify(scripts({ a: place.waits('a') }, { name: 'other' })));
    const engine = start(['run', plan, '--events'], { cwd: place.repo.dir });
    await engine.untilFact('attempt.started', 'a');
    const run = await place.opened.run();
    const summary = { run: run.id, plan: 'other' };
    expect(await place.opened.runs()).toEqual([{ ...summary, outcome: null, live: true }]);
    await expect(place.opened.resume(run.id)).rejects.toThrow(OperationalError);
    const entries = entriesOf(run);
    const result = run.result();
    await run.limit({ workers: 7 });
    place.release();
    const { code } = await engine.ended;
    expect(code).toBe(0);
    expect(await result).toMatchObject({ outcome: 'succeeded', published: { target: 'main' } });
    expect(await entries).toEqual(engine.entries);
    expect(await place.opened.runs()).toEqual([{ ...summary, outcome: 'succeeded', live: false }]);
  });

  test('a killed engine ends the events; the result says interrupted', async () => {
    await using place = await scene();
    const plan = join(place.repo.outside, 'plan.yaml');
    writeFileSync(plan, JSON.stringify(scripts({ a: place.waits('a') })));
    const engine = start(['run', plan, '--events'], { cwd: place.repo.dir });
    await engine.untilFact('attempt.started', 'a');
    const run = await place.opened.run();
    const [result, entries] = [run.result(), entriesOf(run)];
    engine.child.kill('SIGKILL');
    expect(await result).toMatchObject({
      outcome: 'interrupted',
      tasks: { a: { status: 'unfinished' } },
    });
    expect((await entries).at(-1)!.event.type).toBe('attempt.started');
    place.release();
    const again = await place.opened.resume(run.id);
    expect((await again.result()).outcome).toBe('succeeded');
  });

  test('the program sees and ends a run of the library', async () => {
    await using place = await scene();
    const run = await place.opened.start(scripts({ a: place.waits('a') }));
    await until(run, 'attempt.started', 'a');
    const status = await landfast(['status', '--json'], { cwd: place.repo.dir });
    expect(JSON.parse(status.stdout)).toMatchObject({ run: run.id });
    expect((await landfast(['cancel', 'a'], { cwd: place.repo.dir })).code).toBe(0);
    expect((await run.result()).tasks.a).toMatchObject({ failure: { kind: 'cancelled' } });
  });
});

describe('landing', () => {
  test('finished branches land behind gates; one that breaks them stays out', async () => {
    await using place = await scene();
    await place.repo.commit('feature/a', { 'a.txt': 'a\n' });
    await place.repo.commit('feature/b', { 'b.txt': 'b\n' });
    await place.repo.commit('feature/broken', { 'README.md': '' });
    const gates = ['test -s README.md', 'a=test ! -e nothing'];
    const both = await place.opened.land(['feature/a', 'feature/b'], { gates });
    expect(both).toMatchObject({ outcome: 'succeeded', published: { target: 'main' } });
    expect(both.landed).toHaveLength(2);
    expect(await place.files()).toEqual(['README.md', 'a.txt', 'b.txt']);
    const head = await place.repo.git('rev-parse', 'main');
    const broken = await place.opened.land(['feature/broken'], { gates });
    expect(broken).toMatchObject({ outcome: 'failed', landed: [], published: null });
    expect(Object.values(broken.tasks)).toMatchObject([{ failure: { kind: 'gate-failed' } }]);
    expect(await place.repo.git('rev-parse', 'main')).toBe(head);
    await expect(place.opened.land(['feature/a'], { gates })).rejects.toThrow('already');
    await expect(place.opened.land(['feature/none'])).rejects.toThrow(UserError);
  });
});

test('a folder outside of git, an unknown run and nothing to resume are errors for the caller', async () => {
  await using empty = await tempDir();
  await expect(openRepository(empty.path)).rejects.toThrow(OperationalError);
  await using place = await scene();
  expect(place.opened.dir).toBe(place.repo.dir);
  await expect(place.opened.run('nobody')).rejects.toThrow(UserError);
  await expect(place.opened.resume()).rejects.toThrow(UserError);
  expect(existsSync(join(place.repo.commonDir, 'landfast', 'journal.db'))).toBe(false);
});
