/** Commits as the user would make them, and everything that may refuse them. */

import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { commitAll, commitTree, readCommit } from '../../src/git/commit.ts';
import { leftoversIn } from '../../src/git/diff.ts';
import { treeOf } from '../../src/git/refs.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';
import { TOO_SHORT, withLimit } from '../support/time-limit.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

async function hook(repo: TempRepo, name: string, text: string): Promise<void> {
  const file = join(repo.commonDir, 'hooks', name);
  await mkdir(join(repo.commonDir, 'hooks'), { recursive: true });
  await writeFile(file, `#!/bin/sh\n${text}\n`);
  await chmod(file, 0o755);
}

const names = (repo: TempRepo) => repo.git('-c', 'core.quotePath=false', 'ls-files');

describe('commitAll', () => {
  test('commits all changes, files of any name, with the message as given', async () => {
    await using repo = await tempRepo({ files: { gone: '', kept: '', 'changed ü': 'a' } });
    await rm(join(repo.dir, 'gone'));
    await repo.write({ 'changed ü': 'b', 'new\nline/file': '', '-dash': '' });
    const message = '-m Fix "all"\n\n# a line that is no comment';

    const result = await commitAll(repo.dir, { message }, repo.signal);

    const commit = await repo.git('rev-parse', 'HEAD');
    expect(result).toEqual({ kind: 'committed', commit });
    expect(await leftoversIn(repo.dir, repo.signal)).toBe('pristine');
    expect(await names(repo)).toBe('-dash\nchanged ü\nkept\n"new\\nline/file"');
    expect(await readCommit(repo.dir, commit, repo.signal)).toMatchObject({
      author: { name: 'Ada Lovelace', email: 'ada@example.com' },
      message: `${message}\n`,
    });
  });

  test('says when there is nothing, whatever a hook says', async () => {
    await using repo = await tempRepo();
    await hook(repo, 'pre-commit', 'exit 1');
    expect(await commitAll(repo.dir, { message: 'x' }, repo.signal)).toEqual({ kind: 'nothing' });
  });

  test('makes the first commit of a repository', async () => {
    await using repo = await tempRepo({ files: null });
    expect(await commitAll(repo.dir, { message: 'x' }, repo.signal)).toEqual({ kind: 'nothing' });
    await repo.write({ a: '' });
    const result = await commitAll(repo.dir, { message: 'x' }, repo.signal);
    expect(result).toEqual({ kind: 'committed', commit: await repo.git('rev-parse', 'HEAD') });
  });

  test('commits on a detached HEAD', async () => {
    await using repo = await tempRepo();
    await repo.git('checkout', '--quiet', '--detach');
    await repo.write({ a: '' });
    const result = await commitAll(repo.dir, { message: 'x' }, repo.signal);
    expect(result).toEqual({ kind: 'committed', commit: await repo.git('rev-parse', 'HEAD') });
  });

  test('concludes a merge, even one that changes no file', async () => {
    await using repo = await tempRepo();
    const ours = await repo.commit('main', { same: 'main\n' });
    const theirs = await repo.commit('topic', { other: '' });
    await repo.git('merge', '--quiet', '--no-commit', '--strategy=ours', 'topic');
    expect(await leftoversIn(repo.dir, repo.signal)).toBe('work');
    const result = await commitAll(repo.dir, { message: 'Merge' }, repo.signal);
    expect(result).toMatchObject({ kind: 'committed' });
    const commit = await repo.git('rev-parse', 'HEAD');
    expect((await readCommit(repo.dir, commit, repo.signal)).parents).toEqual([ours, theirs]);
    expect(await leftoversIn(repo.dir, repo.signal)).toBe('pristine');
  });

  test('does not mistake line ends for changes where they are converted', async () => {
    await using repo = await tempRepo({ files: { a: 'one\ntwo\n' } });
    await repo.git('config', 'core.autocrlf', 'true');
    await rm(join(repo.dir, 'a'));
    await repo.git('checkout', '--', 'a');
    expect(await readFile(join(repo.dir, 'a'), 'utf8')).toBe('one\r\ntwo\r\n');
    expect(await leftoversIn(repo.dir, repo.signal)).toBe('pristine');
    expect(await commitAll(repo.dir, { message: 'x' }, repo.signal)).toEqual({ kind: 'nothing' });
  });
});

