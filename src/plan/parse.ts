/**
 * Text becomes a Plan: the format is recognised by its marker or named by the user, and answers.
 *
 *   T1. Never throws, whatever the text.
 *   T2. `plan` is null exactly when a problem of severity error is there.
 */

import { complete } from './config/complete.ts';
import { chooseFormat } from './detect.ts';
import type { ParsedPlan, PlanInput } from './formats/format.ts';
import { lacksSeedKey, SEED_NEEDS } from './formats/native/seed-key.ts';
import { withoutBom } from './front-matter.ts';
import { ProblemLog, placeAt, quote, START } from './problem.ts';
import { firstUnseen, UNSEEN_REMEDY } from './validate.ts';

/** Beyond this no plan is meant; it is about as much as a thousand long prompts. */
const MAX_LENGTH = 8 * 1024 * 1024;
/** The same for lines: a text of nothing else would keep every format busy. */
const MAX_LINES = 500_000;

/** A text that was read, and why it was read as it was. */
export interface ReadPlan extends ParsedPlan {
  /** How the format was found, one sentence a line. */
  readonly why: readonly string[];
}

/** Reads a plan of the format named, or of the one whose marker is in the text. */
export function parsePlan(input: PlanInput, name: string | null): ReadPlan {
  const log = new ProblemLog(input.file.path);
  const isText = checkText(input.file.text, log);
  const { format, why } = isText ? chooseFormat(input.file, name, log) : { format: null, why: [] };
  if (format === null) return { plan: null, format: null, problems: log.sorted(), why };
  const parsed = format.parse(input);
  const isDone = parsed.plan === null || format.isWhole === true;
  const plan = isDone ? parsed.plan : complete(parsed.plan, input.config);
  // A configuration may want one for a plan that prepares its workspaces in its own way.
  const isSeedless = plan !== null && lacksSeedKey(plan);
  if (isSeedless) log.warning(START, `${SEED_NEEDS}: here it has no effect`);
  const unseen = plan === null ? null : firstUnseen(plan);
  if (unseen === null) {
    const problems = isSeedless ? [...parsed.problems, ...log.sorted()] : parsed.problems;
    return { ...parsed, plan, problems, why };
  }
  const [task, message] = unseen;
  log.error(START, `task ${quote(task)}: ${message}`, UNSEEN_REMEDY);
  return { ...parsed, plan: null, problems: [...parsed.problems, ...log.sorted()], why };
}

function checkText(text: string, log: ProblemLog): boolean {
  const nul = text.indexOf('\0');
  if (withoutBom(text).trim() === '') {
    log.error(START, 'the file is empty', 'see docs/formats.md for what a plan looks like');
  } else if (text.length > MAX_LENGTH || hasMoreLines(text, MAX_LINES)) {
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

function hasMoreLines(text: string, most: number): boolean {
  let left = most;
  for (const _ of text.matchAll(/\r\n|\n|\r/g)) {
    left -= 1;
    if (left <= 0) return true;
  }
  return false;
}
