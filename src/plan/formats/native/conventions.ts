/** `conventions` and `retry`: what people of other tools are used to, in words of a native plan. */

import * as z from 'zod';
import { TEMPLATE_KEYS } from '../../../model/names.ts';
import { type Conventions, NATIVE_CONVENTIONS, type RetrySpec } from '../../../model/plan.ts';
import { closest } from '../../suggest.ts';
import { type Refusal, value } from './value.ts';
import {
  branch,
  choice,
  factor,
  flag,
  pathRefusal,
  pause,
  place,
  text,
  textValue,
} from './values.ts';

/** A branch with `{run}`, `{task}` and `{hash}` in it; each task needs one of its own. */
const branchTemplate = value({ type: 'string', pattern: '\\{task\\}' }, (given, refuse) => {
  const isBranch = branch.safeParse(given).success && String(given).includes('{task}');
  if (!isBranch) return refuse({ expected: 'the name of a branch with {task} in it' });
  const unknown = unknownKey(String(given), TEMPLATE_KEYS.branch);
  return unknown === null ? String(given) : refuse(unknown);
});

/** Why a template cannot be filled in; null where it can. */
function unknownKey(template: string, known: readonly string[]): Refusal | null {
  const names = [...template.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
  const wrong = names.find((name) => !known.includes(name));
  if (wrong === undefined) return null;
  const guess = closest(wrong, known);
  const list = `known keys: ${known.map((name) => `{${name}}`).join(', ')}`;
  const remedy = guess === null ? list : `did you mean {${guess}}? ${list}`;
  return { message: `unknown key {${wrong}}`, remedy };
}

/** A message with keys in it. */
function messageTemplate(known: readonly string[]) {
  return textValue((given) => unknownKey(given, known));
}

/** A folder with `{run}`, `{task}` and `{branch}` in it. */
const folderTemplate = value(
  { type: 'string', pattern: '\\{(?:task|branch)\\}' },
  (given, refuse) => {
    const isOwn = typeof given === 'string' && /\{(?:task|branch)\}/.test(given);
    if (!isOwn) return refuse({ expected: 'a folder with {task} or {branch} in it' });
    const wrong = pathRefusal(given) ?? unknownKey(given, TEMPLATE_KEYS.workspace);
    return wrong === null ? given : refuse(wrong);
  },
);

const exitCode = value({ type: 'integer', minimum: 1, maximum: 3 }, (given, refuse): 1 | 3 =>
  given === 1 || given === 3 ? given : refuse({ expected: '1 or 3' }),
);

export const conventionsSchema = z.strictObject({
  branch: branchTemplate.optional(),
  workspace: folderTemplate.optional(),
  commit_message: messageTemplate(TEMPLATE_KEYS.commitMessage).optional(),
  merge_message: messageTemplate(TEMPLATE_KEYS.mergeMessage).optional(),
  conflict_exit: exitCode.optional(),
  summary: choice(['report', 'lines', 'results', 'streams']).optional(),
  no_tasks: choice(['error', 'notice']).optional(),
  logs: z.strictObject({ dir: place, style: choice(['streams', 'story', 'result']) }).optional(),
  reports: z
    .array(
      z.strictObject({
        path: place,
        style: choice(['results', 'waves-json', 'waves-text']),
        subject: text.optional(),
      }),
    )
    .optional(),
});

export const retrySchema = z.strictObject({
  pause: pause.optional(),
  factor: factor.optional(),
  session: choice(['resumed', 'new']).optional(),
  after_timeout: flag.optional(),
});

/** The conventions of a plan, with our own where it says nothing. */
export function lowerConventions(given: z.output<typeof conventionsSchema>): Conventions {
  const { commit_message, merge_message, conflict_exit, no_tasks, reports = [] } = given;
  const { branch: name, workspace, summary, logs } = given;
  const ours = NATIVE_CONVENTIONS;
  return {
    branch: name ?? ours.branch,
    workspace: workspace ?? ours.workspace,
    commitMessage: commit_message ?? ours.commitMessage,
    mergeMessage: merge_message ?? ours.mergeMessage,
    conflictExit: conflict_exit ?? ours.conflictExit,
    summary: summary ?? ours.summary,
    noTasks: no_tasks ?? ours.noTasks,
    ...(logs === undefined ? {} : { logs }),
    reports: reports.map(({ path, style, subject }) =>
      subject === undefined ? { path, style } : { path, style, subject },
    ),
  };
}

/** How attempts follow each other, where a plan says anything about it. */
export function lowerRetry(given: z.output<typeof retrySchema>): RetrySpec {
  const {
    pause: pauseMs = 1_000,
    factor: growth,
    session = 'resumed',
    after_timeout = false,
  } = given;
  return {
    pauseMs,
    ...(growth === undefined ? {} : { factor: growth }),
    session,
    afterTimeout: after_timeout,
  };
}
