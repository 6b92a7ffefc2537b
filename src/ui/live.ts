/**
 * The live view of a run: a state and a moment in, lines out (paint.ts draws them).
 *
 *   V1. A frame has at most `height` lines of at most `width` columns, whatever is in the state.
 *   V2. While all tasks fit they stand in the order of the plan. Once they do not, those that move
 *       come first, then failed and waiting ones, and finished ones become a number.
 *   V3. The cost of a frame is one pass over the tasks plus the rows that are seen.
 */

import type { TaskId } from '../model/plan.ts';
import type { RunState, TaskState } from '../model/state.ts';
import { costOf, isGood } from '../model/state.ts';
import { brief } from '../report/clean.ts';
import type { Paint } from '../report/format.ts';
import { durationText, moneyText, PLAIN_INK, shortSha } from '../report/format.ts';
import { heldWord, pauseWord, progressText, resultOf, STOPPING_WORDS } from '../report/outcome.ts';
import { queueLine } from '../report/queue-line.ts';
import { gateText } from '../report/queue-text.ts';
import { matrix, radarLine } from '../report/radar.ts';
import type { Hearing, ViewContext, Waits } from '../report/task-view.ts';
import { taskView } from '../report/task-view.ts';
import { inkOf } from './color.ts';
import type { Span } from './fit.ts';
import { fitLine, pad } from './fit.ts';
import { widthOf } from './width.ts';

export interface LiveView {
  readonly run: string;
  readonly state: RunState;
  readonly now: number;
  readonly width: number;
  readonly height: number;
  /** What each running agent did last. */
  readonly actions: ReadonlyMap<TaskId, string>;
  readonly color: boolean;
  /** What tasks wait for, as the scheduler has it. */
  readonly waits?: Waits;
  /** A time of day on the user's clock. */
  readonly clock?: (at: number) => string;
  readonly hearing?: Hearing;
}

/** The lines to show now. */
export function frame(view: LiveView): string[] {
  const { state, width, height } = view;
  const { paint } = inkOf(view.color);
  const tasks = [...state.tasks.values()];
  const seen = radarLine(state);
  const queue = queueLine(state, view.now);
  const below: Span[] = [
    ...(queue === null ? [] : [{ text: `queue: ${queue}`, style: 'accent' } as const]),
    ...(seen === null ? [] : [{ text: seen, style: 'warn' } as const]),
  ];
  const head = [titleLine(view, paint), countsLine(view, tasks, paint)];
  const context = contextOf(view);
  const room = height - head.length - below.length;
  // Tasks come first; the table of who collides with whom takes what they leave.
  const table = seen === null ? [] : matrix(state, PLAIN_INK);
  const isRoomy = tasks.length + table.length <= room;
  if (isRoomy) below.push(...table.map((text): Span => ({ text, style: 'dim' })));
  const { shown, notes } = chooseRows(tasks, room);
  const idWidth = idColumn(shown, width);
  const rows = shown.map((task) => taskLine(view, task, { context, idWidth, paint }));
  const foot = [...notes, ...below].map((span) => fitLine([span], width, paint));
  return [...head, ...rows, ...foot].slice(0, Math.max(0, height));
}

function contextOf(view: LiveView): ViewContext {
  const { now, actions, waits, clock, hearing } = view;
  return {
    now,
    actions,
    ...(waits === undefined ? {} : { waits }),
    ...(clock === undefined ? {} : { clock }),
    ...(hearing === undefined ? {} : { hearing }),
  };
}

function titleLine({ run, state, now, width }: LiveView, paint: Paint): string {
  const elapsed = durationText((state.finishedAt ?? now) - state.startedAt);
  const writers = state.plan.tasks.filter(({ mode }) => mode === 'write').length;
  const numbers = [
    elapsed,
    moneyText(costOf(state)),
    ...(writers === 0 ? [] : [progressText(state)]),
  ].join('  ');
  const name = brief(state.plan.name, 60);
  const id = brief(run, 60);
  const left = widthOf(`${name}  ${id}`);
  const gap = ' '.repeat(Math.max(2, width - left - widthOf(numbers)));
  const crowded = left + 2 + widthOf(numbers) > width;
  if (crowded)
    return fitLine([{ text: numbers }, { text: `  ${name}`, style: 'bold' }], width, paint);
  return fitLine(
    [{ text: name, style: 'bold' }, { text: `  ${id}${gap}${numbers}` }],
    width,
    paint,
  );
}

