/** Settings are what git says they are. */

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isOn, pathSet, settingsIn, userFile } from '../../src/git/settings.ts';
import { tempRepo } from '../support/temp-repo.ts';

test.each(['true', 'yes', 'ON', '1', '2', 'false', 'no', 'off', '0', ''])(
  '%j is on or off as git has it',
  async (value) => {
    await using repo = await tempRepo();
    await repo.git('config', 'commit.gpgSign', value);
    const said = await repo.git('config', '--type=bool', '--get', 'commit.gpgSign');
    const settings = await settingsIn(repo.commonDir, repo.signal);
    expect(String(isOn(settings, 'commit.gpgsign'))).toBe(said);
  },
);

test('the last value counts, one may have lines, and a name alone means yes', async () => {
  await using repo = await tempRepo();
  await repo.git('config', '--add', 'some.text', 'first');
  await repo.git('config', '--add', 'some.text', 'two\nlines');
  await repo.write({ '.git/more': '[some]\n\tflag\n' });
  await repo.git('config', 'include.path', 'more');
  const settings = await settingsIn(repo.commonDir, repo.signal);
  expect(settings.get('some.text')).toBe('two\nlines');
  expect(isOn(settings, 'some.flag')).toBe(true);
  expect(isOn(settings, 'some.other')).toBe(false);
});

test.each(['/abs/hooks', 'hooks of ours', '~/hooks', '~root/hooks', '%(prefix)/hooks'])(
  'the path %s is the one that git means',
  async (value) => {
    await using repo = await tempRepo();
    await repo.git('config', 'core.hooksPath', value);
    const said = await repo.git('config', '--type=path', '--get', 'core.hooksPath');
    expect(await pathSet(repo.commonDir, 'core.hookspath', repo.signal)).toBe(said);
  },
);

test("the user's files are where git looks for them", () => {
  const { XDG_CONFIG_HOME: before, HOME = '' } = process.env;
  const inHome = join(HOME, '.config', 'git', 'ignore');
  try {
    process.env.XDG_CONFIG_HOME = '/elsewhere';
    expect(userFile('ignore')).toBe('/elsewhere/git/ignore');
    process.env.XDG_CONFIG_HOME = ''; // To git that is none.
    expect(userFile('ignore')).toBe(inHome);
    delete process.env.XDG_CONFIG_HOME;
    expect(userFile('ignore')).toBe(inHome);
  } finally {
    if (before === undefined) delete process.env.XDG_CONFIG_HOME;
    else process.env.XDG_CONFIG_HOME = before;
  }
});
