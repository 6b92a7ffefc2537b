import { Command } from 'commander';
import { expect, test } from 'vitest';
import { UserError } from '../base/errors.ts';
import { writtenOut } from './prefixes.ts';

function program(): Command {
  const whole = new Command('landfast').option('-C, --project-dir <dir>');
  whole
    .command('run')
    .option('-n, --dry-run')
    .option('--report <path>')
    .option('--resume')
    .option('--max-workers <n>');
  whole.command('logs').option('--run <run>');
  whole.command('kept').option('--json').command('drop').option('--yes');
  whole.command('pool').command('status', { isDefault: true }).option('--json');
  return whole;
}

test.each([
  ['run p --dry', 'run p --dry-run'],
  ['--project=x run p --rep=a.md', '--project-dir=x run p --report=a.md'],
  ['run p --help', 'run p --help'],
  ['run p --dry-run --resume', 'run p --dry-run --resume'],
  ['run p --report --dry', 'run p --report --dry'],
  ['run p -- --dry', 'run p -- --dry'],
  ['logs --ru r', 'logs --run r'],
  ['--dry', '--dry'],
  ['--dry run p', '--dry-run run p'],
  ['-C logs run p --dry', '-C logs run p --dry-run'],
  ['kept drop r --ye', 'kept drop r --yes'],
  ['pool --js', 'pool --json'],
])('%s', (given, expected) => {
  expect(writtenOut(program(), given.split(' '))).toEqual(expected.split(' '));
});

test.each([
  ['run p --re', '--re could be --report or --resume.', 'Type more of it.'],
  ['run p --resmue', 'run has no option --resmue.', 'Did you mean --resume?'],
  ['run p --wokers 3', 'run has no option --wokers.', 'Did you mean --max-workers?'],
  ['run p --worker=3', 'run has no option --worker.', 'Did you mean --max-workers?'],
  ['kept drop r --yse', 'kept drop has no option --yse.', 'Did you mean --yes?'],
  ['run p --sooner', 'run has no option --sooner.', 'landfast run --help lists its options.'],
])('%s is refused', (given, message, remedy) => {
  let thrown: unknown = null;
  try {
    writtenOut(program(), given.split(' '));
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toEqual(new UserError(message, remedy));
  expect(thrown).toMatchObject({ remedy });
});