function countsLine(
  { state, now, width }: LiveView,
  tasks: readonly TaskState[],
  paint: Paint,
): string {
  const counts = new Map<string, number>();
  for (const task of tasks) {
    const word = countWord(task);
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const parts = COUNT_ORDER.filter((word) => counts.has(word)).map(
    (word) => `${counts.get(word)} ${word}`,
  );
  const target = state.target === null ? '' : ` for ${brief(state.target, 60)}`;
  const head = state.head === null ? [] : [`head ${shortSha(state.head)}${target}`];
  return fitLine(
    [...stoppingSpans(state, now), { text: [...parts, ...head].join(', '), style: 'dim' }],
    width,
    paint,
  );
}

const COUNT_ORDER = [
  'running',
  'landing',
  'queued',
  'to retry',
  'waiting',
  'failed',
  'skipped',
  'cancelled',
  'unfinished',
  'good',
] as const;

function countWord(task: TaskState): (typeof COUNT_ORDER)[number] {
  switch (task.status.kind) {
    case 'merging':
      return 'landing';
    case 'committed':
      return 'queued';
    case 'stopped':
      return 'to retry';
    case 'running':
    case 'waiting':
      return task.status.kind;
    default: {
      const result = resultOf(task);
      return result === 'succeeded' ? 'good' : result;
    }
  }
}

function stoppingSpans(state: RunState, now: number): Span[] {
  const { stopping, publish } = state;
  const paused = pauseWord(state);
  if (stopping !== null) {
    return [
      { text: `${STOPPING_WORDS[stopping.mode]} (${brief(stopping.why, 60)})  `, style: 'warn' },
    ];
  }
  const halt = paused ?? heldWord(state);
  if (halt !== null) return [{ text: `${halt}  `, style: 'warn' }];
  if (publish.kind !== 'running') return [];
  const { gate = null } = publish;
  const which = gate === null ? '' : `, in ${gateText(gate, now)}`;
  return [{ text: `publishing${which}  `, style: 'accent' }];
}

/** Which tasks get a row, and what is said of the others. */
function chooseRows(
  tasks: readonly TaskState[],
  room: number,
): { readonly shown: readonly TaskState[]; readonly notes: readonly Span[] } {
  if (tasks.length <= room) return { shown: tasks, notes: [] };
  const ranks = [0, 1, 2].map((rank) => tasks.filter((task) => rankOf(task) === rank));
  const open = ranks.flat();
  const finished = tasks.length - open.length;
  const notes: Span[] = finished === 0 ? [] : [{ text: `✓ ${finished} finished`, style: 'good' }];
  if (open.length + notes.length <= room) return { shown: open, notes };
  const shown = open.slice(0, Math.max(0, room - notes.length - 1));
  const hidden = open.length - shown.length;
  return { shown, notes: [{ text: `… ${hidden} more not finished`, style: 'dim' }, ...notes] };
}

/** 0 what moves, 1 what failed, 2 what waits, 3 what is finished. */
function rankOf(task: TaskState): number {
  if (isGood(task)) return 3;
  if (task.status.kind === 'waiting') return 2;
  return task.status.kind === 'failed' ? 1 : 0;
}

function idColumn(tasks: readonly TaskState[], width: number): number {
  const longest = tasks.reduce((most, task) => Math.max(most, widthOf(brief(task.spec.id, 60))), 0);
  return Math.min(longest, Math.max(8, Math.floor(width * 0.3)));
}

interface RowLayout {
  readonly context: ViewContext;
  readonly idWidth: number;
  readonly paint: Paint;
}

function taskLine(view: LiveView, task: TaskState, layout: RowLayout): string {
  const { width, now } = view;
  const row = taskView(view.state, task, layout.context);
  const halted = view.state.paused?.suspended === true;
  const moving = task.status.kind === 'merging' || (task.status.kind === 'running' && !halted);
  const symbol = moving ? SPINNER[Math.floor(now / SPIN_MS) % SPINNER.length]! : row.symbol;
  const ran = row.attempt > 0;
  const time = pad(ran ? durationText(row.elapsedMs) : '', TIME_WIDTH, 'left');
  const attempt = pad(row.attempt > 1 ? `#${row.attempt}` : '', 3);
  const start = width < NARROW ? '' : `${time} ${attempt} `;
  const cost = width < WIDE || row.costUsd === 0 ? '' : `  ${moneyText(row.costUsd)}`;
  const room = width - 3 - layout.idWidth - start.length - cost.length;
  const detail = cost === '' ? row.detail : pad(row.detail, room);
  return fitLine(
    [
      { text: `${symbol} `, style: row.style },
      { text: `${pad(row.name, layout.idWidth)} ` },
      { text: start, style: 'dim' },
      { text: detail === '' && !ran ? row.word : detail, style: detailStyle(row.style) },
      { text: cost, style: 'dim' },
    ],
    width,
    layout.paint,
  ).trimEnd();
}

function detailStyle(style: 'good' | 'bad' | 'warn' | 'accent' | 'bold' | 'dim') {
  return style === 'bad' || style === 'warn' ? style : 'dim';
}

const SPINNER = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const SPIN_MS = 100;
/** `12 m 04 s` */
const TIME_WIDTH = 9;
/** Below this there is no room for times, below the other none for costs. */
const NARROW = 44;
const WIDE = 64;
