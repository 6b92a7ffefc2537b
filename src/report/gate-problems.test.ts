import { expect, test } from 'vitest';
import { JournalBuilder } from '../../test/support/journal-builder.ts';
import { unreliableGates, unreliableText } from './gate-problems.ts';
import { summaryText } from './summary.ts';

const gate = { type: 'gate.finished', task: 'a', tree: 'a'.repeat(40), ms: 1, output: '' } as const;

test('a gate that was red and green on the same files, and one in quarantine, are named', () => {
  const run = new JournalBuilder([{ id: 'a' }]).start('a').finish('a').merge('a');
  run.add({ ...gate, gate: 'tests', ok: false }).add({ ...gate, gate: 'tests', ok: true });
  run.add({ ...gate, gate: 'types', ok: false }).add({ ...gate, gate: 'types', ok: false });
  run.add({ ...gate, gate: 'e2e', ok: false, quarantined: true });
  run.add({ ...gate, gate: 'lint', ok: true });
  const sentences = [
    'Gate tests is flaky: red and green on aaaaaaa.',
    'Gate e2e is in quarantine: it was red once, which did not count.',
  ];
  expect(unreliableGates(run.state())).toEqual([
    { gate: 'tests', flaky: ['a'.repeat(40)], quarantined: 0 },
    { gate: 'e2e', flaky: [], quarantined: 1 },
  ]);
  expect(unreliableText(run.state())).toEqual(sentences);
  const text = summaryText(run.end('failed').state(), { run: 'r1' });
  for (const sentence of sentences) expect(text).toContain(sentence);
});

test('a gate is not flaky because it could not be run, or because its command was mended', () => {
  const gates = [{ name: 'tests', run: 'npm test', timeoutMs: 1 }];
  const run = new JournalBuilder([{ id: 'a' }], { gates }).start('a').finish('a').merge('a');
  const tests = { ...gate, gate: 'tests' } as const;
  run.add({ ...tests, ok: false, command: 'npm tset', exitCode: 1 });
  run.add({ ...tests, ok: false, command: 'npm test', exitCode: 127 });
  run.add({ ...tests, ok: true });
  expect(unreliableGates(run.state())).toEqual([]);
  run.add({ ...tests, ok: false, command: 'npm test', exitCode: 1 });
  expect(unreliableText(run.state())).toEqual(['Gate tests is flaky: red and green on aaaaaaa.']);
});
