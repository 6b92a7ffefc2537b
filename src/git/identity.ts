/** Whether git knows who commits, asked before hours of work rather than after. */

import { git } from './git.ts';

/** What is missing, and the way out; null when commits can be made. */
export async function identityProblem(
  dir: string,
  signal: AbortSignal,
): Promise<{ readonly message: string; readonly remedy: string } | null> {
  const { code } = await git(dir, ['var', 'GIT_COMMITTER_IDENT'], signal, { okCodes: [0, 128] });
  if (code === 0) return null;
  return {
    message: 'git does not know who you are, so nothing could be committed.',
    remedy:
      'git config --global user.name "Your Name"; git config --global user.email you@example.com',
  };
}
