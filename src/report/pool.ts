/** What `landfast pool status` shows: idle workspaces, seeds, and the space they take. */

import { columns, count, durationText, PLAIN_INK, shortSha } from './format.ts';
import { brief } from './sanitize.ts';

export interface PoolRow {
  readonly path: string;
  /**
   *   idle    waits for a task                 claimed  a process is using it just now
   *   broken  not what it should be: the next run throws it away
   */
  readonly state: 'idle' | 'claimed' | 'broken';
  readonly commit: string | null;
  /** Whether a run would start from that commit now. */
  readonly at_head: boolean;
  readonly idle_sec: number | null;
  readonly files: number | null;
  readonly bytes: number | null;
}

export interface PoolView {
  readonly folder: string;
  /** How many workspaces stay for later runs. */
  readonly most: number;
  readonly disk: number | null;
  readonly bytes: number;
  readonly workspaces: readonly PoolRow[];
  readonly seeds: readonly SeedRow[];
}

/** Kept set-up output for new workspaces. */
export interface SeedRow {
  readonly path: string;
  /** The paths it holds, as in a workspace. */
  readonly holds: readonly string[];
  readonly bytes: number;
  readonly age_sec: number;
  readonly unused_sec: number;
}

export function poolText(view: PoolView): string {
  return `${workspacesText(view)}${seedsText(view.seeds)}`;
}

function seedsText(seeds: readonly SeedRow[]): string {
  if (seeds.length === 0) return '';
  const rows = seeds.map(({ path, holds, bytes, unused_sec }) => [
    'seed',
    brief(holds.join(', '), 60),
    `used ${durationText(unused_sec * 1000)} ago`,
    sizeText(bytes),
    brief(path, 300),
  ]);
  const all = seeds.reduce((sum, { bytes }) => sum + bytes, 0);
  return tableText(rows, `${count(seeds.length, 'seed')}, ${sizeText(all)}.`);
}

function workspacesText({ workspaces, most, disk, bytes }: PoolView): string {
  const room = disk === null ? '' : ` of ${sizeText(disk)}`;
  const limit = most === 0 ? 'the pool is off' : `at most ${most} stay for later runs`;
  if (workspaces.length === 0) return `No idle workspaces; ${limit}.\n`;
  const rows = workspaces.map((row) => [
    row.state,
    row.commit === null ? '' : `${shortSha(row.commit)}${row.at_head ? ' (head)' : ''}`,
    row.idle_sec === null ? '' : durationText(row.idle_sec * 1000),
    row.bytes === null ? '' : sizeText(row.bytes),
    brief(row.path, 300),
  ]);
  const total = `${count(workspaces.length, 'workspace')}, ${sizeText(bytes)}${room}; ${limit}.`;
  return tableText(rows, total);
}

function tableText(rows: readonly (readonly string[])[], total: string): string {
  const cells = rows.map((row) => row.map((text) => ({ text })));
  return `${[...columns(cells, PLAIN_INK), total].join('\n')}\n`;
}

/** `1.5 GB`, `20 MB`; a step is 1024. */
export function sizeText(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let amount = bytes;
  let unit = 0;
  for (; amount >= 1024 && unit < units.length - 1; unit += 1) amount /= 1024;
  const digits = amount < 10 && unit > 0 ? 1 : 0;
  return `${amount.toFixed(digits)} ${units[unit]}`;
}
