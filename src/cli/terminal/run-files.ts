/** The files that `--report` and `--profile` ask for: checked before anything starts, written at the end. */

import { accessSync, constants, lstatSync, writeFileSync } from 'node:fs';
import { dirname, extname } from 'node:path';
import { messageOf, OperationalError, UserError } from '../../base/errors.ts';
import { makeFolders } from '../../base/make-folders.ts';
import type { Span } from '../../base/timing.ts';
import { writeWhole } from '../../base/write-whole.ts';
import type { RunState } from '../../model/state.ts';
import { type Totals, totalsOf, traceOf } from '../../report/chrome-trace.ts';
import { jsonText, reportJson } from '../../report/json.ts';
import { reportMarkdown } from '../../report/markdown.ts';
import type { ReportInfo } from '../../report/remedy.ts';

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
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true) {
    throw new UserError(`${path} is a symbolic link; a report never follows one.`);
  }
}

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

export interface Profile {
  readonly onSpan: ((span: Span) => void) | null;
  /** Writes the file; the answer is the sums, undefined without `--profile`. */
  close(run: string): Totals | undefined;
}

/** Refuses a profile that could not be written later. */
export function checkProfile(path: string | undefined): void {
  if (path === undefined) return;
  if (extname(path).toLowerCase() !== '.json') {
    throw new UserError(
      `A profile cannot be written as ${path}.`,
      'Name a file that ends in .json.',
    );
  }
  checkReport(path);
}

export function openProfile(path: string | undefined): Profile {
  if (path === undefined) return { onSpan: null, close: () => undefined };
  const spans: Span[] = [];
  const begin = performance.timeOrigin + performance.now();
  return {
    onSpan: (span) => void spans.push(span),
    close: (run) => {
      const end = performance.timeOrigin + performance.now();
      spans.push({ kind: 'run', of: null, name: run, begin, end });
      try {
        writeWhole(path, `${JSON.stringify(traceOf(spans, run))}\n`);
      } catch (error) {
        throw new OperationalError(`The profile could not be written: ${messageOf(error)}`);
      }
      return totalsOf(spans);
    },
  };
}
