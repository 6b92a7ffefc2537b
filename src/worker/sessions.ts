/**
 * Looks for a session in the store of its agent. Stores belong to the agents: they are only read, and a
 * session id never becomes part of a path or of SQL.
 */

import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { SessionStore } from '../agents/agent.ts';
import { isSystemError } from '../base/errors.ts';

export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
}

/** Whether the session is there; `unknown` where the store is missing or cannot be read. */
export async function findSession(
  store: SessionStore,
  session: string,
  surroundings: Surroundings,
): Promise<'found' | 'missing' | 'unknown'> {
  const place = storePlace(store, surroundings);
  if (place === null || !existsSync(place)) return 'unknown';
  const isThere = await (store.kind === 'files'
    ? isAmongFiles(store, session, place)
    : isInDatabase(store, session, place));
  if (isThere === null) return 'unknown';
  return isThere ? 'found' : 'missing';
}

/** The folder or file of the store; null where no place of it can be named. */
export function storePlace({ places }: SessionStore, { env, home }: Surroundings): string | null {
  for (const place of places) {
    if (place.startsWith('~/')) return join(home, place.slice(2));
    const [, name = '', rest = ''] = /^\$(\w+)(.*)$/.exec(place) ?? [];
    const folder = env[name];
    if (folder !== undefined && folder !== '') return join(folder, rest);
  }
  return null;
}

async function isAmongFiles(
  store: SessionStore & { kind: 'files' },
  session: string,
  folder: string,
): Promise<boolean | null> {
  try {
    const paths = await readdir(folder, { recursive: true });
    return paths.some((path) => store.isFileOf(session, path));
  } catch (error) {
    if (isSystemError(error)) return null;
    throw error;
  }
}

async function isInDatabase(
  store: SessionStore & { kind: 'sqlite' },
  session: string,
  file: string,
): Promise<boolean | null> {
  const { DatabaseSync } = await import('node:sqlite'); // Few programs keep a database.
  try {
    using db = new DatabaseSync(file, { readOnly: true });
    return db.prepare(store.query).get(session) !== undefined;
  } catch (error) {
    const isForeign =
      error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR';
    if (isForeign) return null; // Of another version, locked, or no database at all.
    throw error;
  }
}
