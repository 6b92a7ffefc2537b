/** Where a command works: which repository, and where its journal is. */

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { OperationalError, UserError } from '../base/errors.ts';
import { openRepository, type Repository } from '../git/repository.ts';
import { settingsIn } from '../git/settings.ts';

export interface Place {
  /** Null outside of git, where only plans of read tasks can run. */
  readonly repository: Repository | null;
  /** The repository's root, or the folder itself. */
  readonly dir: string;
  readonly stateDir: string;
}

let ahead: { readonly projectDir: string; readonly place: Promise<Place> } | null = null;

/** Begins to look, for whoever will ask: git does it while the rest of the program is loaded. */
export function lookAhead(projectDir: string, also: 'settings' | null = null): void {
  const never = new AbortController().signal;
  const place = search(projectDir, never);
  const more = place.then(({ repository }) =>
    repository === null || also === null ? null : settingsIn(repository.commonDir, never),
  );
  more.catch(() => {}); // Whoever asks is told.
  ahead = { projectDir, place };
}

/** Finds the repository of a folder. */
export async function findPlace(projectDir: string, signal: AbortSignal): Promise<Place> {
  const found = ahead?.projectDir === projectDir ? ahead.place : null;
  ahead = null;
  return found ?? search(projectDir, signal);
}

async function search(projectDir: string, signal: AbortSignal): Promise<Place> {
  const dir = resolve(projectDir);
  if (!existsSync(dir)) throw new UserError(`There is no folder ${projectDir}.`);
  const opened = await openRepository(dir, signal);
  switch (opened.kind) {
    case 'repository': {
      const { repository } = opened;
      return { repository, dir: repository.dir, stateDir: repository.stateDir };
    }
    case 'none':
      return { repository: null, dir, stateDir: await stateDirWithoutGit(dir) };
    case 'bare':
      throw new OperationalError(
        `${dir} is a bare repository: there is no checkout to work from.`,
        {
          remedy: 'Run it from one of its worktrees: git worktree add ../work, then -C ../work.',
        },
      );
    case 'unsafe':
      throw new OperationalError(opened.message, {
        remedy: `If you trust it: git config --global --add safe.directory '${dir}'`,
      });
  }
}

async function stateDirWithoutGit(dir: string): Promise<string> {
  const { createHash } = await import('node:crypto'); // Takes its time; git need not wait for it.
  const home = process.env.XDG_STATE_HOME ?? join(homedir(), '.local', 'state');
  const name = createHash('sha256').update(dir).digest('hex').slice(0, 16);
  return join(home, 'landfast', name);
}
