/** Settings are what git says they are, at once after any of its files has changed. */

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { isOn, pathSet, settingsIn } from '../../src/git/settings.ts';
import { tempRepo } from '../support/temp-repo.ts';
import { withRepository } from '../support/with-repository.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

test('values are read as git reads them', async () => {
  await using repo = await tempRepo();
  const { commonDir, signal } = repo;
  for (const value of ['true', 'yes', 'ON', '1', '2', 'false', 'no', 'off', '0', '']) {
    await repo.git('config', 'commit.gpgSign', value);
    const said = await repo.git('config', '--type=bool', '--get', 'commit.gpgSign');
    const isSet = isOn(await settingsIn(commonDir, signal), 'commit.gpgsign');
    expect([value, String(isSet)]).toEqual([value, said]);
  }
  for (const value of ['/abs', 'hooks of ours', '~/hooks', '~root/hooks', '%(prefix)/hooks']) {
    await repo.git('config', 'core.hooksPath', value);
    const said = await repo.git('config', '--type=path', '--get', 'core.hooksPath');
    expect(await pathSet(commonDir, 'core.hookspath', signal)).toBe(said);
  }
});

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

test(
  'a change in any file that git reads is seen at once',
  withRepository(async (repo) => {
    vi.stubEnv('GIT_CONFIG_GLOBAL', undefined);
    const home = process.env.HOME ?? '';
    await mkdir(join(home, '.config', 'git'), { recursive: true });
    await repo.git('config', 'extensions.worktreeConfig', 'true');
    await repo.git('config', 'include.path', 'included'); // It is not there yet.
    const files = [
      ...[join(home, '.config', 'git', 'config'), join(home, '.gitconfig')],
      ...[join(repo.commonDir, 'included'), join(repo.commonDir, 'config.worktree')],
    ];
    const read = async () => (await settingsIn(repo.commonDir, repo.signal)).get('some.value');
    expect(await read()).toBe(undefined);
    for (const text of ['one', 'two', 'ten']) {
      for (const [nth, file] of files.entries()) {
        await writeFile(file, `[some]\n\tvalue = ${text}${nth}\n`);
        const said = await repo.git('config', '--get', 'some.value');
        expect([file, await read()]).toEqual([file, said]);
      }
    }
    await repo.git('config', 'some.value', 'local');
    await writeFile(join(repo.commonDir, 'config.worktree'), '');
    expect(await read()).toBe('local');
  }),
);

test(
  'a global file that a variable names is seen as soon as it is made',
  withRepository(async (repo) => {
    const file = join(repo.outside, 'global');
    vi.stubEnv('GIT_CONFIG_GLOBAL', file);
    expect((await settingsIn(repo.commonDir, repo.signal)).get('some.value')).toBe(undefined);
    await writeFile(file, '[some]\n\tvalue = 1\n');
    expect((await settingsIn(repo.commonDir, repo.signal)).get('some.value')).toBe('1');
  }),
);
