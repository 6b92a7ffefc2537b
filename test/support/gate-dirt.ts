/**
 * What a gate may leave behind in its workspace, as shell scripts drawn from a seed.
 *
 * `$OUT` is a folder outside of every repository. A script may fail: one kind can stand in
 * another's way.
 */

import type { Random } from '../sim/random.ts';

/** Tracked files that dirt is put on; no task changes them. */
export const TRACKED = ['a', 'b', 'dir/c', 'dir/deep/d', 'bin/tool'];

/** The repository's files. `hidden` is in `info/exclude`. */
export const FILES = {
  ...Object.fromEntries(TRACKED.map((name) => [name, '1\n2\n3\n'])),
  '.gitignore': 'deps/\ncache/\n*.log\n',
  lock: '1\n',
};

type Kind = (random: Random) => string;

const file = (random: Random): string => random.pick(TRACKED);
const place = (random: Random): string => random.pick(['', 'dir/', 'dir/deep/', 'new/', 'cache/']);
const inFolder = (folder: string, script: string): string =>
  `mkdir -p ./${folder}; (cd ./${folder} && { ${script}; })`;

/** How a process leaves the group of its gate, or does not. */
const APART = process.platform === 'linux' ? ['', 'nohup ', 'setsid '] : ['', 'nohup '];

/** Kinds of dirt that every repository can have. */
const KINDS: Readonly<Record<string, Kind>> = {
  'a changed file': (r) => `echo x >> ${file(r)}`,
  'a changed file of the same size and time': (r) => {
    const f = file(r);
    return `touch -r ${f} $OUT/when; printf '1\\nX\\n3\\n' > ${f}; touch -r $OUT/when ${f}`;
  },
  'a deleted file': (r) => `rm -f ${file(r)}`,
  'a deleted folder': (r) => `rm -rf ${r.pick(['dir', 'dir/deep', 'bin'])}`,
  'a file that is a folder now': (r) => {
    const f = file(r);
    return `rm -f ${f}; mkdir ${f}; echo x > ${f}/x.log`;
  },
  'a folder that is a file now': (r) => {
    const folder = r.pick(['dir', 'bin']);
    return `rm -rf ${folder}; echo x > ${folder}`;
  },
  'a folder that is a link now': () => 'mkdir -p $OUT/else; rm -rf dir; ln -s $OUT/else dir',
  'a file that is a link now': (r) => {
    const f = file(r);
    return `cp ${f} $OUT/copy; rm -f ${f}; ln -s $OUT/copy ${f}`;
  },
  'skip-worktree on a changed file': (r) => {
    const f = file(r);
    return `git update-index --skip-worktree ${f}; echo x >> ${f}`;
  },
  'skip-worktree on a deleted file': (r) => {
    const f = file(r);
    return `git update-index --skip-worktree ${f}; rm ${f}`;
  },
  'assume-unchanged on a changed file': (r) => {
    const f = file(r);
    return `git update-index --assume-unchanged ${f}; echo x >> ${f}`;
  },
  'staged changes': (r) => `echo x >> ${file(r)}; echo x > staged; git add -A`,
  'a staged deletion': (r) => `git rm -q --cached ${file(r)}`,
  'a file that is only intended': () => 'echo x > soon; git add -N soon',
  'untracked files': (r) => inFolder(place(r), 'echo x > untracked'),
  'ignored files': (r) => inFolder(place(r), 'echo x > ignored.log'),
  'files in info/exclude': (r) => inFolder(place(r), 'mkdir hidden; echo x > hidden/x'),
  'files that ignore themselves': (r) =>
    inFolder(`${place(r)}self`, "echo '*' > .gitignore; echo x > x"),
  'empty folders': (r) => inFolder(place(r), 'mkdir -p empty/inner'),
  'names that need care': (r) =>
    inFolder(place(r), `echo x > ./-x; echo x > "$(printf 'n\\nl')"; echo x > "$(printf '\\377')"`),
  'a nested repository': (r) => inFolder(`${place(r)}nested`, 'git init -q; echo x > x'),
  'a nested repository with a commit': (r) =>
    inFolder(`${place(r)}nested`, 'git init -q; echo x > x; git add x; git commit -qm x'),
  'a tracked folder that is a repository now': () =>
    '(cd dir && git init -q && git add -A && git commit -qm x)',
  'a folder without permissions': (r) => `chmod 000 ${r.pick(['dir', 'dir/deep', 'bin'])}`,
  'a new folder without permissions': (r) =>
    inFolder(place(r), 'mkdir -p shut/in; echo x > shut/in/x; chmod 000 shut/in; chmod 500 shut'),
  'a private file': (r) => `chmod 600 ${file(r)}`,
  'a read-only file': (r) => `chmod 444 ${file(r)}`,
  'an unreadable file': (r) => `chmod 000 ${file(r)}`,
  'a file that is a program now': (r) => `chmod 777 ${file(r)}`,
  'a folder for everybody': (r) => `chmod 1777 ${r.pick(['dir', 'dir/deep', '.'])}`,
  'a pipe': (r) => inFolder(place(r), `mkfifo ${r.pick(['pipe', 'pipe.log'])}`),
  'a socket': (r) => {
    const listen = "require('net').createServer().listen('socket', () => process.abort())";
    return inFolder(place(r), `ulimit -c 0; "$NODE" -e "${listen}"`);
  },
  'a second name of a file': (r) => `ln ${file(r)} $OUT/second; git update-index --refresh`,
  'two names of one file': () => 'rm b; ln a b',
  'a commit': () => 'echo x > own; git add own; git commit -qm own',
  'a branch': () => 'git checkout -q -b own-$$',
  'an unfinished merge': () => 'git merge -q --no-commit --no-ff side',
  'a conflict': () => 'echo y > a; git commit -qam y; git merge -q side',
  'an unfinished rebase': () => 'echo y > a; git commit -qam y; git rebase -q side',
  'an unfinished cherry-pick': () => 'echo y > a; git commit -qam y; git cherry-pick side',
  'an unfinished revert': () => 'echo y > a; git commit -qam y; git revert --no-edit side',
  'a bisection': () => 'git bisect start; git bisect bad',
  'a sparse checkout': () => 'git sparse-checkout set dir',
  'a broken index': () => 'echo broken > "$(git rev-parse --git-path index)"',
  'no index': () => 'rm -f "$(git rev-parse --git-path index)"',
  'an index of another version': () => 'git update-index --index-version 4',
  'a split index': () => 'git update-index --split-index; git update-index --skip-worktree a',
  'a lock': () => 'touch "$(git rev-parse --git-path index.lock)"',
  'refs of its own': () => 'git update-ref refs/worktree/own HEAD',
  'no .git': () => 'rm -f .git',
  'another repository in its place': () => 'rm -f .git; git init -q; git add -A; git commit -qm x',
  'a process that goes on writing': (r) => {
    const write = `echo x >> late; echo x >> ${file(r)}; mkdir -p more; echo x >> more/$$`;
    const loop = `while :; do ${write}; sleep 0.01; done`;
    const start = `${r.pick(APART)}sh -c '${loop}' >/dev/null 2>&1 &`;
    return `${start} until test -e late; do sleep 0.01; done`;
  },
};

