/** The file that `--report` asks for: checked before anything starts, written when all is over. */

import { accessSync, constants, lstatSync, writeFileSync } from 'node:fs';
import { dirname, extname } from 'node:path';
import { messageOf, OperationalError, UserError } from '../base/errors.ts';
import { makeFolders } from '../base/make-folders.ts';
import type { RunState } from '../model/state.ts';
import { jsonText, reportJson } from '../report/json.ts';
import { reportMarkdown } from '../report/markdown.ts';
import type { ReportInfo } from '../report/remedy.ts';

const WRITERS: Readonly<Record<string, (state: RunState, info: ReportInfo) => string>> = {
  '.json': (state, info) => jsonText(reportJson(state, info)),
  '.md': reportMarkdown,
  '.markdown': reportMarkdown,
};

/** Refuses a report that could not be written later. */
export function checkReport(path: string | undefined): void {
  if (path === undefined) return;
  if (WRITERS[extname(path).toLowerCase()] === undefined) {
    const known = Object.keys(WRITERS).join(', ');
    throw new UserError(`A report cannot be written as ${path}.`, `Use one of: ${known}.`);
  }
  try {
    makeFolders(dirname(path));
    accessSync(dirname(path), constants.W_OK);
  } catch (error) {
    throw new UserError(`A report cannot be written as ${path}: ${messageOf(error)}`);
  }
  if (isLink(path)) throw new UserError(`${path} is a symbolic link; a report never follows one.`);
}

/** Writes the report of a finished run. */
export function writeReport(path: string, state: RunState, info: ReportInfo): void {
  checkReport(path);
  const write = WRITERS[extname(path).toLowerCase()];
  if (write === undefined) return;
  try {
    writeFileSync(path, write(state, info));
  } catch (error) {
    throw new OperationalError(`The report could not be written: ${messageOf(error)}`);
  }
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}
