/** Who commits, as git knows it; asked before hours of work rather than after. */

import { git } from './git.ts';
import { type Settings, settingsIn } from './settings.ts';

/** `Name <mail>`, of whoever wrote a change and of whoever commits it. */
export interface Identities {
  readonly author: string;
  readonly committer: string;
}

const known = new Map<string, Promise<Identities | null>>();

/** Both, asked for once; null as long as git does not know them. */
export function identitiesIn(dir: string, signal: AbortSignal): Promise<Identities | null> {
  const before = known.get(dir);
  if (before !== undefined) return before;
  const asked = askIdentities(dir, signal);
  known.set(dir, asked);
  const forget = (): boolean => known.delete(dir);
  asked.then((answer) => answer ?? forget(), forget);
  return asked;
}

async function askIdentities(dir: string, signal: AbortSignal): Promise<Identities | null> {
  const simple = plainIdentity(await settingsIn(dir, signal), process.env);
  if (simple !== null) return { author: simple, committer: simple };
  const ask = async (name: string): Promise<string | null> => {
    const { stdout, code } = await git(dir, ['var', name], signal, { okCodes: [0, 1, 128] });
    // `Name <mail> 1700000000 +0100`
    return code === 0 ? stdout.trim().replace(/ \d+ [+-]\d{4}$/, '') : null;
  };
  const [author, committer] = await Promise.all([
    ask('GIT_AUTHOR_IDENT'),
    ask('GIT_COMMITTER_IDENT'),
  ]);
  return author === null || committer === null ? null : { author, committer };
}

const VARIABLES = /^(?:GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL)|EMAIL)$/;
/** Git takes other characters out, some of them only at the ends. */
const PLAIN_NAME = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N} '.-]*[\p{L}\p{M}\p{N}])?$/u;
const PLAIN_EMAIL = /^[\p{L}\p{N}](?:[\p{L}\p{N}.+@_-]*[\p{L}\p{N}])?$/u;

/** `Name <mail>` where nothing but two plain settings says so; null: ask git. */
export function plainIdentity(
  settings: Settings,
  env: Readonly<Record<string, string | undefined>>,
): string | null {
  const [name, email] = [settings.get('user.name'), settings.get('user.email')];
  if (typeof name !== 'string' || typeof email !== 'string') return null;
  if (!PLAIN_NAME.test(name) || !PLAIN_EMAIL.test(email)) return null;
  const isOverruled =
    Object.keys(env).some((each) => VARIABLES.test(each)) ||
    [...settings.keys()].some((each) => /^(?:author|committer)\./.test(each));
  return isOverruled ? null : `${name} <${email}>`;
}

/** What is missing, and the way out; null when commits can be made. */
export async function identityProblem(
  dir: string,
  signal: AbortSignal,
): Promise<{ readonly message: string; readonly remedy: string } | null> {
  if ((await identitiesIn(dir, signal)) !== null) return null;
  return {
    message: 'git does not know who you are, so nothing could be committed.',
    remedy:
      'git config --global user.name "Your Name"; git config --global user.email you@example.com',
  };
}
