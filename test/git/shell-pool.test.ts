/** git, started by small shells: the same answers as without them. */

import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Runtime } from '../../src/base/runtime.ts';
import { commitAll } from '../../src/git/commit.ts';
import { deleteFolder } from '../../src/git/file-system.ts';
import { GitError, git } from '../../src/git/git.ts';
import { processList } from '../../src/process/process-list.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';
import { TOO_SHORT, withLimit } from '../support/time-limit.ts';

/** Does something in the runtime of a run, in which shells start git. */
async function byShells<T>(work: (runtime: Runtime) => Promise<T>): Promise<T> {
  await using runtime = new Runtime({ env: process.env, run: 'r' });
  return await runtime.enter(() => work(runtime));
}

test('answers, errors and settings are the same as of a git that is started directly', async () => {
  await using repo = await tempRepo({ files: { 'ünï "q" $x.txt': 'a\n', "it's.txt": 'b\n' } });
  const asked = [
    () => git(repo.dir, ['ls-files', '-z'], repo.signal),
    () => git(repo.dir, ['show', 'HEAD:ünï "q" $x.txt'], repo.signal),
    () => git(repo.dir, ['rev-parse', '--verify', 'no'], repo.signal, { okCodes: [128] }),
    () => git(repo.dir, ['hash-object', '--stdin'], repo.signal, { stdin: 'x\n'.repeat(500_000) }),
    () => git(repo.dir, ['config', 'a.b'], repo.signal, { config: { 'a.b': "it's $HOME\n`x`" } }),
    () => git(repo.dir, ['var', 'GIT_AUTHOR_IDENT'], repo.signal, { env: IDENTITY }),
    () => git(repo.dir, ['nonsense'], repo.signal).catch(described),
    () => git(repo.dir, ['status'], AbortSignal.abort('stop')).catch(described),
  ];
  for (const ask of asked) {
    expect(await byShells(ask)).toEqual(await ask());
  }
});

const IDENTITY = {
  GIT_AUTHOR_NAME: "O'Hara $x",
  GIT_AUTHOR_EMAIL: 'o@example.com',
  GIT_AUTHOR_DATE: '1700000000 +0100',
};

function described(error: unknown): unknown {
  return error instanceof GitError ? { message: error.message, result: error.result } : error;
}

test('a commit message may be anything', async () => {
  await using repo = await tempRepo();
  await byShells(async () => {
    const message = `-m "it's" $HOME \`id\`\n\nsecond ünï\n\n\\ last\n${'long '.repeat(20_000)}`;
    await repo.write({ a: '1' });
    expect(await commitAll(repo.dir, { message }, repo.signal)).toMatchObject({
      kind: 'committed',
    });
    expect(await repo.git('log', '-1', '--format=%B')).toBe(message.trim());
  });
});

test('git asks no questions, and no hook can wait for a person', async () => {
  await using repo = await tempRepo();
  await byShells(async () => {
    const asked = git(repo.dir, ['credential', 'fill'], repo.signal, {
      stdin: 'protocol=https\nhost=example.com\n\n',
    });
    await expect(asked).rejects.toThrow('terminal prompts disabled');
    await hook(repo, 'pre-commit', 'read answer && exit 0; exit 9');
    await repo.write({ a: '1' });
    const refused = await commitAll(repo.dir, { message: 'x' }, repo.signal);
    expect(refused).toMatchObject({ kind: 'refused' });
  });
});

test('a git that takes too long is stopped with all that it started, and says what it said', async () => {
  await using repo = await tempRepo();
  await byShells(async () => {
    const config = { 'alias.hang': `!echo waiting >&2; exec sleep 301.${process.pid}` };
    const stopped = await withLimit(500, async (limitMs) => {
      const hanging = git(repo.dir, ['hang'], repo.signal, { config, limitMs });
      const error = await hanging.catch((thrown: unknown) => thrown);
      return String(error).includes('waiting') ? { error, limitMs } : TOO_SHORT;
    });
    const after = `${stopped.limitMs / 1_000} s`;
    expect(stopped.error).toMatchObject({
      name: 'GitTimeoutError',
      message: `git hang took longer than ${after} and was stopped; it said: waiting`,
    });
    expect(await git(repo.dir, ['rev-parse', 'HEAD'], repo.signal)).toMatchObject({ code: 0 });
  });
});

test('a git that is aborted in the middle of a commit leaves no lock', async () => {
  await using repo = await tempRepo();
  await byShells(async () => {
    await hook(repo, 'pre-commit', 'touch ../hooked; exec sleep 30');
    await repo.write({ a: '1' });
    const stop = new AbortController();
    const committing = commitAll(repo.dir, { message: 'x' }, stop.signal).catch((e: unknown) => e);
    while (!existsSync(join(repo.outside, 'hooked'))) await new Promise(setImmediate);
    stop.abort('stop');
    expect(await committing).toBe('stop');
    expect(readdirSync(repo.commonDir)).not.toContain('index.lock');
  });
});

test('twenty questions at once are answered, each with its own answer', async () => {
  await using repo = await tempRepo();
  await byShells(async () => {
    const texts = Array.from({ length: 20 }, (_, n) => `text ${n}\n`);
    const ids = await Promise.all(
      texts.map((stdin) => git(repo.dir, ['hash-object', '-w', '--stdin'], repo.signal, { stdin })),
    );
    const back = await Promise.all(
      ids.map(({ stdout }) => git(repo.dir, ['cat-file', '-p', stdout.trim()], repo.signal)),
    );
    expect(back.map(({ stdout }) => stdout)).toEqual(texts);
  });
});

test('a small program is run all the same where the files of the shells are gone', async () => {
  await using repo = await tempRepo();
  const before = process.env.TMPDIR;
  process.env.TMPDIR = repo.outside;
  try {
    await byShells(async () => {
      await git(repo.dir, ['status'], repo.signal);
      for (const name of readdirSync(repo.outside).filter((each) =>
        each.startsWith('landfast-r'),
      )) {
        rmSync(join(repo.outside, name), { recursive: true }); // As an engine does that takes over.
      }
      mkdirSync(join(repo.outside, 'full/inner'), { recursive: true });
      await deleteFolder(join(repo.outside, 'full'), repo.signal);
      expect(readdirSync(repo.outside)).toEqual(['repo']);
    });
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
});

test('closing lets go of everything; afterwards git is started directly', async () => {
  await using repo = await tempRepo();
  const before = process.env.TMPDIR;
  const temp = join(repo.outside, 'tmp');
  mkdirSync(temp);
  process.env.TMPDIR = temp;
  try {
    const children = () => processList().filter(({ parent }) => parent === process.pid);
    const others = children().map(({ pid }) => pid); // Of a test that this process ran before.
    await byShells(async (runtime) => {
      await git(repo.dir, ['status'], repo.signal);
      expect(readdirSync(temp)).toHaveLength(1);
      const shells = children().filter(({ pid }) => !others.includes(pid));
      expect(shells.length).toBeGreaterThan(0);
      await runtime[Symbol.asyncDispose]();
      expect(readdirSync(temp)).toEqual([]);
      const left = processList().filter(({ pid }) => shells.some((shell) => shell.pid === pid));
      expect(left).toEqual([]);
      expect(await git(repo.dir, ['status'], repo.signal)).toMatchObject({ code: 0 });
      expect(readdirSync(temp)).toEqual([]);
    });
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
});

async function hook(repo: TempRepo, name: string, text: string): Promise<void> {
  await repo.write({ [`.git/hooks/${name}`]: `#!/bin/sh\n${text}\n` });
  chmodSync(join(repo.commonDir, 'hooks', name), 0o755);
}
