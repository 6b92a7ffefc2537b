/** Task ids made from words: readable, valid and unique. */

import type { TaskId } from '../model/plan.ts';

const MAX_LENGTH = 40;

/** Letters and digits of the text in lower case, joined by `-`; `task` where it has none. */
export function slugOf(text: string): string {
  const words = text
    .slice(0, 1_000)
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  if (words.length <= MAX_LENGTH) return words || 'task';
  const cut = words.slice(0, MAX_LENGTH + 1).replace(/-[^-]*$/, '');
  return cut.slice(0, MAX_LENGTH).replace(/-+$/, '');
}

/** The id, or the first free one of `id-2`, `id-3` …; marks it as used. */
export function freeId(id: TaskId, used: Set<TaskId>): TaskId {
  let free = id;
  for (let n = 2; used.has(free); n += 1) free = `${id}-${n}`;
  used.add(free);
  return free;
}
