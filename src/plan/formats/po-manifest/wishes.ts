/**
 * What a task, or `defaults` for all of them, may wish beyond parallel-orchestra itself: times and
 * pauses as its predecessor has them, and the models of its successor.
 */

import type { RetrySpec } from '../../../model/plan.ts';
import { type ProblemLog, quote } from '../../problem.ts';
import { describe, entryOf, type YamlMap, type YamlNode } from '../../yaml-source.ts';

export interface TaskWishes {
  readonly model?: string;
  readonly timeoutMs?: number;
  readonly idleMs?: number;
  readonly delayMs?: number;
  readonly factor?: number;
}

/** Keys of tasks and defaults that parallel-orchestra itself refuses. */
export const TIME_KEYS = [
  'timeout_sec',
  'idle_timeout_sec',
  'retry_delay_sec',
  'retry_backoff_factor',
] as const;

const MODELS = ['haiku', 'sonnet', 'opus'];
/** Timers count in 31 bits of milliseconds. */
const MOST_SECONDS = 24 * 24 * 3600;
const MOST_FACTOR = 100;

/** The wishes of a mapping; `name` is put before a key in messages. */
export function readWishes(
  map: YamlMap,
  name: string,
  isOld: boolean,
  log: ProblemLog,
): TaskWishes {
  const seconds = (key: string, least: number): number | undefined => {
    const value = readNumber(map, { key, name, least, most: MOST_SECONDS }, log);
    return value === undefined ? undefined : Math.round(value * 1000);
  };
  const factor = { key: 'retry_backoff_factor', name, least: 1, most: MOST_FACTOR };
  const times = isOld
    ? {
        timeoutMs: seconds('timeout_sec', 1),
        idleMs: seconds('idle_timeout_sec', 1),
        delayMs: seconds('retry_delay_sec', 0),
        factor: readNumber(map, factor, log),
      }
    : {};
  const wishes = { model: readModel(map, name, log), ...times };
  const given = Object.entries(wishes).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as TaskWishes;
}

/** Says once that models, which parallel-orchestra itself passes over, are honoured. */
export function noteModels(root: YamlMap, log: ProblemLog): void {
  const tasks = entryOf(root, 'tasks')?.value;
  const maps = [entryOf(root, 'defaults')?.value, ...(tasks?.kind === 'list' ? tasks.items : [])];
  const known = maps
    .map((map) => entryOf(map, 'model'))
    .find((entry) => entry !== undefined && isModel(entry.value));
  if (known === undefined) return;
  log.warning(known.keyAt, "model is a key of parallel-orchestra's successor: it is honoured");
}

/** The predecessor pauses only if it is told to, and always for the same time. */
export function retryOf({ delayMs = 0, factor = 1 }: TaskWishes): RetrySpec {
  return { pauseMs: delayMs, factor, session: 'resumed', afterTimeout: false };
}

function readModel(map: YamlMap, name: string, log: ProblemLog): string | undefined {
  const entry = entryOf(map, 'model');
  if (entry === undefined) return undefined;
  if (isModel(entry.value)) return entry.value.value;
  const known = MODELS.map(quote).join(', ');
  log.warning(entry.keyAt, `${name}model is ignored`, `known models are ${known}`);
  return undefined;
}

function isModel(node: YamlNode): node is YamlNode & { kind: 'scalar'; value: string } {
  return node.kind === 'scalar' && MODELS.some((model) => model === node.value);
}

function readNumber(
  map: YamlMap,
  wish: {
    readonly key: string;
    readonly name: string;
    readonly least: number;
    readonly most: number;
  },
  log: ProblemLog,
): number | undefined {
  const entry = entryOf(map, wish.key);
  if (entry === undefined) return undefined;
  const { value } = entry;
  const number = value.kind === 'scalar' && typeof value.value === 'number' ? value.value : null;
  if (number !== null && number >= wish.least && number <= wish.most) return number;
  const range = `a number from ${wish.least} to ${wish.most}`;
  log.error(value.at, `${wish.name}${wish.key} must be ${range}, found ${describe(value)}`);
  return undefined;
}
