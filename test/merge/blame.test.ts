/** Who is to blame for a red gate: the work by itself, or its combination with what landed before. */

import { expect, test } from 'vitest';
import type { Event } from '../../src/model/event.ts';
import { landfast } from '../support/landfast.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

/** Lands two branches, the second on top of the first; the second does not get in. */
async function landBoth(repo: TempRepo, gate: string, args: readonly string[] = []) {
  await repo.commit('first', { first: '1\n' });
  await repo.commit('second', { second: '1\n' });
  const all = ['land', 'first', 'second', '--gate', `tests=${gate}`, ...args];
  const { code, stdout, stderr } = await landfast([...all, '--events'], { cwd: repo.dir });
  expect({ code, stderr }).toMatchObject({ code: 1 });
  const facts = stdout
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { event: Event }).event);
  const failure = facts.flatMap((fact) => (fact.type === 'task.failed' ? [fact.failure] : []))[0];
  const ran = facts.flatMap((fact) =>
    fact.type === 'gate.finished' && fact.task === 'second'
      ? [`${fact.on ?? 'candidate'} ${fact.spared ?? (fact.ok ? 'green' : 'red')}`]
      : [],
  );
  return { failure, ran, summary: stderr };
}

test('work that is red by itself is not said to be red together with others', async () => {
  await using repo = await tempRepo();
  const { failure, ran, summary } = await landBoth(repo, '! test -e second');
  expect(failure).toMatchObject({
    kind: 'gate-failed',
    message: 'Gate tests is red on this work by itself.',
    landedSince: [],
  });
  expect(ran).toEqual(['candidate red', 'alone red']);
  expect(summary).not.toContain('red together');
});

test('work that is green by itself and red with what landed before is told as that', async () => {
  await using repo = await tempRepo();
  const { failure, ran, summary } = await landBoth(repo, '! test -e first || ! test -e second');
  const message =
    'Gate tests is green on this work by itself, but red combined with what landed meanwhile (first).';
  expect(failure).toMatchObject({ kind: 'gate-failed', message, landedSince: ['first'] });
  expect(ran).toEqual(['candidate red', 'alone green', 'candidate red']);
  expect(summary).toContain('It is green alone, red together with what landed meanwhile: first.');
});

test('work that was verified alone before is not run alone again', async () => {
  await using repo = await tempRepo();
  const gate = '! test -e first || ! test -e second';
  const base = await repo.git('rev-parse', 'HEAD');
  await repo.commit('second', { second: '1\n' });
  const alone = ['land', 'second', '--gate', `tests=${gate}`];
  const before = await landfast(alone, { cwd: repo.dir });
  expect(before).toMatchObject({ code: 0 });
  await repo.git('reset', '--quiet', '--hard', base);
  await repo.git('branch', '-D', 'second');
  const { ran } = await landBoth(repo, gate);
  expect(ran).toEqual(['candidate red', 'alone memory', 'candidate red']);
});
