/**
 * Repositories of every kind that git knows: two tasks pass a gate and land, the checkout follows,
 * what the user has changed there stays, and git finds everything in order afterwards.
 */

import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { nativePlan } from '../support/native-plan.ts';
import { runGit, type TempRepo, tempRepo } from '../support/temp-repo.ts';

interface Kind {
  readonly name: string;
  /** What `git init` is told. */
  readonly init?: readonly string[];
  /** Makes the repository one of that kind. */
  readonly arrange?: (repo: TempRepo) => Promise<void>;
  /** Makes another one of that kind from it, and gives its checkout. */
  readonly clone?: (repo: TempRepo) => Promise<string>;
  /** Why git here has no such repositories. */
  readonly missing?: string | null;
}

const FILES = {
  'README.md': 'hello\n',
  'docs/a.md': 'a\n',
  'src/a.txt': 'a\n',
  'src/b.txt': 'b\n',
};

const PLAN = nativePlan({
  gates: [{ name: 'has-readme', run: 'test -e README.md && git diff --exit-code HEAD' }],
  tasks: {
    one: 'echo 1 > src/one.txt; echo changed > src/a.txt',
    two: 'echo 2 > src/two.txt; git rm -q src/b.txt',
  },
});

/** A hook that says that anything may have changed; git asks it in every folder. */
const FSMONITOR = `#!/bin/sh\nprintf 'token\\0/\\0'\n`;

/** A kind that is one setting, and perhaps an index that follows it. */
function setting(name: string, value: string, ...updateIndex: readonly string[]): Kind {
  const arrange = async ({ git }: TempRepo): Promise<void> => {
    await git('config', name, value);
    if (updateIndex.length > 0) await git('update-index', ...updateIndex);
  };
  return { name: `${name} ${value}`, arrange };
}

/** A clone through git's own protocol; a sparse one has the folder `src`. */
function clone(name: string, ...options: readonly string[]): Kind {
  const make = async (repo: TempRepo): Promise<string> => {
    await repo.commit('main', { 'README.md': 'hello again\n' });
    await repo.git('config', 'uploadpack.allowFilter', 'true');
    const dir = join(repo.outside, 'clone');
    await repo.git('clone', '-q', ...options, `file://${repo.dir}`, dir);
    await runGit(dir, ['config', 'user.name', 'Ada Lovelace']);
    await runGit(dir, ['config', 'user.email', 'ada@example.com']);
    if (options.includes('--sparse')) await runGit(dir, ['sparse-checkout', 'set', 'src']);
    return dir;
  };
  return { name, clone: make };
}

const KINDS: readonly Kind[] = [
  setting('core.splitIndex', 'true', '--split-index'),
  setting('index.version', '4', '--index-version', '4'),
  setting('core.untrackedCache', 'true', '--force-untracked-cache'),
  {
    name: 'core.fsmonitor with a hook',
    arrange: async ({ git, outside }) => {
      const hook = join(outside, 'fsmonitor');
      writeFileSync(hook, FSMONITOR);
      chmodSync(hook, 0o755);
      await git('config', 'core.fsmonitor', hook);
      await git('update-index', '--fsmonitor');
    },
  },
  setting('core.fsmonitor', 'true'), // A daemon, where git has it.
  { name: 'sha256', init: ['--object-format=sha256'] },
  { name: 'reftable', init: ['--ref-format=reftable'], missing: withoutReftable() },
  {
    name: 'extensions.worktreeConfig',
    arrange: async ({ git }) => {
      await git('config', 'extensions.worktreeConfig', 'true');
      await git('config', '--worktree', 'core.logAllRefUpdates', 'always');
    },
  },
  clone('a partial clone', '--filter=blob:none'),
  clone('a partial clone with a sparse checkout', '--filter=blob:none', '--sparse'),
  clone('a shallow clone', '--depth=1'),
  {
    name: 'an identity by includeIf',
    arrange: async ({ git, dir, outside }) => {
      writeFileSync(join(outside, 'who'), '[user]\n\tname = Eve\n\temail = eve@example.com\n');
      await git('config', '--remove-section', 'user');
      await git('config', `includeIf.gitdir:${dir}/.path`, join(outside, 'who'));
    },
  },
  {
    name: 'replace refs',
    arrange: async ({ git, commit }) => {
      await commit('main', { 'README.md': 'hello again\n' });
      await git('replace', '--graft', 'HEAD');
    },
  },
  {
    name: 'a sparse checkout',
    arrange: async ({ git }) => {
      await git('sparse-checkout', 'set', '--cone', 'src');
    },
  },
];

test.for(KINDS)('$name: a run lands and the checkout follows', async (kind, { skip }) => {
  if (typeof kind.missing === 'string') return skip(kind.missing);
  await using repo = await tempRepo({ files: FILES, init: kind.init ?? [] });
  await kind.arrange?.(repo);
  const dir = (await kind.clone?.(repo)) ?? repo.dir;
  const git = (...args: readonly string[]) => runGit(dir, args);
  writeFileSync(join(dir, 'README.md'), 'mine\n');
  writeFileSync(join(dir, 'mine.txt'), 'mine\n');
  writeFileSync(join(repo.outside, 'plan.yaml'), PLAN);
  const ended = await landfast(['run', '../plan.yaml'], { cwd: dir });
  expect(ended).toMatchObject({ code: 0 });
  const files = 'README.md\ndocs/a.md\nsrc/a.txt\nsrc/one.txt\nsrc/two.txt';
  expect(await git('ls-tree', '-r', '--name-only', 'main')).toBe(files);
  expect(await git('status', '--porcelain')).toBe('M README.md\n?? mine.txt');
  expect(readFileSync(join(dir, 'src', 'a.txt'), 'utf8')).toBe('changed\n');
  expect(await git('branch', '--format=%(refname:short)')).toBe('main');
  expect(await git('fsck', '--no-dangling', '--no-progress')).toBe('');
  await git('fsmonitor--daemon', 'stop').catch(() => null);
});

function withoutReftable(): string | null {
  const { stdout } = spawnSync('git', ['init', '-h'], { encoding: 'utf8' });
  return stdout.includes('--ref-format') ? null : 'This git has no reftable.';
}
