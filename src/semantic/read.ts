/**
 * Reads source files (module.ts). Apart from it, because the parsers' tables take a while to load.
 *
 *   M1. Never throws: a half-edited file gives what can be made out, and says that it is broken.
 *   M2. Bounded: a text of more than `LARGEST_CHARS` is not read.
 */

import { readJavaScript } from './javascript.ts';
import { JAVASCRIPT, type Module, PYTHON } from './module.ts';
import { readPython } from './python.ts';

const LARGEST_CHARS = 500_000;

/** What a file declares and uses; null for a language that is not known, or too long a text. */
export function readModule(file: string, text: string): Module | null {
  if (text.length > LARGEST_CHARS) return null;
  if (JAVASCRIPT.test(file)) return readJavaScript(text);
  return PYTHON.test(file) ? readPython(text) : null;
}
