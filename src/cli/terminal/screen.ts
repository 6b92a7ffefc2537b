/**
 * Shows a running run: a live view on a terminal, plain lines elsewhere, or NDJSON.
 *
 *   S1. A screen is a fold of the entries it receives, and nothing else.
 *   S2. Progress goes to standard error; standard output belongs to data.
 */

import { waitsIn } from '../../app/activity.ts';
import { isPlain } from '../../app/agents.ts';
import type { Chatter } from '../../model/effect.ts';
import type { Entry } from '../../model/event.ts';
import { apply } from '../../model/fold.ts';
import type { TaskId } from '../../model/plan.ts';
import type { RunState, TaskState } from '../../model/state.ts';
import { actionOf, printedAction } from '../../report/action.ts';
import { STALE_MS } from '../../report/task-view.ts';
import { frame } from '../../tui/live.ts';
import { Painter } from '../../tui/painter.ts';
import { plainLine } from '../../tui/plain-log.ts';
import { wantsColor } from '../../tui/styled-text.ts';
import { clock } from './output.ts';

export interface Screen {
  recorded(entries: readonly Entry[]): void;
  heard(task: TaskId, line: Chatter): void;
  /** A sentence for the user, wherever it does not disturb. */
  say(text: string): void;
  close(): void;
}

export interface ScreenOptions {
  readonly run: string;
  /** The state of a resumed run. */
  readonly before: RunState | null;
  readonly dashboard: boolean;
  readonly events: boolean;
  readonly quiet: boolean;
  /** Where plain lines go; progress of a run in this process does not mix with its data. */
  readonly lines?: 'stdout' | 'stderr';
}

const FRAME_MS = 100;

/** The screen that the flags and the terminal ask for. */
export function openScreen(options: ScreenOptions): Screen {
  if (options.events) return eventScreen();
  if (options.dashboard) return liveScreen(options);
  return plainScreen(options);
}

const LINES_ONLY: Omit<Screen, 'recorded'> = {
  heard: () => undefined,
  say: (text) => console.error(text),
  close: () => undefined,
};

function eventScreen(): Screen {
  return {
    recorded: (entries) => {
      for (const entry of entries) process.stdout.write(`${JSON.stringify(entry)}\n`);
    },
    ...LINES_ONLY,
  };
}

function plainScreen({ before, quiet, lines = 'stderr' }: ScreenOptions): Screen {
  let state = before;
  const out = process[lines];
  return {
    recorded: (entries) => {
      for (const entry of entries) {
        state = apply(state, entry);
        const known = state;
        const waitOf = ({ spec }: TaskState) => waitsIn(known, entry.at).get(spec.id) ?? null;
        const line = plainLine(entry, known, { clock, waitOf });
        if (line !== null && !quiet) out.write(`${line}\n`);
      }
    },
    ...LINES_ONLY,
  };
}

function liveScreen({ run, before }: ScreenOptions): Screen {
  let state = before;
  const actions = new Map<TaskId, string>();
  const lastActivityAt = new Map<TaskId, number>();
  const liveness = { lastActivityAt, staleMs: STALE_MS };
  const painter = new Painter(process.stderr);
  const color = wantsColor(process.env, true);
  const lastFrame = (): readonly string[] => {
    if (state === null) return [];
    const { columns, rows } = process.stderr;
    const now = state.finishedAt ?? Date.now();
    const waits = waitsIn(state, now);
    // A terminal may not tell its size, or say that it is none.
    const size = { width: columns || 80, height: (rows || 24) - 1 };
    return frame({ run, state, now, ...size, actions, color, waits, clock, liveness });
  };
  const timer = setInterval(() => painter.draw(lastFrame()), FRAME_MS);
  return {
    recorded: (entries) => {
      for (const entry of entries) state = apply(state, entry);
    },
    heard: (task, line) => {
      lastActivityAt.set(task, Date.now());
      const action = actionIn(line, agentAt(state, task));
      if (action !== null) actions.set(task, action);
    },
    say: (text) => painter.print([text]),
    close: () => {
      clearInterval(timer);
      painter.close();
      painter.print([...lastFrame(), '']);
    },
  };
}

/** The agent that does a task now. */
function agentAt(state: RunState | null, id: TaskId): string | undefined {
  const task = state?.tasks.get(id);
  return task?.attempts.at(-1)?.by.agent ?? task?.spec.agent;
}

/** What a line says is being done. A coding agent's raw lines are its protocol; a script's are text. */
function actionIn(line: Chatter, agent: string | undefined): string | null {
  if (line.from === 'agent') return actionOf(line.event);
  if (line.from === 'prompt') return null;
  const isOurs = line.from === 'setup' || line.from === 'checks';
  const isText = isOurs || (agent !== undefined && isPlain(agent));
  return isText ? printedAction(line.text) : null;
}
