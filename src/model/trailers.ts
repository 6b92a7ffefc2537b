/** Trailers: lines at the end of a commit's message that programs read, as git has them. */

import type { Assignee, TaskId } from './plan.ts';

/** Who made the work that lands, and for how much. */
export interface Credit {
  /** Null where no agent has made it. */
  readonly by: Assignee | null;
  /** The cost of all of the task's attempts; 0 if unknown. */
  readonly costUsd: number;
}

/** What a landed commit says of its task. */
export function landingTrailers(
  run: string,
  task: TaskId,
  { by, costUsd }: Credit,
): readonly string[] {
  const agent = by === null ? [] : [by.model === undefined ? by.agent : `${by.agent}/${by.model}`];
  return [
    trailer('Landfast-Task', task),
    trailer('Landfast-Run', run),
    ...agent.map((name) => trailer('Landfast-Agent', name)),
    ...(costUsd > 0 ? [trailer('Landfast-Cost', costText(costUsd))] : []),
  ];
}

/** `$0.12` */
export function costText(costUsd: number): string {
  return `$${costUsd.toFixed(2)}`;
}

/** One line, whatever the value holds. */
export function trailer(key: string, value: string): string {
  return `${key}: ${value.replace(/\s+/g, ' ').trim()}`;
}

/** A message with trailers, in one block with those it already ends with. */
export function withTrailers(message: string, trailers: readonly string[]): string {
  const text = message.trimEnd();
  if (trailers.length === 0) return `${text}\n`;
  const [, ...paragraphs] = text.split(/\n[ \t]*\n/);
  const last = paragraphs.at(-1)?.trim().split('\n') ?? [];
  const isBlock = last.length > 0 && last.every((line) => /^[A-Za-z0-9-]+: \S/.test(line));
  return `${text}${isBlock ? '\n' : '\n\n'}${trailers.join('\n')}\n`;
}
