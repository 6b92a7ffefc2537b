/** Where a use case works: which repository, where its journal is, and for which program. */

import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { FunctionAgent } from '../agents/function-agent.ts';
import { OperationalError } from '../base/errors.ts';
import { openRepository, type Repository } from '../git/repository.ts';
import type { GateFunction } from '../workspace/run-context.ts';

export interface Place {
  /** Null outside of git, where only plans of read tasks can run. */
  readonly repository: Repository | null;
  /** The repository's root, or the folder itself. */
  readonly dir: string;
  readonly stateDir: string;
  readonly host: Host;
}

/** The program that calls a use case, as far as a use case depends on it. */
export interface Host {
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** The user's home directory. */
  readonly home: string;
  readonly platform: NodeJS.Platform;
  /** Relative paths that the user gives start here. */
  readonly cwd: string;
  /** Whether a person is watching and can answer. */
  readonly attended: boolean;
  /** Agents and gates that are functions of this program. */
  readonly agents: readonly FunctionAgent[];
  readonly gates: ReadonlyMap<string, GateFunction>;
  /** Shows the user a warning or a hint: one sentence, or a few lines. */
  warn(text: string): void;
  /** Shows a problem of a plan or a configuration that can be used all the same. */
  problem(text: string): void;
}

export async function findPlace(
  projectDir: string,
  host: Host,
  signal: AbortSignal,
): Promise<Place> {
  const dir = resolve(host.cwd, projectDir);
  requireReadable(dir);
  if (!existsSync(dir)) throw noFolder(projectDir, 'There is no folder');
  if (!statSync(dir).isDirectory()) throw noFolder(projectDir, 'This is a file, not a folder:');
  const opened = await openRepository(dir, signal);
  switch (opened.kind) {
    case 'repository': {
      const { repository } = opened;
      requireReadable(repository.dir); // The folder may be a link to it, or a worktree of it.
      requireReadable(repository.commonDir);
      return { repository, dir: repository.dir, stateDir: repository.stateDir, host };
    }
    case 'none':
      return { repository: null, dir, stateDir: stateDirWithoutGit(dir, host), host };
    case 'bare':
      throw new OperationalError(
        `${dir} is a bare repository: there is no checkout to work from.`,
        { remedy: 'Run it from one of its worktrees: git worktree add ../work, then -C ../work.' },
      );
    case 'unsafe':
      throw new OperationalError(opened.message, {
        remedy: `If you trust it: git config --global --add safe.directory '${dir}'`,
      });
  }
}

/** Node puts a mark in the place of bytes that are no text, and then names another folder. */
function requireReadable(path: string): void {
  if (!path.includes('\uFFFD') || existsSync(path)) return;
  throw new OperationalError(`The path ${path} is not valid UTF-8, so it cannot be opened.`, {
    remedy: 'Rename the folder with \uFFFD in its name to one in UTF-8.',
  });
}

function noFolder(projectDir: string, what: string): OperationalError {
  return new OperationalError(`${what} ${projectDir}.`, {
    remedy: 'Name the folder of your repository with -C DIR.',
  });
}

/** The repository of a place, or an error that says that there is none. */
export function requireRepository({ repository, dir }: Place): Repository {
  if (repository !== null) return repository;
  throw new OperationalError(`${dir} is not in a git repository.`, {
    remedy: 'Go to your repository or name it with -C DIR; to make one: git init',
  });
}

function stateDirWithoutGit(dir: string, { env, home: userHome }: Host): string {
  const home = env.XDG_STATE_HOME ?? join(userHome, '.local', 'state');
  const name = createHash('sha256').update(dir).digest('hex').slice(0, 16);
  return join(home, 'landfast', name);
}
