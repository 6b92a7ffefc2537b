/** Work that is there already, as decide sees it: adopted, landed, and mended only if it must be. */

import { describe, expect, test } from 'vitest';
import { JournalBuilder, START, type TaskInput } from '../../test/support/journal-builder.ts';
import type { Failure } from '../model/failure.ts';
import { type Decided, decide } from './decide.ts';

const LATER = START + 1_000_000;
const INTERRUPTED: Failure = { kind: 'interrupted', message: 'Ended.' };
const CONFLICT: Failure = { kind: 'conflict', message: 'No.', files: ['x'], landedSince: [] };
const AGENT = { resume: true, prose: true };

const sha = (nth: number): string => nth.toString(16).padStart(4, '0').padEnd(40, 'c');

function decided(journal: JournalBuilder): Decided {
  return decide(journal.state(), LATER, () => AGENT);
}

/** The facts that would be recorded, in short: `work.adopted a`. */
function facts(journal: JournalBuilder): readonly string[] {
  return decided(journal).decisions.map(({ record }) => {
    const what = 'task' in record ? record.task : 'outcome' in record ? record.outcome : '';
    return `${record.type} ${what}`.trim();
  });
}

describe('work that is there already', () => {
  const TASKS: readonly TaskInput[] = [{ id: 'a', work: sha(9) }, { id: 'b' }];

  test('it is adopted before anything else is decided, and then waits to land', () => {
    const journal = new JournalBuilder(TASKS);
    expect(decided(journal).decisions).toEqual([
      { record: { type: 'work.adopted', task: 'a', commit: sha(9) } },
    ]);
    journal.adopt('a', sha(9));
    expect(facts(journal)).toEqual(['merge.started a', 'attempt.started b']);
  });

  test('it waits for what it needs, and for nothing in a run that stops', () => {
    const needy = new JournalBuilder([{ id: 'a', work: sha(9), needs: ['b'] }, { id: 'b' }]);
    expect(facts(needy)).toEqual(['attempt.started b']);
    const stopping = new JournalBuilder([{ id: 'a', work: sha(9) }]);
    stopping.add({ type: 'run.stopping', mode: 'drain', why: 'Asked for.' });
    expect(facts(stopping)).toEqual(['run.finished interrupted']);
  });

  test('where it conflicts, an agent gets it as it is; a script gives up', () => {
    const journal = new JournalBuilder([{ id: 'a', work: sha(9) }]);
    journal.adopt('a', sha(9)).merge('a').reject('a', CONFLICT);
    expect(decided(journal).decisions[0]?.record).toMatchObject({
      type: 'attempt.started',
      start: { kind: 'rework', session: null, commit: sha(9) },
    });
    const script = decide(journal.state(), LATER, () => ({ resume: false, prose: false }));
    expect(script.decisions.map(({ record }) => record.type)).toEqual(['task.failed']);
  });

  test('an agent that was cut short gets it again, and that uses up no rework', () => {
    const journal = new JournalBuilder([{ id: 'a', work: sha(9) }]);
    journal.adopt('a', sha(9)).merge('a').reject('a', CONFLICT);
    journal.start('a', 'rework').fail('a', INTERRUPTED);
    const [again] = decided(journal).decisions;
    expect(again?.record).toMatchObject({
      start: { kind: 'rework', session: null, commit: sha(9) },
    });
    journal.start('a', 'rework');
    expect(journal.state().tasks.get('a')?.reworks).toBe(1);
  });

  test('a retry of what did not land adopts it once more', () => {
    const journal = new JournalBuilder([{ id: 'a', work: sha(9) }]);
    journal.adopt('a', sha(9)).merge('a').reject('a', CONFLICT).giveUp('a', CONFLICT);
    journal.add({ type: 'task.retried', task: 'a', fresh: false });
    expect(facts(journal)).toEqual(['work.adopted a']);
  });
});
