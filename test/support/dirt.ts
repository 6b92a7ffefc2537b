/**
 * What tasks may leave in a workspace, and everything that the next one could tell it by: the test
 * for workspaces that are used again.
 */

import { execFileSync } from 'node:child_process';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type TempRepo, tempRepo } from './temp-repo.ts';

export const FILES = {
  '.gitignore': 'cache/\n*.log\n',
  a: '1\n',
  b: '1\n',
  'dir/c': '1\n',
  'dir/deep/d': '1\n',
  'bin/tool': '#!/bin/sh\n',
};

/**
 * Kinds of dirt that can be removed, each a shell script in the workspace; `|| true`: one may stand
 * in another's way.
 */
export const DIRT: Readonly<Record<string, string>> = {
  'a changed file': 'echo x >> a',
  'a changed file that is staged': 'echo x >> b; git add b',
  'a deleted file': 'rm -f dir/c',
  'an emptied folder with something ignored': 'rm -f dir/deep/d; echo x > dir/deep/x.log',
  'a deleted folder': 'rm -rf dir',
  'a moved folder': 'mv dir moved; mkdir dir; mv moved/deep dir/other',
  'folders that changed places': 'mv dir was; mv bin dir; mv was bin',
  'a file that is a folder now': 'rm -f a; mkdir a; echo x > a/x',
  'a folder that is a file now': 'rm -rf dir; echo x > dir',
  'a folder that is a link now': 'rm -rf dir; mkdir -p ../elsewhere; ln -s ../elsewhere dir',
  'a link that leads elsewhere': 'rm -f link; ln -s /etc/passwd link',
  'links to what is elsewhere':
    'mkdir -p ../out; echo x > ../out/x; ln -s ../out new; ln -s "$PWD/../out" cache; ln -s no no',
  'a file that was changed in secret': 'touch -r a ../when; printf "2\\n" > a; touch -r ../when a',
  'names that need care':
    'echo x > "$(printf "a\\nb")"; echo x > ./-x; f=$(printf "f\\303\\251"); mkdir "$f"; ' +
    'echo x > "$f/$(printf "\\377")"; echo x > "dir/*"; echo x > "dir/[c]"',
  'untracked files': 'mkdir -p new/deep; echo x > new/deep/x; echo x > "with space"',
  'ignored files': 'mkdir -p cache; echo x > cache/x; echo x > x.log',
  'empty folders': 'mkdir -p empty/inner dir/empty',
  'a program that is none': 'chmod -x bin/tool',
  'a file that is a program': 'chmod +x b',
  'a secret mode': 'chmod 600 a; git status >/dev/null',
  'a folder without permissions': 'chmod 000 dir/deep',
  'read-only folders':
    'mkdir -p ro/in; echo x > ro/in/x; chmod 444 dir/c; chmod 555 ro/in ro dir/deep dir',
  'modes beyond the usual': 'chmod 4755 bin/tool; chmod 2755 dir; chmod 1777 dir/deep',
  'a pipe': 'mkfifo pipe',
  'a second name of a file': 'ln a ../second-$$; git update-index --refresh',
  'a commit': 'echo x > own; git add own; git commit -qm own',
  'another branch': 'git checkout -q -b other-$$',
  'files that git does not look at': 'git update-index --assume-unchanged a; echo x > a',
  'files that git skips': 'git update-index --skip-worktree b; rm -f b',
  'a file that is only intended': 'echo x > soon; git add -N soon',
  'files that the shared exclude hides':
    'echo hidden >> "$(git rev-parse --git-path info/exclude)"; mkdir hidden; echo x > hidden/x',
  'no index': 'rm -f "$(git rev-parse --git-path index)"',
  'an index of another form': 'git update-index --index-version 4',
  'a split index':
    'git update-index --split-index; git update-index --assume-unchanged a; echo x > a',
  'an untracked cache': 'git update-index --untracked-cache; git status; echo x > late',
  'repositories in folders':
    'mkdir -p cache dir/sub; ' +
    'for r in cache/inner dir/sub new/repo; do git init -q $r; echo x > $r/x; done',
  'a repository that is a folder of the commit':
    'rm -rf dir; git init -q dir; echo x > dir/c; git -C dir add c; git -C dir commit -qm x',
  'a repository with a commit': 'git init -q in; git -C in commit -q --allow-empty -m x',
  'a line end': "printf '1\\r\\n' > a",
};

