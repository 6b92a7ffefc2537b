/**
 * The live view of a run: a state and a moment in, lines out (painter.ts draws them). A frame has
 * at most `height` lines of at most `width` columns.
 *
 * Rows are in plan order while they fit, and tasks that wait for the same thing share one.
 * Otherwise active tasks come first, then failed and waiting ones, and finished ones become a
 * number.
 */

import {
  awaitsApproval,
  costOf,
  isGood,
  isHalted,
  isOver,
  type RunState,
  type TaskState,
} from '../model/state.ts';
import {
  failedCommand,
  failedCommandLines,
  SHOWN_LINES,
  tasksWithFailedCommand,
} from '../report/failed-command.ts';
import { forecastOf } from '../report/forecast.ts';
import type { Paint } from '../report/format.ts';
import { durationText, moneyText, PLAIN_INK, shortSha } from '../report/format.ts';
import { brokenLines } from '../report/gate-problems.ts';
import { heldWord, pauseWord, progressText, resultOf, STOPPING_WORDS } from '../report/outcome.ts';
import { gateText, queueLine } from '../report/queue.ts';
import { matrix, radarLine } from '../report/radar.ts';
import { brief } from '../report/sanitize.ts';
import type { ViewContext } from '../report/task-view.ts';
import { taskView } from '../report/task-view.ts';
import type { Span } from './styled-text.ts';
import { cutMiddle, fitLine, inkOf, pad, widthOf } from './styled-text.ts';

export interface LiveView extends ViewContext {
  readonly run: string;
  readonly state: RunState;
  readonly width: number;
  readonly height: number;
  readonly color: boolean;
}

/** Windows with fewer rows get no progress bar. */
const LOW = 8;

export function frame(view: LiveView): string[] {
  const { state, width, height } = view;
  const { paint } = inkOf(view.color);
  const tasks = [...state.tasks.values()];
  const seen = radarLine(state);
  const queue = queueLine(state, view.now);
  const below: Span[] = [
    ...brokenLines(state, { run: view.run, most: 3 }).map(
      (text): Span => ({ text, style: 'warn' }),
    ),
    ...(queue === null ? [] : [{ text: `queue: ${queue}`, style: 'accent' } as const]),
    ...(seen === null ? [] : [{ text: seen, style: 'warn' } as const]),
  ];
  const bar = height < LOW ? null : progressLine(state, { now: view.now, width, paint });
  const head = [
    titleLine(view, paint),
    ...(bar === null ? [] : [bar]),
    countsLine(view, tasks, paint),
  ];
  const room = height - head.length - below.length;
  // Tasks come first; the table of who collides with whom takes what they leave.
  const table = seen === null ? [] : matrix(state, PLAIN_INK);
  const all = rowsOf(tasks, (task) => waitOf(view, task));
  if (all.length + table.length <= room)
    below.push(...table.map((text): Span => ({ text, style: 'dim' })));
  const { shown, notes } = chooseRows(all, height - head.length - below.length);
  const layout = layoutOf(view, shown);
  const rows = shown.map((row) => rowLine(view, row, layout));
  const left = height - head.length - rows.length - notes.length - below.length;
  const foot = [...notes, ...below, ...failedBlock(state, left)].map((span) =>
    fitLine([span], width, paint),
  );
  return [...head, ...rows, ...foot].slice(0, Math.max(0, height));
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
  if (awaitsApproval(state)) {
    return [{ text: 'waits for your approval: landfast approve  ', style: 'warn' }];
  }
  if (publish.kind !== 'running') return [];
  const { gate = null } = publish;
  const which = gate === null ? '' : `, in ${gateText(gate, now)}`;
  return [{ text: `publishing${which}  `, style: 'accent' }];
}

/** What a task waits for; null if it does not wait. */
function waitOf(view: LiveView, task: TaskState): string | null {
  if (task.status.kind !== 'waiting' || view.state.outcome !== null) return null;
  return taskView(view.state, task, view).detail;
}

/** Column widths, shared by all rows. */
interface Layout {
  readonly idWidth: number;
  readonly titleWidth: number;
  readonly paint: Paint;
}

