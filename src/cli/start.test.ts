import { expect, test } from 'vitest';
import { answerAtOnce } from './start.ts';

const help = () => ({ narrow: 'a long\n  line\n', wide: 'a long line\n' });

test.each([
  [['--help'], 80, help().narrow],
  [['-h'], 80, help().narrow],
  [['--help'], 12, help().wide],
  [['--help'], 11, null],
  [['--help', 'run'], 80, null],
  [['run', '--help'], 80, null],
  [['--helpful'], 80, null],
  [[], 80, null],
])('%j in %i columns is answered at once only where the answer is known', (args, columns, text) => {
  expect(answerAtOnce(args, columns, help)).toBe(text);
});
