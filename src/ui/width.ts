/**
 * How many columns a text takes on a screen.
 *
 *   W1. The answer is always that of `string-width`. Its tables take as long to load as Node itself
 *       to start, so that it is asked only about texts that need them.
 */

import { createRequire } from 'node:module';
import type stringWidth from 'string-width';

/** What the program's own lines are made of: one column each. */
const PLAIN = /^[ -~·×—…✓✗⊘↩↻○●◍]*$/;

let exact: typeof stringWidth | null = null;

/** The columns of a text; styles take none. */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  exact ??= load();
  return exact(text);
}

function load(): typeof stringWidth {
  const { default: loaded } = required() as { readonly default: typeof stringWidth };
  return loaded;
}

/** In the bundle the first, which the build resolves; from the sources the second. */
function required(): unknown {
  if (typeof require === 'function') return require('string-width');
  return createRequire(import.meta.url)('string-width');
}
