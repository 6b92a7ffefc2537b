/** Several runs in one process: none shares anything with another, or changes the process. */

import { expect, test, vi } from 'vitest';
import { processList } from '../../src/process/process-list.ts';
import { marked } from '../../src/process/process-tree.ts';
import { entriesOf, type Scene, scene, scripts, until, writes } from './scene.ts';

const NAMES = ['one', 'two', 'three'] as const;
const secretOf = (name: string): string => `hidden-value-of-${name}`;

const children = (): readonly number[] =>
  processList().flatMap(({ pid, parent }) => (parent === process.pid ? pid : []));

/** What a program sees of itself and would notice if a library changed it. */
function ownProcess() {
  return {
    env: { ...process.env },
    cwd: process.cwd(),
    umask: process.umask(),
    exitCode: process.exitCode,
    listeners: process.eventNames().map((name) => [name, process.listenerCount(name)]),
  };
}

function named(name: string): Promise<Scene> {
  return scene({ APP_TOKEN: secretOf(name), LC_WHO: name, GIT_AUTHOR_NAME: `Author ${name}` });
}

/** Says its secret, writes what its environment says, waits. */
function plan(place: Scene, name: string) {
  const lines = ['echo "token $APP_TOKEN"', 'echo "$LC_WHO" > who.txt', place.waits(name)];
  // Only the first knows that this is a secret.
  if (name === 'two') lines.unshift(`echo "overheard ${secretOf('one')}"`);
  return scripts(
    { work: { prompt: lines.join('\n'), pass_env: ['APP_TOKEN'] } },
    { gates: [{ name: 'who', run: `test "$LC_WHO" = ${name} && grep -q ${name} who.txt` }] },
  );
}

test('three runs in three repositories share nothing; one is cancelled, the others land', async () => {
  await using first = await named('one');
  await using second = await named('two');
  await using third = await named('three');
  const places = [first, second, third] as const;
  const before = ownProcess();
  const others = children(); // Of a test that this process ran before.
  const printed = [vi.spyOn(process.stdout, 'write'), vi.spyOn(process.stderr, 'write')];
  const runs = await Promise.all(
    places.map((place, index) => place.opened.start(plan(place, NAMES[index]!))),
  );
  for (const run of runs) await until(run, 'attempt.started', 'work');
  await runs[2]!.cancel();
  expect((await runs[2]!.result()).outcome).toBe('cancelled');
  expect(marked(`${runs[2]!.id}/`)).toEqual([]);
  for (const place of places) place.release();
  const results = await Promise.all(runs.map((run) => run.result()));
  expect(results.map(({ outcome }) => outcome)).toEqual(['succeeded', 'succeeded', 'cancelled']);

  expect(await first.repo.git('show', 'main:who.txt')).toBe('one');
  expect(await second.repo.git('show', 'main:who.txt')).toBe('two');
  expect(await third.files()).toEqual(['README.md']);
  const authors = await Promise.all(
    [first, second].map(({ repo }) => repo.git('log', '-1', '--format=%an', '--', 'who.txt')),
  );
  expect(authors).toEqual(['Author one', 'Author two']);

  const [one, two, three] = places.map((place) => place.written());
  for (const text of [one, two, three]) expect(text).toContain('token ');
  expect(one).not.toContain(secretOf('one'));
  expect(two).toContain(`overheard ${secretOf('one')}`);
  expect(two).not.toContain(secretOf('two'));
  expect(three).not.toContain('hidden-value-of');

  for (const { id } of runs) expect(marked(`${id}/`)).toEqual([]);
  for (const write of printed) expect(write).not.toHaveBeenCalled();
  expect(ownProcess()).toEqual(before);
  expect(children().filter((pid) => !others.includes(pid))).toEqual([]);
  expect(places.map(({ warnings }) => warnings.filter((text) => text.includes('hidden')))).toEqual([
    [],
    [],
    [],
  ]);
});

test('two runs of one repository at once both land', async () => {
  await using place = await scene();
  const [a, b] = await Promise.all([
    place.opened.start(scripts({ a: place.waits('a') }, { name: 'first' })),
    place.opened.start(scripts({ b: place.waits('b'), c: writes('c') }, { name: 'second' })),
  ]);
  expect(a.id).not.toBe(b.id);
  await until(a, 'attempt.started', 'a');
  await until(b, 'attempt.started', 'b');
  expect(await place.opened.runs()).toMatchObject([{ live: true }, { live: true }]);
  place.release();
  const results = await Promise.all([a.result(), b.result()]);
  expect(results.map(({ outcome }) => outcome)).toEqual(['succeeded', 'succeeded']);
  expect(await place.files()).toEqual(['README.md', 'a.txt', 'b.txt', 'c.txt']);
  const tasks = (await entriesOf(a)).map(({ event }) => ('task' in event ? event.task : 'a'));
  expect(new Set(tasks)).toEqual(new Set(['a']));
});
