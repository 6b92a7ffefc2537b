/**
 * Text becomes a Plan: the format is recognised by its marker or named by the user, and answers.
 *
 *   T1. Never throws, whatever the text.
 *   T2. `plan` is null exactly when a problem of severity error is there.
 */

import type { ParsedPlan, PlanFormat, PlanInput } from './formats/format.ts';
import { FORMATS } from './formats/index.ts';
import { withoutBom } from './front-matter.ts';
import { type Place, ProblemLog, quote, START } from './problem.ts';
import { closest } from './suggest.ts';

/** Beyond this no plan is meant; it is about as much as a thousand long prompts. */
const MAX_LENGTH = 8 * 1024 * 1024;

/** Reads a plan of the format named, or of the one whose marker is in the text. */
export function parsePlan(input: PlanInput, format: string | null): ParsedPlan {
  const log = new ProblemLog(input.file.path);
  const chosen = checkText(input.file.text, log) ? choose(input, format, log) : null;
  if (chosen === null) return { plan: null, format: null, problems: log.sorted() };
  return chosen.parse(input);
}

function checkText(text: string, log: ProblemLog): boolean {
  const nul = text.indexOf('\0');
  if (withoutBom(text).trim() === '') {
    log.error(START, 'the file is empty', 'see docs/formats.md for what a plan looks like');
  } else if (text.length > MAX_LENGTH) {
    log.error(
      START,
      'the file is too large for a plan',
      'put long prompts into files (prompt_file)',
    );
  } else if (nul !== -1) {
    log.error(placeAt(text, nul), 'the file is not text: it contains NUL', 'name a plan file');
  }
  return !log.failed;
}

function choose(input: PlanInput, name: string | null, log: ProblemLog): PlanFormat | null {
  const names = FORMATS.map((format) => format.name);
  if (name === null) {
    const found = FORMATS.find((format) => format.detect(input.file));
    if (found !== undefined) return found;
    const markers = 'begin with "landfast: 1" (or po_plan_version in front matter)';
    const remedy = `${markers}, or use --format ${names.join('|')}`;
    log.error(START, 'this is no plan of a known format', remedy);
    return null;
  }
  const named = FORMATS.find((format) => format.name === name);
  if (named !== undefined) return named;
  const guess = closest(name, names);
  const remedy = `known formats: ${names.join(', ')}`;
  const message = `unknown format ${quote(name)}`;
  log.error(START, message, guess === null ? remedy : `did you mean ${guess}? ${remedy}`);
  return null;
}

function placeAt(text: string, offset: number): Place {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
}
