/** What a command says where nothing has run yet: an answer, not a mistake. */

import { jsonText } from '../../report/json.ts';
import { EXIT } from '../exit.ts';

/** Prints it, or `empty` as JSON. */
export function tellNoRun({ json }: { readonly json?: boolean }, empty: unknown = null): number {
  process.stdout.write(json === true ? jsonText(empty) : `${NO_RUN}\n`);
  return EXIT.ok;
}

const NO_RUN = 'No run yet in this repository. Start one: landfast run PLAN';