/** Where the repository has `extensions.worktreeConfig`. */
const WORKTREE_CONFIG: Readonly<Record<string, Kind>> = {
  'a setting of its own': (r) => {
    const [name, value] = r.pick([
      ['core.autocrlf', 'true'],
      ['core.fileMode', 'false'],
      ['core.symlinks', 'false'],
      ['core.excludesFile', '/dev/null'],
      ['core.sparseCheckout', 'true'],
      ['core.bare', 'true'],
      ['core.worktree', '$OUT'],
      ['user.name', 'Nobody'],
    ] as const);
    return `git config --worktree ${name} ${value}; chmod +x ${file(r)}`;
  },
};

/** Where the repository has a submodule `sub` with the files `code` and `.gitignore`. */
const SUBMODULE: Readonly<Record<string, Kind>> = {
  'build products in a submodule': () => 'mkdir sub/out; echo x > sub/out/built',
  'untracked files in a submodule': () => 'echo x > sub/untracked',
  'a changed file in a submodule': () => 'echo x >> sub/code',
  'a flag in a submodule': () => 'git -C sub update-index --skip-worktree code; echo x >> sub/code',
  'a submodule at another commit': () => 'git -C sub checkout -q HEAD~1',
  'a commit in a submodule': () =>
    'echo x > sub/own; git -C sub add own; git -C sub commit -qm own',
  'no submodule': () => 'git submodule deinit -q -f sub',
  'a deleted submodule': () => 'rm -rf sub',
  'a submodule that is a folder now': () => 'rm -rf sub; mkdir sub; echo x > sub/x',
};

export interface Surroundings {
  readonly submodule: boolean;
  readonly worktreeConfig: boolean;
}

/** A few kinds of dirt and their scripts. */
export function drawDirt(
  random: Random,
  { submodule, worktreeConfig }: Surroundings,
): readonly { readonly kind: string; readonly script: string }[] {
  const special = { ...(submodule ? SUBMODULE : {}), ...(worktreeConfig ? WORKTREE_CONFIG : {}) };
  const all = Object.entries({ ...KINDS, ...special });
  const rare = Object.entries(special);
  return Array.from({ length: random.between(1, 4) }, () => {
    const [kind, make] = random.pick(rare.length > 0 && random.chance(0.3) ? rare : all);
    return { kind, script: `(${make(random)}) >/dev/null 2>&1` };
  });
}