/** What makes a workspace one that is not used again. */
export const LASTING_DIRT: Readonly<Record<string, string>> = {
  'half of a checkout': 'git sparse-checkout set dir',
  'a bisection': 'git bisect start -q; git bisect bad',
  'a revert in progress':
    'echo z > a; git commit -qam z; echo y > a; git commit -qam y; git revert --no-edit HEAD~1',
  'patches half applied':
    'git format-patch -q -1 side -o ../patches; echo z > a; git commit -qam z; ' +
    'git am -q ../patches/*',
  'a rebase that waits for an edit':
    'echo z > b; git commit -qam z; ' +
    'GIT_SEQUENCE_EDITOR="sed -i 1s/pick/edit/" git rebase -q -i HEAD~1',
  'a merge that is to be one commit': 'git merge -q --squash side',
  'what was fetched': 'git fetch -q . side',
  'a merge in progress': 'git merge -q --no-commit --no-ff side',
  'a conflict': 'echo y > a; git commit -qam y; git merge -q side',
  'a cherry-pick in progress': 'echo z > a; git commit -qam z; git cherry-pick side',
  'settings of its own':
    'git config extensions.worktreeConfig true; git config --worktree core.fileMode false',
  'refs of its own': 'git update-ref refs/worktree/mine HEAD',
  'a broken index': 'echo broken > "$(git rev-parse --git-path index)"',
  'a lock': 'touch "$(git rev-parse --git-path index.lock)"',
  'a worktree lock': 'git worktree lock .',
  submodules: 'git -c protocol.file.allow=always submodule add -q "$PWD/../repo" sub',
  'foreign files in the git folder': 'echo x > "$(git rev-parse --git-dir)/whatever"',
};

/** Where HEAD is. */
export function headIn(cwd: string): string {
  return execFileSync('git', ['rev-parse', 'HEAD'], { cwd, encoding: 'utf8' }).trim();
}

/** A repository in which every kind of dirt is possible, and a commit to move on to. */
export async function dirtyable(): Promise<TempRepo> {
  const repo = await tempRepo({ files: FILES });
  execFileSync('sh', ['-ec', 'chmod +x bin/tool; ln -s dir/c link'], { cwd: repo.dir });
  await repo.git('add', '-A');
  await repo.git('commit', '-qm', 'modes');
  await repo.commit('side', { a: 'side\n' });
  await repo.commit('next', { b: '2\n', 'dir/deep/d': null, 'other/e': '1\n' });
  return repo;
}

/** Runs a script of dirt. */
export function dirty(cwd: string, script: string): void {
  execFileSync('sh', ['-c', `(${script}) >/dev/null 2>&1 || true`], { cwd });
}

/** Every file and folder: its kind, mode and content. */
export function walk(dir: string, below = ''): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const name of readdirSync(join(dir, below)).sort()) {
    const path = below === '' ? name : `${below}/${name}`;
    if (path === '.git') continue;
    const full = join(dir, path);
    const what = lstatSync(full);
    const mode = what.mode.toString(8);
    if (what.isDirectory()) {
      found.set(`${path}/`, mode);
      for (const [inner, text] of walk(dir, path)) found.set(inner, text);
    } else if (what.isSymbolicLink()) found.set(path, `${mode} -> ${readlinkSync(full)}`);
    else
      found.set(path, `${mode} ${what.nlink} ${what.isFile() ? readFileSync(full, 'utf8') : ''}`);
  }
  return found;
}

/** What an agent can ask git about where it is, and the answers. */
export function gitState(cwd: string): readonly string[] {
  const asked = [
    'git status --porcelain=v2 --branch --ignored --untracked-files=all',
    'git ls-files -v -s',
    'git write-tree; git rev-parse HEAD "HEAD^{tree}"; git symbolic-ref HEAD',
    'git diff HEAD --raw',
    // Without a log of its own HEAD is told by that of its new branch, which has one entry.
    'git rev-parse --verify "@{-1}"; git reflog show HEAD | sed 1d',
    'git for-each-ref refs/bisect refs/worktree refs/rewritten',
    'cd "$(git rev-parse --git-dir)"; ls -I logs -I ORIG_HEAD -I COMMIT_EDITMSG -I "sharedindex.*"',
  ];
  const script = asked.map((command) => `echo '> ${command}'; (${command}) 2>&1`).join('; ');
  return execFileSync('sh', ['-c', script], { cwd, encoding: 'utf8' }).split('\n');
}