function layoutOf(view: LiveView, rows: readonly Row[]): Layout {
  const { width, color } = view;
  const alone = rows.flatMap(({ tasks, wait }) => (wait === null ? [tasks[0].spec] : []));
  const longest = (texts: readonly string[]): number =>
    texts.reduce((most, text) => Math.max(most, widthOf(text)), 0);
  const names = alone.map(({ id }) => brief(id, 120));
  const titles = alone.map(({ title }) => brief(title ?? '', 80));
  const hasRoom = width >= ROOMY;
  return {
    idWidth: Math.min(longest(names), Math.max(8, Math.floor(width * 0.35))),
    titleWidth: hasRoom ? Math.min(longest(titles), Math.floor(width * 0.25)) : 0,
    paint: inkOf(color).paint,
  };
}

function rowLine(view: LiveView, row: Row, layout: Layout): string {
  return row.wait === null ? taskLine(view, row.tasks[0], layout) : waitLine(view, row, layout);
}

/** One line for all tasks that wait for the same thing. */
function waitLine({ width }: LiveView, { tasks, wait }: Row, { paint }: Layout): string {
  const names = tasks.slice(0, MOST_NAMES).map(({ spec }) => brief(spec.id, 60));
  const who = names.join(', ') + (tasks.length > MOST_NAMES ? ', …' : '');
  const text = `· ${tasks.length} tasks  ${wait}  ${who}`;
  return fitLine([{ text, style: 'dim' }], width, paint);
}

