/**
 * Each task's output as `<task>.log`, and the agent's result as `<task>.log.json`, for users who look
 * for them beside their plan. They are written when the run is over: while agents work, nothing in
 * the checkout changes because of them.
 */

import { join, resolve } from 'node:path';
import { messageOf } from '../base/errors.ts';
import { readTail } from '../journal/tail.ts';
import { attemptFiles, attemptsDir, fileName } from '../journal/transcript.ts';
import type { RunState, TaskState } from '../model/state.ts';
import { taskCost } from '../model/state.ts';
import { jsonText } from '../report/json.ts';
import type { Place } from './place.ts';
import { writeWhole } from './write-whole.ts';

/** More than that of one attempt is only in the run's own folder. */
const MOST_BYTES = 16 * 1024 * 1024;

/** Writes the logs of every task that began, where the plan's users look for them. */
export async function writeResultLogs(
  state: RunState,
  run: string,
  { dir, stateDir, host }: Place,
  signal: AbortSignal,
): Promise<void> {
  const { logs } = state.plan.conventions;
  if (logs?.style !== 'result') return;
  const folder = resolve(dir, logs.dir);
  const attempts = attemptsDir(stateDir, run);
  try {
    for (const task of state.tasks.values()) {
      if (task.attempts.length === 0) continue;
      const { spec } = task;
      const files = attemptFiles(attempts, spec.id, task.attempts.length);
      const { lines } = await readTail(files.stdout, MOST_BYTES, signal);
      const errors = await readTail(files.stderr, MOST_BYTES, signal);
      const path = join(folder, `${fileName(spec.id)}.log`);
      writeWhole(path, [...lines, ...errors.lines].map((line) => `${line}\n`).join(''));
      writeWhole(`${path}.json`, jsonText(resultIn(lines) ?? resultOf(task)));
    }
  } catch (error) {
    host.warn(`Not all logs could be written to ${folder}: ${messageOf(error)}`);
  }
}

/** The last result that the agent printed itself, as Claude Code prints it. */
function resultIn(lines: readonly string[]): unknown {
  const line = lines.findLast((text) => /^\{.*"type"\s*:\s*"result"/.test(text));
  if (line === undefined) return null;
  try {
    return JSON.parse(line);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return null;
  }
}

/** The same for agents that print none, from what is known. */
function resultOf(task: TaskState): unknown {
  const last = task.attempts.at(-1);
  const failure = last?.failure ?? null;
  return {
    type: 'result',
    subtype: failure === null ? 'success' : 'error',
    is_error: failure !== null,
    duration_ms: last?.endedAt == null ? null : last.endedAt - last.startedAt,
    result: failure?.message ?? last?.text ?? '',
    session_id: task.session,
    total_cost_usd: taskCost(task),
  };
}
