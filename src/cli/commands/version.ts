/** `landfast version`: the same as `--version`. */

import { EXIT } from '../exit.ts';
import type { Program, Wrap } from '../options.ts';

export function describe(program: Program, wrap: Wrap): void {
  program
    .command('version')
    .description('print the version')
    .action(
      wrap(async () => {
        console.log(program.version());
        return EXIT.ok;
      }),
    );
}