function taskLine(view: LiveView, task: TaskState, layout: Layout): string {
  const { width, now } = view;
  const { idWidth, titleWidth } = layout;
  const row = taskView(view.state, task, view);
  const halted = isHalted(view.state, task.spec.id);
  const moving = task.status.kind === 'merging' || (task.status.kind === 'running' && !halted);
  const symbol = moving ? SPINNER[Math.floor(now / SPIN_MS) % SPINNER.length]! : row.symbol;
  const ran = row.attempt > 0;
  const time = pad(ran ? durationText(row.elapsedMs) : '', TIME_WIDTH, 'left');
  const attempt = pad(row.attempt > 1 ? `#${row.attempt}` : '', 3);
  const start = width < NARROW ? '' : `${time} ${attempt} `;
  const cost = width < WIDE || row.costUsd === 0 ? '' : `  ${moneyText(row.costUsd)}`;
  const title = brief(task.spec.title ?? '', 80);
  const titled = titleWidth === 0 ? '' : `${pad(title, titleWidth)} `;
  const room =
    width - 3 - idWidth - (titleWidth === 0 ? 0 : titleWidth + 1) - start.length - cost.length;
  const said = row.detail === '' && titleWidth === 0 ? title : row.detail;
  const detail = cost === '' ? said : pad(said, room);
  return fitLine(
    [
      { text: `${symbol} `, style: row.style },
      { text: `${pad(cutMiddle(brief(task.spec.id, 120), idWidth), idWidth)} ` },
      { text: titled },
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
/** Minimum widths for times, costs and titles. */
const NARROW = 44;
const WIDE = 64;
const ROOMY = 100;
/** No window fits more names. */
const MOST_NAMES = 40;

/** A task, or several that wait for the same thing. */
export interface Row {
  readonly tasks: readonly [TaskState, ...TaskState[]];
  /** What they wait for, if there are several. */
  readonly wait: string | null;
}

export interface Rows {
  readonly shown: readonly Row[];
  /** Summaries of the tasks without a row. */
  readonly notes: readonly Span[];
}

/** Fewer waiting tasks keep a row each. */
const LEAST_TOGETHER = 3;

/** Rows in plan order; `waitOf` says what a task waits for, or null. */
export function rowsOf(
  tasks: readonly TaskState[],
  waitOf: (task: TaskState) => string | null,
): readonly Row[] {
  const waiting = new Map<string, TaskState[]>();
  for (const task of tasks) {
    const wait = waitOf(task);
    if (wait === null) continue;
    const others = waiting.get(wait);
    if (others === undefined) waiting.set(wait, [task]);
    else others.push(task);
  }
  const together = new Map<TaskState, Row | null>();
  for (const [wait, [first, ...others]] of waiting) {
    if (first === undefined || others.length + 1 < LEAST_TOGETHER) continue;
    together.set(first, { tasks: [first, ...others], wait });
    for (const other of others) together.set(other, null);
  }
  return tasks.flatMap((task) => {
    const row = together.get(task);
    if (row === null) return [];
    return [row ?? { tasks: [task], wait: null }];
  });
}

export function chooseRows(rows: readonly Row[], room: number): Rows {
  if (rows.length <= room) return { shown: rows, notes: [] };
  const open = [0, 1, 2].flatMap((rank) => rows.filter(({ tasks }) => rankOf(tasks[0]) === rank));
  const finished = rows.length - open.length;
  const notes: Span[] = finished === 0 ? [] : [{ text: `✓ ${finished} finished`, style: 'good' }];
  if (open.length + notes.length <= room) return { shown: open, notes };
  const shown = open.slice(0, Math.max(0, room - notes.length - 1));
  const hidden = open.slice(shown.length).reduce((sum, { tasks }) => sum + tasks.length, 0);
  return { shown, notes: [{ text: `… ${hidden} more not finished`, style: 'dim' }, ...notes] };
}

/** 0 active, 1 failed, 2 waiting, 3 finished. */
function rankOf(task: TaskState): number {
  if (isGood(task)) return 3;
  if (task.status.kind === 'waiting') return 2;
  return task.status.kind === 'failed' ? 1 : 0;
}

const SHORTEST_BAR = 8;

/** A bar, the count of successful tasks and a forecast; null for one task or a finished run. */
export function progressLine(
  state: RunState,
  { now, width, paint }: { readonly now: number; readonly width: number; readonly paint: Paint },
): string | null {
  const tasks = [...state.tasks.values()];
  if (tasks.length < 2 || state.outcome !== null) return null;
  const good = tasks.filter(isGood).length;
  const lost = tasks.filter(isOver).length - good;
  const text = `${good} of ${tasks.length}${leftText(state, now)}`;
  const room = width - text.length - 2;
  if (room < SHORTEST_BAR) return fitLine([{ text, style: 'dim' }], width, paint);
  const done = Math.floor((good / tasks.length) * room);
  const gone = Math.floor(((good + lost) / tasks.length) * room) - done;
  return fitLine(
    [
      { text: '█'.repeat(done), style: 'good' },
      { text: '▒'.repeat(gone), style: 'bad' },
      { text: '░'.repeat(room - done - gone), style: 'dim' },
      { text: `  ${text}` },
    ],
    width,
    paint,
  );
}

/** A paused run has no forecast: its pause ends when a person says so. */
function leftText(state: RunState, now: number): string {
  const forecast = state.paused === null && state.stopping === null ? forecastOf(state, now) : null;
  if (forecast === null) return '';
  const [p50, p90] = [forecast.p50, forecast.p90].map(roundedText);
  return p50 === p90 ? `, about ${p50} left` : `, about ${p50} left (p90 ${p90})`;
}

const MINUTE_MS = 60_000;

/** Rounds a forecast: tenths of a second would be false precision. */
function roundedText(ms: number): string {
  const step = ms < MINUTE_MS ? 5_000 : ms < 10 * MINUTE_MS ? 30_000 : MINUTE_MS;
  return durationText(Math.max(10_000, Math.ceil(ms / step) * step)).replace(/ 00 s$/, '');
}

/** The task, the command, a line of output and the `logs` command. */
const LEAST = 4;

/** The newest failed command in at most `room` lines; none if they are too few. */
export function failedBlock(state: RunState, room: number): readonly Span[] {
  if (room < LEAST) return [];
  const [newest] = tasksWithFailedCommand(state);
  if (newest === undefined) return [];
  const { id } = newest.task.spec;
  const what = failedCommand(newest.failure, id);
  if (what === null) return [];
  const [command = '', ...lines] = failedCommandLines(
    what,
    Math.min(SHOWN_LINES, room - LEAST + 1),
  );
  return [
    { text: `✗ ${brief(id, 60)}`, style: 'bad' },
    { text: `  ${command}` },
    ...lines.map((line): Span => ({ text: `  ${line}`, style: 'dim' })),
  ];
}
