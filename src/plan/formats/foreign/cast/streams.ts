/**
 * The two-stream split: one session does the first batches while another does the rest. It splits by
 * position, as asked, and only warns about what that breaks. A stream's prompt holds all of its
 * batches, so that it works in any workspace.
 */

import type { TaskSpec } from '../../../../model/plan.ts';
import type { ProblemLog } from '../../../problem.ts';
import type { Batch, DispatchAgent, Manifest } from './manifest.ts';

export interface Streams {
  readonly tasks: readonly TaskSpec[];
  /** The lines of a dry run, as cast-parallel prints them. */
  readonly preview: readonly string[];
}

export interface Cut {
  /** Batches of the first stream; null means half of them. */
  readonly split: number | null;
  /** The plan's file as it was named, and its absolute path. */
  readonly path: string;
  readonly fullPath: string;
}

/** Null, and a problem in the log, if it cannot be cut there. */
export function streamsOf(
  { planId, batches }: Manifest,
  cut: Cut,
  base: TaskSpec,
  log: ProblemLog,
): Streams | null {
  const first = batches[0];
  if (first === undefined) return null;
  const { split, path } = cut;
  if (split !== null && (split < 1 || split >= batches.length)) {
    const range = batches.length === 1 ? 'there is only one batch' : `1 to ${batches.length - 1}`;
    log.error(
      first.at,
      `--split ${split} is out of range: ${range}`,
      'leave it out for the middle',
    );
    return null;
  }
  const after = split ?? Math.max(1, Math.floor(batches.length / 2));
  const a: Stream = { name: 'A', batches: batches.slice(0, after) };
  const b: Stream = { name: 'B', batches: batches.slice(after) };
  warn(a, b, log);
  return {
    tasks: [
      streamTask(a, b, cut, base),
      ...(b.batches.length === 0 ? [] : [streamTask(b, a, cut, base)]),
    ],
    preview: [
      'Dry run: nothing is executed.',
      `  Plan: ${path}`,
      `  Plan id: ${planId}`,
      `  Batches: ${batches.length}`,
      `  Split after: ${after}`,
      '',
      ...[a, b].map((stream) => `  ${titleOf(stream)}`),
    ],
  };
}

interface Stream {
  readonly name: string;
  readonly batches: readonly Batch[];
}

function titleOf({ name, batches }: Stream): string {
  const ids = batches.map(({ id }) => id).join(',');
  return `Stream ${name} (worktree-${name.toLowerCase()}): batches ${ids}`;
}

/** Agents that review or publish work, which must exist first. */
const FOLLOWS = /review|quality|audit|verif|commit|push|merge|release|(?:^|-)qa(?:$|-)/i;

function warn(a: Stream, b: Stream, log: ProblemLog): void {
  const [next] = b.batches;
  if (next === undefined) {
    log.warning(a.batches[0]!.at, 'one batch: there is nothing left for stream B');
    return;
  }
  const agents = ({ batches }: Stream): readonly DispatchAgent[] =>
    batches.flatMap((batch) => batch.agents);
  const follows = ({ type }: DispatchAgent): boolean => FOLLOWS.test(type);
  const remedy = 'without --split the batches run in the order they need';
  if (agents(b).length > 0 && agents(b).every(follows) && !agents(a).every(follows)) {
    const names = [...new Set(agents(b).map(({ type }) => type))].join(', ');
    const message = `stream B (${names}) only follows up on what stream A makes at the same time`;
    log.warning(next.at, message, remedy);
  }
  const early = new Set(a.batches.map(({ id }) => id));
  const waiting = b.batches.find(({ dependsOn = [] }) =>
    dependsOn.some(({ value }) => early.has(value)),
  );
  if (waiting !== undefined) {
    const message = `batch ${waiting.id} depends on stream A, which runs at the same time`;
    log.warning(waiting.at, message, remedy);
  }
}

function streamTask(stream: Stream, other: Stream, cut: Cut, base: TaskSpec): TaskSpec {
  return {
    ...base,
    id: `stream-${stream.name.toLowerCase()}`,
    title: titleOf(stream),
    prompt: promptOf(stream, other, cut),
    // A stream may consist of reviews only.
    allowEmpty: true,
    answer: 'free',
  };
}

function promptOf(stream: Stream, other: Stream, { fullPath }: Cut): string {
  const theirs = other.batches.map(({ id }) => id).join(', ');
  const rest =
    theirs === ''
      ? []
      : [
          `Stream ${other.name} does the batches ${theirs} at the same time, in another worktree:`,
          'leave those alone.',
        ];
  return [
    `You are stream ${stream.name} of a plan that is carried out in two streams.`,
    'Do the batches below, in this order and exactly as they say, and nothing else.',
    ...rest,
    `The whole plan is ${fullPath}; what you need of it is here.`,
    ...stream.batches.map(batchText),
  ].join('\n');
}

function batchText(batch: Batch): string {
  const { id, description, isParallel, agents, verifyFiles } = batch;
  const how = isParallel
    ? 'Its agents are independent of each other: start them at the same time.'
    : 'One agent after the other.';
  const title = description === '' ? `## Batch ${id}` : `## Batch ${id}: ${description}`;
  return [
    '',
    title,
    ...(agents.length > 1 ? ['', how] : []),
    ...agents.map((agent) => `\n### ${assignee(agent)}\n\n${agent.prompt.trim()}`),
    ...(verifyFiles.length === 0
      ? []
      : [`\nAfterwards these exist and are not empty: ${verifyFiles.join(', ')}`]),
  ].join('\n');
}

function assignee({ type, owns }: DispatchAgent): string {
  const files = owns.map(({ value }) => value).join(', ');
  const who = type === 'main' ? 'Do this yourself' : `Sub-agent ${type}`;
  return files === '' ? who : `${who} (its files: ${files})`;
}
