/** Agents and gates that are functions of the calling program. */

import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { CustomAgent, CustomJob, GateCandidate, GateFunction } from '../../src/index.ts';
import { landfast } from '../support/landfast.ts';
import { entriesOf, type Scene, scene, scripts, until, writes } from './scene.ts';

const exec = promisify(execFile);

const own = (retries = 0) =>
  scripts({ a: { agent: 'function:own', prompt: 'Write a.txt.', retries, retry: { pause: 0 } } });

function start(place: Scene, run: CustomAgent['run'], retries = 0) {
  return place.opened.start(own(retries), { agents: [{ name: 'own', run }] });
}

describe('an agent', () => {
  test('works in the workspace, emits, and its work lands', async () => {
    await using place = await scene({ LC_ALL: 'C' });
    const jobs: CustomJob[] = [];
    const run = await start(place, async (job, { emit }) => {
      jobs.push(job);
      emit({ type: 'session', id: 'thread-7', model: 'mine-1' });
      emit({ type: 'usage', usage: { costUsd: 0.25, inputTokens: 10, outputTokens: 5 } });
      emit({ type: 'text', text: 'On it.' });
      await exec('sh', ['-c', 'echo $LC_ALL > a.txt'], { cwd: job.dir, env: job.env });
      return { ok: true, text: 'Wrote a.txt.' };
    });
    const result = await run.result();
    expect(result).toMatchObject({ outcome: 'succeeded', costUsd: 0.25 });
    expect(result.tasks.a).toMatchObject({ text: 'Wrote a.txt.', costUsd: 0.25, attempts: 1 });
    expect(jobs).toMatchObject([{ run: run.id, task: 'a', attempt: 1, session: null }]);
    expect(jobs[0]!.prompt).toContain('Write a.txt.');
    expect(jobs[0]!.dir).not.toBe(place.repo.dir);
    expect(readFileSync(join(place.repo.dir, 'a.txt'), 'utf8')).toBe('C\n');
    const { event } = await until(run, 'attempt.session', 'a');
    expect(event).toMatchObject({ session: 'thread-7', model: 'mine-1' });
  });

  test.each(['auth', 'permanent', 'billing'] as const)(
    'a failure of kind %s is final',
    async (kind) => {
      await using place = await scene();
      const failure = { kind, message: `No: ${kind}.` };
      const run = await start(place, async () => ({ ok: false, failure }), 3);
      const { outcome, tasks } = await run.result();
      expect(outcome).toBe('failed');
      expect(tasks.a).toMatchObject({ status: 'failed', attempts: 1, failure });
    },
  );

  test('a transient failure, and one that throws, is tried again', async () => {
    await using place = await scene();
    let calls = 0;
    const run = await start(
      place,
      async ({ dir }) => {
        calls += 1;
        if (calls === 1) return { ok: false, failure: { kind: 'transient', message: 'Busy.' } };
        if (calls === 2) throw new Error('a bug of the caller');
        writeFileSync(join(dir, 'a.txt'), 'a');
        return { ok: true };
      },
      2,
    );
    expect((await run.result()).tasks.a).toMatchObject({ status: 'succeeded', attempts: 3 });
    const failures = (await entriesOf(run)).flatMap(({ event }) =>
      event.type === 'attempt.failed' ? [event.failure.message] : [],
    );
    expect(failures).toEqual(['Busy.', expect.stringContaining('a bug of the caller')]);
  });

  test('cancelling its task aborts its signal', async () => {
    await using place = await scene();
    const [called, aborted] = [Promise.withResolvers<void>(), Promise.withResolvers<boolean>()];
    const run = await start(place, async (_, { signal }) => {
      called.resolve();
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      aborted.resolve(signal.aborted);
      return { ok: true };
    });
    await called.promise;
    await run.cancel('a');
    expect(await aborted.promise).toBe(true);
    const { tasks, landed } = await run.result();
    expect(tasks.a).toMatchObject({ status: 'failed', failure: { kind: 'cancelled' } });
    expect(landed).toEqual([]);
  });

  test('another program cannot resume its run; this one can, with the function', async () => {
    await using place = await scene();
    const quitting = new AbortController();
    const first: CustomAgent = {
      name: 'own',
      run: async (_, { signal }) => {
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        return { ok: false, failure: { kind: 'transient', message: 'Aborted.' } };
      },
    };
    const { signal } = quitting;
    const run = await place.opened.start(own(), { agents: [first], signal });
    await until(run, 'attempt.started', 'a');
    quitting.abort();
    expect((await run.result()).outcome).toBe('interrupted');
    const other = await landfast(['resume', run.id], { cwd: place.repo.dir });
    expect(other.code).toBe(2);
    expect(other.stderr).toContain('function:own');
    await expect(place.opened.resume(run.id)).rejects.toThrow('function:own');
    const second: CustomAgent = {
      name: 'own',
      run: async ({ dir }) => {
        writeFileSync(join(dir, 'a.txt'), 'a');
        return { ok: true };
      },
    };
    const again = await place.opened.resume(run.id, { agents: [second] });
    expect((await again.result()).outcome).toBe('succeeded');
  });
});

describe('a gate', () => {
  function judged(place: Scene, gate: GateFunction, name = 'a') {
    return place.opened.start(
      scripts({ [name]: writes(name) }, { land: { on_gate_failure: 'fail' } }),
      { gates: { own: gate } },
    );
  }

  test('that is green lets the exact tree land that it saw', async () => {
    await using place = await scene();
    const seen: (Pick<GateCandidate, 'tree' | 'commit'> & { readonly text: string })[] = [];
    const run = await judged(place, {
      check: async ({ dir, tree, commit, log }) => {
        log('looking');
        seen.push({ tree, commit, text: readFileSync(join(dir, 'a.txt'), 'utf8') });
        return 'green';
      },
    });
    const { landed } = await run.result();
    expect(landed).toEqual([{ task: 'a', commit: seen[0]!.commit }]);
    expect(await place.repo.git('rev-parse', 'main^{tree}')).toBe(seen[0]!.tree);
    expect(seen[0]!.text).toBe('a\n');
  });

  test('that is red, or throws, keeps the work out', async () => {
    await using place = await scene();
    const red = await judged(place, {
      check: async ({ dir }) => (existsSync(join(dir, 'a.txt')) ? { red: 'Too blue.' } : 'green'),
    });
    const refused = await red.result();
    expect(refused).toMatchObject({ outcome: 'failed', landed: [], published: null });
    expect(refused.tasks.a!.failure).toMatchObject({ kind: 'gate-failed' });
    expect(refused.tasks.a!.failure!.message).toContain('own');
    const broken = await judged(place, {
      check: async () => {
        throw new Error('a bug of the caller');
      },
    });
    expect((await broken.result()).landed).toEqual([]);
    expect(await place.files()).toEqual(['README.md']);
  });

  test('with a key is not asked twice about one tree; without one it is, by each run', async () => {
    await using place = await scene();
    const base = await place.repo.git('rev-parse', 'main');
    let calls = 0;
    const check = async () => {
      calls += 1;
      return 'green' as const;
    };
    const again = async (gate: GateFunction) => {
      calls = 0;
      for (const _ of [1, 2]) {
        await place.repo.git('reset', '--quiet', '--hard', base);
        expect((await (await judged(place, gate)).result()).outcome).toBe('succeeded');
      }
      return calls;
    };
    expect(await again({ check, key: 'v1' })).toBe(1);
    expect(await again({ check, key: 'v2' })).toBe(1);
    expect(await again({ check })).toBe(2);
  });
});
