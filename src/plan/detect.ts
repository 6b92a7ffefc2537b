/**
 * Which format a text is of, and why: every format is asked, and nobody guesses.
 *
 *   D1. A text is of a format only by that format's marker, or because the user says so.
 *   D2. Two formats that both find their marker are a question to the user, not a choice of ours.
 */

import type { PlanFormat, SourceFile } from './formats/format.ts';
import { FORMATS } from './formats/index.ts';
import { type Place, type ProblemLog, quote, START } from './problem.ts';
import { closest } from './suggest.ts';

/** The answer, and how it came about, for whoever asks with `--explain`. */
export interface Choice {
  /** Null where it could not be decided, which is then in the log. */
  readonly format: PlanFormat | null;
  /** One sentence a line. */
  readonly why: readonly string[];
}

/** Decides on the format that is named, or on the only one whose marker is in the text. */
export function chooseFormat(file: SourceFile, name: string | null, log: ProblemLog): Choice {
  return name === null ? detect(file, log) : named(name, log);
}

/** Whether the text may be of a format that asks what git knows. */
export function mayAskGit(file: SourceFile, name: string | null): boolean {
  const asking = FORMATS.filter(({ asksGit }) => asksGit === true);
  return asking.some((each) => (name === null ? each.detect(file) !== null : each.name === name));
}

function named(name: string, log: ProblemLog): Choice {
  const names = FORMATS.map((format) => format.name);
  const format = FORMATS.find((candidate) => candidate.name === name);
  if (format !== undefined) return { format, why: [`Format ${name}: you named it.`] };
  const guess = closest(name, names);
  const remedy = `known formats: ${names.join(', ')}`;
  const message = `unknown format ${quote(name)}`;
  log.error(START, message, guess === null ? remedy : `did you mean ${guess}? ${remedy}`);
  return { format: null, why: [] };
}

interface Claim {
  readonly format: PlanFormat;
  readonly at: Place;
}

function detect(file: SourceFile, log: ProblemLog): Choice {
  const asked = FORMATS.map((format) => ({ format, at: format.detect(file) }));
  const claims = asked.filter((claim): claim is Claim => claim.at !== null);
  const others = asked
    .filter(({ at }) => at === null)
    .map(({ format }) => `Not ${format.name}: its marker is not there (${format.marker}).`);
  const [first, second] = claims;
  const found = claims.map(
    ({ format, at }) => `${format.name}: its marker is on line ${at.line} (${format.marker}).`,
  );
  const why = [...found.map((line) => `Format ${line}`), ...others];
  if (first === undefined) {
    const markers = FORMATS.map(({ name, marker }) => `${name}: ${marker}`);
    const remedy = ['name one with --format, or give the text its marker', ...markers];
    log.error(START, 'this is no plan of a known format', remedy.join('\n'));
  } else if (second !== undefined) {
    const names = claims.map(({ format }) => format.name);
    const remedy = [`name one: --format ${names.join(' or --format ')}`, ...found];
    log.error(second.at, `this could be a plan of ${names.join(' and ')}`, remedy.join('\n'));
    return { format: null, why };
  }
  return { format: first?.format ?? null, why };
}
