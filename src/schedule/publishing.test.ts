import { expect, test } from 'vitest';
import { JournalBuilder, planOf, START } from '../../test/support/journal-builder.ts';
import type { LandingSpec } from '../model/plan.ts';
import { decide } from './decide.ts';
import { land } from './landing.ts';
import { publishEarly, publishEffect, publishLast } from './publishing.ts';

const AGENT = { resume: true, prose: true };
const { landing } = planOf([]);
const each: LandingSpec = { ...landing, publish: 'each' };

/** Task `a` has landed, `b` has not begun. */
const begun = (spec = each) =>
  new JournalBuilder([{ id: 'a' }, { id: 'b' }], { landing: spec })
    .start('a')
    .finish('a')
    .land('a');

const headsOf = (journal: JournalBuilder) =>
  publishEarly(journal.state()).map(({ record }) => record);

test('with each, what has landed is published while other tasks go on, once', () => {
  const journal = begun();
  const head = journal.state().head!;
  const started = { type: 'publish.started', head, early: true } as const;
  expect(headsOf(journal)).toEqual([started]);
  expect(headsOf(journal.add(started))).toEqual([]);
  expect(headsOf(begun(landing))).toEqual([]);
});

test('never from the middle of a landing, nor while the run is stopping', () => {
  const { landing: _, ...state } = begun().state();
  expect(publishEarly({ ...state, landing: 'f'.repeat(40) })).toEqual([]);
  expect(headsOf(begun().add({ type: 'run.stopping', mode: 'drain', why: 'asked' }))).toEqual([]);
});

test('one that is blocked is tried again with the next head, and at the end', () => {
  const journal = begun();
  journal.add({ type: 'publish.started', head: journal.state().head!, early: true });
  journal.add({ type: 'publish.blocked', why: 'Changes.', remedy: 'git merge' });
  expect(headsOf(journal)).toEqual([]);
  expect(publishLast(journal.state())).toHaveLength(1);
  journal.add({ type: 'publish.started', head: journal.state().head! });
  journal.add({ type: 'publish.blocked', why: 'Changes.', remedy: 'git merge' });
  expect(publishLast(journal.state())).toEqual([]);
});

test('when the last task fails at the same moment, it is not early any more', () => {
  const journal = begun().start('b').fail('b', { kind: 'permanent', message: 'No.' });
  const { decisions } = decide(journal.state(), START + 1_000_000, () => AGENT);
  const types = decisions.map(({ record }) => record.type);
  expect(types).toContain('task.failed');
  expect(types).not.toContain('publish.started');
});

test('what is gone on with after a crash proves only what had landed up to its head', () => {
  const journal = begun();
  const head = journal.state().head!;
  const before = publishEffect(journal.state(), head, 'main');
  journal.start('b').finish('b').land('b');
  expect(before.landed).toHaveLength(1);
  expect(publishEffect(journal.state(), head, 'main')).toEqual(before);
  expect(publishEffect(journal.state(), journal.state().head!, 'main').landed).toHaveLength(2);
});

test('what was told to be in the target is proved again, but not told again', () => {
  const journal = begun();
  const proved = { type: 'work.proved', task: 'a', by: 'history', commits: [] } as const;
  journal.start('b').finish('b').land('b').add(proved);
  const effect = publishEffect(journal.state(), journal.state().head!, 'main');
  expect(effect.landed.map(({ task }) => task)).toEqual(['a', 'b']);
  expect(effect.untold).toEqual(['b']);
});

test('a merge knows who made the work and what it cost', () => {
  const journal = new JournalBuilder([{ id: 'a', model: 'opus' }], { landing });
  const tokens = { inputTokens: 1, outputTokens: 1 };
  const usage = { type: 'attempt.usage', task: 'a', attempt: 1, costUsd: 0.25, ...tokens } as const;
  journal.start('a').add(usage).finish('a');
  const [decision] = land(journal.state(), () => ({ resume: true, prose: true }));
  const credit = { by: { agent: 'claude', model: 'opus' }, costUsd: 0.25 };
  expect(decision?.perform).toMatchObject({ kind: 'merge', task: 'a', credit });
});
