/**
 * What came of the stream, from files that were written meanwhile. Pure: files in, numbers out.
 *
 *   F1. Nothing may be lost: every log and every transcript holds each number once, in order.
 *   F2. Status is behind an event until it shows that event or a later one of its agent. That is
 *       counted for every event that has something to show, from the moment in which the agent
 *       printed it: the way through the pipe, the engine, the disk and the follower is all in it.
 *   F3. The journal is behind an entry from the moment that the entry itself names.
 */

import { parseTranscript, type TranscriptLine } from '../src/journal/transcript.ts';
import type { TaskId } from '../src/model/plan.ts';
import { actionOf } from '../src/report/action.ts';
import type { Frame, SeenEntry, Sightings } from './stream-follower.ts';

/** An event as the agent numbered it; 0 for a line that is none of its own. */
export interface Numbered {
  readonly number: number;
  /** When it was printed (ms since 1970). */
  readonly at: number;
  /** When the engine filed it and whether status has words for it; null in a raw log. */
  readonly filed: { readonly at: number; readonly shows: boolean } | null;
}

/** What was kept of one agent. */
export interface Kept {
  readonly task: TaskId;
  readonly stdout: readonly Numbered[];
  readonly transcript: readonly Numbered[];
}

export interface Loss {
  readonly lost: number;
  /** Lines that come again, out of order, or from nowhere. */
  readonly misplaced: number;
}

export interface Spread {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly max: number;
}

/** What the engine's process had used at a moment. */
export interface Sample {
  readonly at: number;
  readonly cpuMs: number;
  readonly peakKb: number;
}

const NAME = /event (\d+) at (\d+)/;

/** The events in the lines of a log or a transcript. */
export function numbered(lines: readonly string[]): readonly Numbered[] {
  return lines.map((line) => {
    const [, number = '0', at = '0'] = NAME.exec(line) ?? [];
    return { number: Number(number), at: Number(at), filed: filedIn(line) };
  });
}

function filedIn(line: string): Numbered['filed'] {
  const parsed: Partial<TranscriptLine> | undefined = parseTranscript([line])[0];
  if (parsed?.at === undefined || parsed.event === undefined) return null;
  return { at: parsed.at, shows: actionOf(parsed.event) !== null };
}

/** How far a list of events is from 1, 2, …, count. */
export function lossOf(events: readonly Numbered[], count: number): Loss {
  const present = new Set<number>();
  let misplaced = 0;
  let last = 0;
  for (const { number } of events) {
    if (number <= last || number > count) misplaced += 1;
    if (number >= 1 && number <= count) present.add(number);
    last = Math.max(last, number);
  }
  return { lost: count - present.size, misplaced };
}

/** The losses of all agents together. */
export function totalLoss(losses: readonly Loss[]): Loss {
  const sum = (key: keyof Loss): number => losses.reduce((all, loss) => all + loss[key], 0);
  return { lost: sum('lost'), misplaced: sum('misplaced') };
}

/** For each event how long status was behind it, in ms; infinite if it never came up. */
export function statusLags(kept: readonly Kept[], seen: Sightings): readonly number[] {
  return kept.flatMap(({ task, transcript }) => {
    const last = transcript.length;
    const moments = [...shown(task, last, seen.frames), ...ended(task, last, seen.entries)];
    moments.sort((a, b) => a.seenAt - b.seenAt);
    const telling = transcript.filter(({ filed }) => filed?.shows === true);
    return telling.map((event) => lagOf(event, moments));
  });
}

interface Moment {
  /** The newest event of a task that was visible. */
  readonly number: number;
  readonly seenAt: number;
}

function shown(task: TaskId, last: number, frames: readonly Frame[]): readonly Moment[] {
  return frames.flatMap(({ actions, seenAt }) => {
    const action = actions[task];
    if (action === undefined) return [];
    const number = action === 'finishing' ? last : Number(NAME.exec(action)?.[1] ?? 0);
    return [{ number, seenAt }];
  });
}

/** Once the attempt is over, status tells of its end instead. */
function ended(task: TaskId, last: number, entries: readonly SeenEntry[]): readonly Moment[] {
  return entries
    .filter((entry) => entry.task === task && entry.type === 'attempt.finished')
    .map(({ seenAt }) => ({ number: last, seenAt }));
}

function lagOf({ number, at }: Numbered, moments: readonly Moment[]): number {
  const first = moments.find((moment) => moment.number >= number);
  return first === undefined ? Number.POSITIVE_INFINITY : first.seenAt - at;
}

/** For each event how long it took from being printed to being filed by the engine. */
export function engineLags(kept: readonly Kept[]): readonly number[] {
  return kept.flatMap(({ transcript }) =>
    transcript.map(({ at, filed }) => (filed?.at ?? Number.POSITIVE_INFINITY) - at),
  );
}

/** For each entry how long it took from being recorded to being seen by the other process. */
export function journalLags({ entries }: Sightings): readonly number[] {
  return entries.map(({ recordedAt, seenAt }) => seenAt - recordedAt);
}

/** Percentiles by the nearest rank. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const rank = (share: number): number =>
    sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
  return { count: sorted.length, p50: rank(0.5), p95: rank(0.95), max: rank(1) };
}

/** The time in which every agent was speaking; empty when the first ended before the last began. */
export function fullHouse(kept: readonly Kept[]): { readonly from: number; readonly to: number } {
  const from = Math.max(...kept.map(({ stdout }) => stdout[0]?.at ?? Number.POSITIVE_INFINITY));
  return { from, to: Math.min(...kept.map(({ stdout }) => stdout.at(-1)?.at ?? 0)) };
}

/** The share of one core that was used between two moments; null when they enclose no samples. */
export function shareBetween(
  samples: readonly Sample[],
  { from, to }: { readonly from: number; readonly to: number },
): number | null {
  const within = samples.filter(({ at }) => at >= from && at <= to);
  const [first, last] = [within[0], within.at(-1)];
  if (first === undefined || last === undefined || first === last) return null;
  return (last.cpuMs - first.cpuMs) / (last.at - first.at);
}
