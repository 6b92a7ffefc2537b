/** What this repository knows of a remote without asking it. */

import { git } from './git.ts';
import { settingsIn } from './settings.ts';

/** The address work is pushed to; null where there is no such remote. */
export async function remoteAddress(
  commonDir: string,
  remote: string,
  signal: AbortSignal,
): Promise<string | null> {
  const url = (await settingsIn(commonDir, signal)).get(`remote.${remote}.url`);
  return url === undefined || url === true ? null : url.trim() || null;
}

/** Its branches as they were when last fetched, and the one it calls its own. */
export async function remoteBranches(
  commonDir: string,
  remote: string,
  signal: AbortSignal,
): Promise<{ readonly names: readonly string[]; readonly head: string | null }> {
  const prefix = `refs/remotes/${remote}/`;
  const [refs, head] = await Promise.all([
    git(commonDir, ['for-each-ref', '--format=%(refname)', prefix], signal),
    git(commonDir, ['symbolic-ref', '--quiet', `${prefix}HEAD`], signal, { okCodes: [0, 1, 128] }),
  ]);
  const names = refs.stdout.split('\n').flatMap((ref) => shortened(ref, prefix) ?? []);
  return {
    names: names.filter((name) => name !== 'HEAD'),
    head: shortened(head.stdout.trim(), prefix),
  };
}

function shortened(ref: string, prefix: string): string | null {
  return ref.startsWith(prefix) ? ref.slice(prefix.length) : null;
}
