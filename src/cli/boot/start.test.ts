import { expect, test } from 'vitest';
import { answerAtOnce } from './start.ts';

const help = (command = '') => {
  if (command === 'run') return { narrow: 'run', wide: 'to run' };
  return command === '' ? top : null;
};
const top = { narrow: 'a long\n  line\n', wide: 'a long line\n' };

test.each([
  [['--help'], 80, top.narrow],
  [['-h'], 80, top.narrow],
  [['--help'], 12, top.wide],
  [['--help'], 11, null],
  [['--help', 'run'], 80, null],
  [['run', '--help'], 80, 'run'],
  [['run', '-h'], 81, 'to run'],
  [['rum', '--help'], 80, null],
  [['run', 'a', '--help'], 80, null],
  [['--helpful'], 80, null],
  [[], 80, null],
])('%j in %i columns is answered at once only where the answer is known', (args, columns, text) => {
  expect(answerAtOnce(args, columns, help)).toBe(text);
});
