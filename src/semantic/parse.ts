/**
 * Parses source files (module.ts). A module of its own because the parsers' tables are slow to
 * load. Never throws: a half-edited file gives what can be parsed and says that it is broken.
 */

import { readJavaScript } from './javascript.ts';
import { JAVASCRIPT, type Module, PYTHON } from './module.ts';
import { readPython } from './python.ts';

const LARGEST_CHARS = 500_000;

/** What a file declares and uses; null for unknown languages and long texts. */
export function readModule(file: string, text: string): Module | null {
  if (text.length > LARGEST_CHARS) return null;
  if (JAVASCRIPT.test(file)) return readJavaScript(text);
  return PYTHON.test(file) ? readPython(text) : null;
}
