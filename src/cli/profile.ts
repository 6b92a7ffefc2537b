/** The file that `--profile` asks for: spans are collected while the run goes on, written at its end. */

import { extname } from 'node:path';
import { writeWhole } from '../app/write-whole.ts';
import { messageOf, OperationalError, UserError } from '../base/errors.ts';
import type { Span } from '../base/timing.ts';
import { type Totals, totalsOf, traceOf } from '../report/chrome-trace.ts';
import { checkReport } from './report-file.ts';

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

/** Begins to measure, if a file is named. */
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
