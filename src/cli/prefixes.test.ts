import { Command } from 'commander';
import { expect, test } from 'vitest';
import { writtenOut } from './prefixes.ts';

function program(): Command {
  const whole = new Command('landfast').option('-C, --project-dir <dir>');
  whole.command('run').option('-n, --dry-run').option('--report <path>').option('--resume');
  whole.command('logs').option('--run <run>');
  return whole;
}

test.each([
  ['run p --dry', 'run p --dry-run'],
  ['--project=x run p --rep=a.md', '--project-dir=x run p --report=a.md'],
  ['run p --help', 'run p --help'],
  ['run p --re', 'run p --re'],
  ['run p --dry-run --resume', 'run p --dry-run --resume'],
  ['run p --report --dry', 'run p --report --dry'],
  ['run p -- --dry', 'run p -- --dry'],
  ['run p --nothing', 'run p --nothing'],
  ['logs --ru r', 'logs --run r'],
  ['--dry', '--dry'],
])('%s', (given, expected) => {
  expect(writtenOut(program(), given.split(' '))).toEqual(expected.split(' '));
});
