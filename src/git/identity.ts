/** Who commits, as git knows it; asked before hours of work rather than after. */

import { git } from './git.ts';

/** Whether git knows both who writes a change and who commits it. */
async function isKnown(dir: string, signal: AbortSignal): Promise<boolean> {
  const names = ['GIT_AUTHOR_IDENT', 'GIT_COMMITTER_IDENT'];
  const asked = names.map((name) => git(dir, ['var', name], signal, { okCodes: [0, 1, 128] }));
  return (await Promise.all(asked)).every(({ code }) => code === 0);
}

/** What is missing, and the way out; null when commits can be made. */
export async function identityProblem(
  dir: string,
  signal: AbortSignal,
): Promise<{ readonly message: string; readonly remedy: string } | null> {
  if (await isKnown(dir, signal)) return null;
  return {
    message: 'git does not know who you are, so nothing could be committed.',
    remedy:
      'git config --global user.name "Your Name"; git config --global user.email you@example.com',
  };
}