describe('a refused commit keeps the work', () => {
  async function refusal(repo: TempRepo, limitMs = 60_000): Promise<string> {
    await repo.write({ work: 'precious' });
    const before = await repo.git('rev-parse', 'HEAD');
    const result = await commitAll(repo.dir, { message: 'x', limitMs }, repo.signal);
    expect(result.kind).toBe('refused');
    expect(await readFile(join(repo.dir, 'work'), 'utf8')).toBe('precious');
    expect(await repo.git('rev-parse', 'HEAD')).toBe(before);
    return result.kind === 'refused' ? result.why : '';
  }

  test('when a hook fails, with what the hook said', async () => {
    await using repo = await tempRepo();
    await hook(repo, 'pre-commit', 'echo "tabs are forbidden"; exit 1');
    expect(await refusal(repo)).toBe('git commit refused: tabs are forbidden');
  });

  test('when a hook hangs', async () => {
    await using repo = await tempRepo();
    await hook(repo, 'pre-commit', 'echo thinking >&2; exec sleep 300');
    const stopped = await withLimit(500, async (limitMs) => {
      const why = await refusal(repo, limitMs);
      return why.includes('thinking') ? { why, after: `${limitMs / 1_000} s` } : TOO_SHORT;
    });
    expect(stopped.why).toBe(
      `git commit took longer than ${stopped.after} and was stopped; it said: thinking`,
    );
    await rm(join(repo.commonDir, 'hooks/pre-commit'));
    const result = await commitAll(repo.dir, { message: 'again' }, repo.signal);
    expect(result).toMatchObject({ kind: 'committed' });
  });

  test('when a hook asks a person, who is not there', async () => {
    await using repo = await tempRepo();
    const ask = 'read answer || exec </dev/tty || exit 1; read answer; test "$answer" = yes';
    await hook(repo, 'commit-msg', ask);
    expect(await refusal(repo)).toContain('git commit refused');
  });

  test('when the commit is to be signed and there is no key', async () => {
    await using repo = await tempRepo();
    await repo.git('config', 'commit.gpgSign', 'true');
    await repo.git('config', 'user.signingKey', '0123456789ABCDEF');
    expect(await refusal(repo)).toContain('could not be signed');
  });

  test('when the ssh key that signs is missing', async () => {
    await using repo = await tempRepo();
    await repo.git('config', 'commit.gpgSign', 'true');
    await repo.git('config', 'gpg.format', 'ssh');
    await repo.git('config', 'user.signingKey', '/no/such/key.pub');
    expect(await refusal(repo)).toContain('could not be signed');
  });

  test('when git does not know the user, with the remedy', async () => {
    await using repo = await tempRepo();
    await repo.git('config', '--unset', 'user.name');
    await repo.git('config', '--unset', 'user.email');
    await repo.git('config', 'user.useConfigOnly', 'true');
    expect(await refusal(repo)).toContain('git config --global user.name "Your Name"');
  });

  test('when a filter that a file needs fails', async () => {
    await using repo = await tempRepo();
    await repo.git('config', 'filter.lfs.clean', 'false');
    await repo.git('config', 'filter.lfs.required', 'true');
    await repo.write({ '.git/info/attributes': 'work filter=lfs\n' });
    expect(await refusal(repo)).toContain('git add refused');
  });

  test('whatever the language of the user', async () => {
    await using repo = await tempRepo();
    vi.stubEnv('LC_ALL', 'de_DE.UTF-8');
    vi.stubEnv('LANG', 'fr_FR.UTF-8');
    vi.stubEnv('LANGUAGE', 'de:fr');
    await repo.git('config', 'commit.gpgSign', 'true');
    await repo.git('config', 'user.signingKey', '0123456789ABCDEF');
    expect(await refusal(repo)).toContain('could not be signed');
  });
});

describe('commitTree', () => {
  test('makes a commit of the user, or of a given author, and moves nothing', async () => {
    await using repo = await tempRepo();
    await hook(repo, 'pre-commit', 'exit 1');
    const parent = await repo.git('rev-parse', 'HEAD');
    const tree = await treeOf(repo.dir, parent, repo.signal);
    const author = { name: 'Grace', email: 'grace@example.com', date: '1700000000 +0100' };
    const made = await commitTree(
      repo.dir,
      { tree, parents: [parent, parent], message: '# Title\n', author },
      repo.signal,
    );
    expect(made.kind).toBe('committed');
    const commit = made.kind === 'committed' ? made.commit : '';
    expect(await readCommit(repo.dir, commit, repo.signal)).toEqual({
      tree,
      parents: [parent],
      author,
      message: '# Title\n',
    });
    expect(await repo.git('log', '-1', '--format=%cn', commit)).toBe('Ada Lovelace');
    expect(await repo.git('rev-parse', 'HEAD')).toBe(parent);
  });

  test('is refused if it has to be signed and cannot be', async () => {
    await using repo = await tempRepo();
    await repo.git('config', 'commit.gpgSign', 'true');
    await repo.git('config', 'user.signingKey', '0123456789ABCDEF');
    const tree = await repo.git('rev-parse', 'HEAD^{tree}');
    const made = await commitTree(repo.dir, { tree, parents: [], message: 'x' }, repo.signal);
    expect(made).toEqual({
      kind: 'refused',
      why: expect.stringContaining('could not be signed'),
    });
  });

  test('is signed as configured', async () => {
    await using repo = await tempRepo();
    await repo.write({
      '.git/sign': '#!/bin/sh\ncat >/dev/null\necho "[GNUPG:] SIG_CREATED " >&2\necho SIGNED\n',
    });
    await chmod(join(repo.commonDir, 'sign'), 0o755);
    await repo.git('config', 'commit.gpgSign', 'yes');
    await repo.git('config', 'gpg.program', join(repo.commonDir, 'sign'));
    const tree = await repo.git('rev-parse', 'HEAD^{tree}');
    const made = await commitTree(repo.dir, { tree, parents: [], message: 'x' }, repo.signal);
    expect(
      made.kind === 'committed' && (await repo.git('cat-file', 'commit', made.commit)),
    ).toContain('gpgsig SIGNED');
  });
});
