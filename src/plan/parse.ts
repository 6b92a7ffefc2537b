/**
 * Text, or an object, becomes a Plan. The user names the format of a text, or its marker is found; two
 * markers are an error. Never throws; `plan` is null exactly when a problem is an error.
 */

import { closest } from '../base/closest.ts';
import type { ParsedPlan, PlanFormat, PlanInput, SourceFile } from './formats/format.ts';
import { FORMATS, formatNamed } from './formats/index.ts';
import { lacksSeedKey, SEED_NEEDS } from './formats/native/checks.ts';
import { complete } from './formats/native/lower.ts';
import { native, parseObject } from './formats/native/native.ts';
import type { NativePlan } from './formats/native/native-plan.ts';
import { firstUnseen, UNSEEN_REMEDY } from './lint/validate.ts';
import { type Place, ProblemLog, placeAt, quote, START } from './problem.ts';
import { withoutBom } from './syntax/markdown.ts';

/** About a thousand long prompts. */
const MAX_LENGTH = 8 * 1024 * 1024;
/** A text of nothing but line breaks would keep every format busy. */
const MAX_LINES = 500_000;

export interface ReadPlan extends ParsedPlan {
  /** How the format was found, one sentence a line. */
  readonly why: readonly string[];
}

/** Reads a plan of the format named, or of the one whose marker is in the text. */
export function parsePlan(input: PlanInput, name: string | null): ReadPlan {
  const log = new ProblemLog(input.file.path);
  const isText = checkText(input.file.text, log);
  const { format, why } = isText
    ? name === null
      ? detect(input.file, log)
      : named(name, log)
    : { format: null, why: [] };
  if (format === null) return { plan: null, format: null, problems: log.sorted(), why };
  return { ...finish(format.parse(input), format, { ...input, log, at: START }), why };
}

/** Reads a native plan that is an object; `name` stands for it in problems. */
export function parsePlanObject(
  plan: NativePlan,
  name: string,
  input: Omit<PlanInput, 'file'>,
): ParsedPlan {
  const around = { ...input, log: new ProblemLog(name), at: { ...START, path: '' } };
  return finish(parseObject(plan, name, input), native, around);
}

/** What holds for plans of every format, once they are read. */
function finish(
  parsed: ParsedPlan,
  { isWhole }: PlanFormat,
  { config, log, at }: Pick<PlanInput, 'config'> & { readonly log: ProblemLog; readonly at: Place },
): ParsedPlan {
  if (parsed.plan === null) return parsed;
  const plan = isWhole === true ? parsed.plan : complete(parsed.plan, config);
  // A configuration may ask for a seed although the plan's format has its own set-up.
  if (lacksSeedKey(plan)) log.warning(at, `${SEED_NEEDS}: here it has no effect`);
  const unseen = firstUnseen(plan);
  if (unseen !== null) log.error(at, `task ${quote(unseen[0])}: ${unseen[1]}`, UNSEEN_REMEDY);
  const problems = [...parsed.problems, ...log.sorted()];
  return { ...parsed, plan: log.failed ? null : plan, problems };
}

function checkText(text: string, log: ProblemLog): boolean {
  const nul = text.indexOf('\0');
  if (withoutBom(text).trim() === '') {
    const remedy = "docs/formats.md in landfast's package shows what a plan looks like";
    log.error(START, 'the file is empty', remedy);
  } else if (text.length > MAX_LENGTH || hasMoreLines(text, MAX_LINES)) {
    const remedy = 'put long prompts into files (prompt_file)';
    log.error(START, 'the file is too large for a plan', remedy);
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

interface Choice {
  /** Null if undecided, which is then in the log. */
  readonly format: PlanFormat | null;
  /** For `--explain`, one sentence a line. */
  readonly why: readonly string[];
}

/** Whether the text may be of a format that asks what git knows. */
export function mayAskGit(file: SourceFile, name: string | null): boolean {
  const asking = FORMATS.filter(({ asksGit }) => asksGit === true);
  return asking.some((each) => (name === null ? each.detect(file) !== null : each.name === name));
}

function named(name: string, log: ProblemLog): Choice {
  const names = FORMATS.map((format) => format.name);
  const format = formatNamed(name);
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
    .map(({ format }) => `Not ${format.name}: its marker is missing (${format.marker}).`);
  const [first, second] = claims;
  const found = claims.map(
    ({ format, at }) => `${format.name}: its marker is on line ${at.line} (${format.marker}).`,
  );
  const why = [...found.map((line) => `Format ${line}`), ...others];
  if (first === undefined) {
    const markers = FORMATS.map(({ name, marker }) => `${name}: ${marker}`);
    const remedy = ['name the format with --format, or add its marker', ...markers];
    log.error(START, 'unknown plan format', remedy.join('\n'));
  } else if (second !== undefined) {
    const names = claims.map(({ format }) => format.name);
    const remedy = [`name one: --format ${names.join(' or --format ')}`, ...found];
    log.error(second.at, `this text has the markers of ${names.join(' and ')}`, remedy.join('\n'));
    return { format: null, why };
  }
  return { format: first?.format ?? null, why };
}
