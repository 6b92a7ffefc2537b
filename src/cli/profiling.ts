/** The file that `--profile` asks for: spans are collected while the run goes on, written at its end. */

import { extname } from 'node:path';
import { messageOf, OperationalError, UserError } from '../base/errors.ts';
import { listenToSpans, type Span } from '../base/timing.ts';
import { type Totals, totalsOf, traceOf } from '../report/trace.ts';
import { checkReport } from './report-file.ts';
import { writeWhole } from './write-whole.ts';

export interface Profile extends Disposable {
  /** Writes the file, and answers with the sums; undefined where nobody asked. */
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
  if (path === undefined) return { close: () => undefined, [Symbol.dispose]: () => undefined };
  const spans: Span[] = [];
  const begin = performance.timeOrigin + performance.now();
  listenToSpans((span) => spans.push(span));
  return {
    close: (run) => {
      listenToSpans(null);
      const end = performance.timeOrigin + performance.now();
      spans.push({ kind: 'run', of: null, name: run, begin, end });
      try {
        writeWhole(path, `${JSON.stringify(traceOf(spans, run))}\n`);
      } catch (error) {
        throw new OperationalError(`The profile could not be written: ${messageOf(error)}`);
      }
      return totalsOf(spans);
    },
    [Symbol.dispose]: () => listenToSpans(null),
  };
}
