/** Random changes to a checkout, the same for the same seed. */

import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isSystemError } from '../../src/base/errors.ts';

export const PLACES = [
  'a',
  'b',
  'c ü',
  'd/e',
  'd/f',
  'd/g/h',
  'i/j',
  'i/k',
  'i-j',
  'i.j',
  'l/m/n/o',
];

/** Random changes to a checkout: contents, modes, links, moves, deletions, folders for files. */
export function change(dir: string, random: (below: number) => number): void {
  for (let nth = random(4); nth >= 0; nth -= 1) {
    const name = PLACES[random(PLACES.length)]!;
    const path = join(dir, name);
    const kind = random(12);
    rmSync(path, { recursive: true, force: true });
    if (kind < 3) continue; // Deleted.
    try {
      mkdirSync(dirname(path), { recursive: true });
      if (kind === 3) symlinkSync(`to-${random(3)}`, path);
      else if (kind === 4) {
        mkdirSync(path);
        writeFileSync(join(path, `new${random(3)}`), `${random(4)}\n`);
      } else writeFileSync(path, `${'line\n'.repeat(random(3))}${random(5)}\n`);
      if (kind === 5) chmodSync(path, 0o755);
    } catch (error) {
      if (!isSystemError(error)) throw error;
      rmSync(path, { recursive: true, force: true }); // A file where a folder would have to be.
    }
  }
}

/** Numbers below a limit, the same for the same seed. */
export function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
