/** What files and folders of a workspace take on the disk. */

import { capture } from '../process/capture.ts';

/** The bytes below the paths, relative to `dir`; 0 where that cannot be said. */
export async function diskUse(
  dir: string,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<number> {
  if (paths.length === 0) return 0;
  const args = ['-sk', '--', ...paths.map((path) => `./${path}`)];
  const command = { file: 'du', args, cwd: dir, env: process.env, stdin: '' };
  const { stdout } = await capture(command, signal);
  const sizes = stdout.split('\n').map((line) => Number.parseInt(line, 10));
  return sizes.reduce((sum, size) => sum + (Number.isNaN(size) ? 0 : size * 1024), 0);
}
