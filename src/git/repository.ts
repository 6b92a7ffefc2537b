/**
 * The repository of a directory, and its folders. All are derived from the common directory, so
 * that all worktrees of a repository agree on them.
 */

import { basename, dirname, join, sep } from 'node:path';
import { type GitResult, git, type Sha, textOf } from './git.ts';

/** A repository as seen from one of its checkouts. All paths are absolute. */
export interface Repository {
  /** The top level of the checkout. */
  readonly dir: string;
  /** What all worktrees share: usually `.git` of the main checkout. */
  readonly commonDir: string;
  /** Where Landfast keeps its state. */
  readonly stateDir: string;
  /** Where new worktrees go: beside the repository, neither in it nor in its `.git`. */
  readonly worktreesDir: string;
}

export type OpenedRepository =
  | { readonly kind: 'repository'; readonly repository: Repository }
  | { readonly kind: 'none' }
  /** A repository, but no checkout: bare, or inside of a `.git` directory. */
  | { readonly kind: 'bare' }
  /** git refuses to work here, mostly because the directory belongs to another user. */
  | { readonly kind: 'unsafe'; readonly message: string };

export type Head =
  | { readonly kind: 'branch'; readonly name: string; readonly commit: Sha }
  | { readonly kind: 'detached'; readonly commit: Sha }
  /** A branch without a commit. */
  | { readonly kind: 'unborn'; readonly name: string };

export async function openRepository(dir: string, signal: AbortSignal): Promise<OpenedRepository> {
  const ask = (...names: string[]) =>
    git(dir, ['rev-parse', '--path-format=absolute', ...names], signal, { okCodes: [0, 128] });
  const all = await ask('--is-inside-work-tree', '--git-common-dir', '--show-toplevel');
  const [isInside, common, root, end, more] = all.stdout.split('\n');
  if (isInside === 'true' && common && root && end === '' && more === undefined) {
    return found(root, common);
  }
  // Something is wrong, or a path contains a newline: ask one by one.
  const [place, top] = await Promise.all([
    ask('--is-inside-work-tree', '--git-common-dir'),
    ask('--show-toplevel'),
  ]);
  if (place.code !== 0) return refusal(place);
  const answer = withoutNewline(place.stdout);
  if (!answer.startsWith('true\n')) return { kind: 'bare' };
  if (top.code !== 0) return refusal(top);
  return found(withoutNewline(top.stdout), answer.slice('true\n'.length));
}

function found(dir: string, commonDir: string): OpenedRepository {
  const stateDir = join(commonDir, 'landfast');
  const worktreesDir = `${placeOf(commonDir)}.worktrees`;
  return { kind: 'repository', repository: { dir, commonDir, stateDir, worktreesDir } };
}

export async function headBranch(dir: string, signal: AbortSignal): Promise<Head> {
  const [branch, head] = await Promise.all([
    git(dir, ['symbolic-ref', '--quiet', 'HEAD'], signal, { okCodes: [0, 1] }),
    git(dir, ['rev-parse', '--quiet', '--verify', 'HEAD^{commit}'], signal, { okCodes: [0, 1] }),
  ]);
  const commit = head.stdout.trim();
  const name = branch.stdout.trim().replace(/^refs\/heads\//, '');
  if (name === '') return { kind: 'detached', commit };
  return commit === '' ? { kind: 'unborn', name } : { kind: 'branch', name, commit };
}

/**
 * The path after which worktrees are named: the main checkout, or a bare repository itself. A
 * submodule's lives in `<top>/.git/modules/<name>`, where no worktree should be, nor should one be
 * in a hidden folder: beside `/p/.bare` they are in `/p/bare.worktrees`.
 */
function placeOf(commonDir: string): string {
  if (basename(commonDir) === '.git') return dirname(commonDir);
  const [outer = '', inner] = commonDir.split(`${sep}.git${sep}modules${sep}`);
  if (inner !== undefined) return `${outer}.${inner.replaceAll(sep, '-')}`;
  const hidden = commonDir.indexOf(`${sep}.`);
  if (hidden < 0) return commonDir;
  const name = commonDir
    .slice(hidden + 1)
    .split(sep)
    .map((part) => part.replace(/^\.+/, ''))
    .join('-');
  return join(commonDir.slice(0, hidden + 1), name);
}

function refusal(result: GitResult): OpenedRepository {
  if (/not a git repository/.test(result.stderr)) return { kind: 'none' };
  return { kind: 'unsafe', message: textOf(result) };
}

function withoutNewline(text: string): string {
  return text.replace(/\n$/, '');
}
