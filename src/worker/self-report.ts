/**
 * The status that an agent reports in its last words, where its task asks for one
 * (TaskSpec.answer). A missing or malformed report counts as none. The last one counts: agents
 * quote the question before they answer it. Its texts are cut: they become part of a fact.
 */

import { parseJson } from '../base/parse-json.ts';
import type { SelfReport } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import type { Answer } from '../model/plan.ts';

/** The agent's report; null where there is none in the wanted form. */
export function selfReportOf(answer: Answer, text: string): SelfReport | null {
  switch (answer) {
    case 'free':
      return null;
    case 'status-line':
      return statusLine(text);
    case 'status-word':
      return statusWord(text);
    case 'completion':
    case 'marker':
      return completion(text);
  }
}

/** An agent that says it failed has failed, whatever its exit code. */
export function reportedFailure({ status, reason }: SelfReport): Failure | null {
  const message = `The agent reported ${status}: ${reason ?? 'no reason'}`;
  switch (status) {
    case 'FAILED':
      return { kind: 'transient', message };
    case 'BLOCKED':
    case 'NEEDS_CONTEXT':
      return { kind: 'permanent', message };
    default:
      return null;
  }
}

/** The last non-blank line, where it is a JSON object with a status. */
function statusLine(text: string): SelfReport | null {
  const value = objectIn(text.trimEnd().split('\n').at(-1) ?? '');
  if (typeof value?.status !== 'string') return null;
  const cycles = Number.parseInt(String(value.cycles ?? ''), 10);
  return {
    status: clip(value.status),
    ...defined({
      cycles: Number.isNaN(cycles) ? undefined : cycles,
      reason: textIn(value.reason),
      report: textIn(value.report),
    }),
  };
}

const MARKUP = '[\\s>*_`#-]*';
/** A list of the words to choose from is not yet an answer. */
const STATUS = new RegExp(
  `^${MARKUP}status${MARKUP}:${MARKUP}(DONE_WITH_CONCERNS|DONE|BLOCKED|NEEDS_CONTEXT)(?!\\w|${MARKUP}[|/])`,
  'i',
);
const LABEL = new RegExp(
  `^${MARKUP}(status|summary|concerns|blocker|missing)${MARKUP}:${MARKUP}(.*)$`,
  'i',
);

/** `Status: DONE`, and the lines `Summary:`, `Concerns:`, `Blocker:` and `Missing:` around it. */
function statusWord(text: string): SelfReport | null {
  const lines = text.split(/\r?\n/);
  const status = lines.map((line) => STATUS.exec(line)?.[1]).findLast((word) => word !== undefined);
  if (status === undefined) return null;
  const labelled = labelledIn(lines);
  const word = status.toUpperCase();
  return {
    status: word,
    ...defined({
      reason: textIn(labelled.get(word === 'NEEDS_CONTEXT' ? 'missing' : 'blocker')),
      summary: textIn(labelled.get('summary')),
      concerns: textIn(labelled.get('concerns')),
    }),
  };
}

/** The text after each label, up to a blank line or the next label. */
function labelledIn(lines: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  let open: string | null = null;
  for (const line of lines) {
    const [, label, rest = ''] = LABEL.exec(line) ?? [];
    if (label !== undefined) {
      open = label.toLowerCase();
      found.set(open, rest.trim());
    } else if (open !== null) {
      const before = found.get(open) ?? '';
      if (line.trim() === '' && before !== '') open = null;
      else found.set(open, `${before}\n${line.trimEnd()}`.trim());
    }
  }
  return found;
}

/** The last fenced JSON object that has `task_completed`, whatever prose follows it. */
function completion(text: string): SelfReport | null {
  const values = [text, ...fencedIn(text)].map(objectIn);
  const value = values.findLast((each) => typeof each?.task_completed === 'boolean');
  if (value === null || value === undefined) return null;
  const validated = value.validation_passed;
  const isGood = value.task_completed === true && validated !== false;
  const tests = defined({
    run: countIn(value.tests_run),
    passed: countIn(value.tests_passed),
    failed: countIn(value.tests_failed),
  });
  return {
    status: isGood ? 'COMPLETED' : 'FAILED',
    ...defined({
      reason: textIn(value.error_message),
      summary: textIn(value.summary),
      validated: typeof validated === 'boolean' ? validated : undefined,
      created: namesIn(value.files_created),
      modified: namesIn(value.files_modified),
      tests: Object.keys(tests).length === 0 ? undefined : tests,
      log: textIn(value.full_log),
    }),
  };
}

/** The insides of fenced blocks; one that is never closed ends with the text. */
function fencedIn(text: string): readonly string[] {
  const blocks: string[][] = [];
  let fence: string | null = null;
  for (const line of text.split('\n')) {
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence === null && mark !== undefined) {
      fence = mark;
      blocks.push([]);
    } else if (fence !== null && mark?.startsWith(fence) === true && line.trim() === mark) {
      fence = null;
    } else if (fence !== null) {
      blocks.at(-1)?.push(line);
    }
  }
  return blocks.map((lines) => lines.join('\n'));
}

function objectIn(text: string): Readonly<Record<string, unknown>> | null {
  return text.trimStart().startsWith('{') ? parseJson(text) : null;
}

const MAX_TEXT = 4_000;
const MAX_NAMES = 500;

function clip(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT - 1)}…` : text;
}

function defined<T extends Readonly<Record<string, unknown>>>(
  fields: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const there = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(there) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? clip(value) : undefined;
}

function countIn(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function namesIn(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const texts = value.filter((name) => typeof name === 'string');
  return texts.slice(0, MAX_NAMES).map(clip);
}
