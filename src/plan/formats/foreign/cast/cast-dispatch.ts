/**
 * Agent Dispatch Manifests: a Markdown plan with a `json dispatch` block, as cast-parallel uses it.
 * Batches define the order of their agents (graph.ts) or, on request, are split into two streams.
 * docs/formats.md lists what differs from cast-parallel.
 */

import type { Conventions, Plan, TaskSpec } from '../../../../model/plan.ts';
import { type Place, ProblemLog, quote, START } from '../../../problem.ts';
import { readJson } from '../../../syntax/json.ts';
import { type MarkdownFence, type MarkdownPart, readMarkdown } from '../../../syntax/markdown.ts';
import { type ParsedPlan, type PlanFormat, type PlanInput, stemOf } from '../../format.ts';
import { agentOf, defaultsFor, lower } from '../../native/lower.ts';
import type { CheckedPlan, CheckedTask } from '../../native/schema.ts';
import { type Bases, tasksOf } from './graph.ts';
import {
  type Batch,
  type DispatchAgent,
  type Manifest,
  placeOfPath,
  readManifest,
} from './manifest.ts';

export const castDispatch: PlanFormat = {
  name: 'cast-dispatch',
  marker: 'a fenced block `json dispatch`, or a heading "Agent Dispatch Manifest"',
  detect: ({ text }) => findMarker(text),
  parse,
  isWhole: true,
  idleInside: 'CAST_SUBPROCESS',
  hasBatches: true,
};

function parse(input: PlanInput): ParsedPlan {
  const log = new ProblemLog(input.file.path);
  const manifest = readBlock(input, log);
  const { split } = input.options;
  const result = (plan: Plan | null): ParsedPlan => ({
    plan: log.failed ? null : plan,
    format: castDispatch.name,
    problems: log.sorted(),
    refusalExit: 1,
  });
  if (manifest === null) return result(null);
  const { plan, bases } = lowerFrame(manifest, input);
  if (split === undefined) return result({ ...plan, tasks: tasksOf(manifest, bases, log) });
  const streams = streamsOf(manifest, { split, ...pathsOf(input) }, bases.agent, log);
  if (streams === null) return result(null);
  const conventions: Conventions = {
    ...plan.conventions,
    branch: 'cast-parallel-{task}-{hash}',
    summary: 'streams',
  };
  const cut = { ...plan, tasks: streams.tasks, conventions };
  return { ...result(cut), preview: streams.preview };
}

function readBlock(input: PlanInput, log: ProblemLog): Manifest | null {
  const block = findBlock(input.file.text, log);
  if (block === null) return null;
  const root = readJson({ text: block.lines.join('\n'), firstLine: block.line + 1 }, log);
  return root === null
    ? null
    : readManifest(root, { root: input.repository.root, home: input.home }, log);
}

function pathsOf(input: PlanInput): { readonly path: string; readonly fullPath: string } {
  const { file, directory, repository, home } = input;
  const { path } = file;
  const { root } = repository;
  const name = path.split('/').at(-1) ?? path;
  const inside = placeOfPath(directory === '' ? name : `${directory}/${name}`, { root, home });
  return { path, fullPath: inside.startsWith('/') ? inside : `${root}/${inside}` };
}

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** The plan without its tasks: the configuration, then the defaults of cast-parallel. */
function lowerFrame(
  manifest: Manifest,
  input: PlanInput,
): { readonly plan: Plan; readonly bases: Bases } {
  const { config, home, file, options } = input;
  const agent = agentOf({}, { plan: {}, config });
  const defaults = defaultsFor(agent, { plan: {}, config });
  const isCut = options.split !== undefined;
  const task: CheckedTask = {
    id: 'agent',
    agent,
    retries: defaults.retries ?? 1,
    timeout: defaults.timeout ?? (isCut ? STREAM_HOURS : 1) * HOUR_MS,
    idle: defaults.idle ?? 15 * MINUTE_MS,
    // Sessions run unattended, so a permission prompt would stall them.
    permissions: options.autoApprove === true ? BYPASS : (defaults.permissions ?? BYPASS),
    answer: 'status-word',
  };
  const script: CheckedTask = { id: 'script', agent: 'shell', read_only: true };
  const native: CheckedPlan = {
    landfast: 1,
    name: manifest.planId || stemOf(file.path) || 'plan',
    target: manifest.target,
    land: {
      on_conflict: config.land?.on_conflict ?? (isCut ? 'hold' : 'fail'),
      ...(isCut ? { order: 'plan' } : {}),
      trailers: config.land?.trailers ?? 'off',
    },
    tasks: [task, script],
  };
  const plan = lower(native, [], { name: 'plan', config, home });
  const [lowered, checks] = plan.tasks;
  return { plan, bases: { agent: { ...lowered!, outside: 'report' }, script: checks! } };
}

const BYPASS = 'bypassPermissions';
/** A stream does the work of many tasks. */
const STREAM_HOURS = 8;

const SECTION = /^agent dispatch manifest$/i;

/** Where a dispatch block begins, or at least the heading of its section. */
function findMarker(text: string): Place | null {
  if (!/dispatch/i.test(text)) return null;
  const parts = readMarkdown(text);
  const block = parts.find(isDispatch);
  const heading = parts.find((part) => part.kind === 'heading' && SECTION.test(part.text));
  if (block !== undefined) return placeOfFence(block);
  return heading === undefined ? null : { line: heading.line, column: 1 };
}

/** The block of the manifest; null, and a problem in the log, if it is missing or ambiguous. */
function findBlock(text: string, log: ProblemLog): MarkdownFence | null {
  const parts = readMarkdown(text);
  const blocks = parts.filter(isDispatch);
  const block = blocks.length > 1 ? chosenOf(blocks, parts, log) : (blocks[0] ?? null);
  if (blocks.length === 0) reportNone(parts, log);
  if (block !== null && !block.closed) {
    const remedy = 'it is read to the end of the file; end it with a line of three back-ticks';
    log.warning(placeOfFence(block), 'the json dispatch block is not closed', remedy);
  }
  return block;
}

function isDispatch(part: MarkdownPart): part is MarkdownFence {
  return part.kind === 'fence' && /^json\s+dispatch$/i.test(part.info);
}

function placeOfFence({ line, column }: MarkdownFence): Place {
  return { line, column };
}

/** The only one in the section "Agent Dispatch Manifest"; otherwise it is an error. */
function chosenOf(
  blocks: readonly MarkdownFence[],
  parts: readonly MarkdownPart[],
  log: ProblemLog,
): MarkdownFence | null {
  const inside = blocksInSection(parts);
  const shown = blocks.slice(0, MAX_SHOWN).map(({ line }) => line);
  const lines = shown.join(' and ') + (blocks.length > MAX_SHOWN ? ' and more' : '');
  const [chosen] = inside;
  if (chosen !== undefined && inside.length === 1) {
    const message = `there are json dispatch blocks on lines ${lines}`;
    const remedy = `the one on line ${chosen.line} is used: its section says so`;
    log.warning(placeOfFence(chosen), message, remedy);
    return chosen;
  }
  log.error(
    placeOfFence(blocks[1]!),
    `there are json dispatch blocks on lines ${lines}: which one is the plan?`,
    'remove the others, or put the right one under a heading "Agent Dispatch Manifest"',
  );
  return null;
}

const MAX_SHOWN = 5;

/** Blocks in that section, including its subsections. */
function blocksInSection(parts: readonly MarkdownPart[]): readonly MarkdownFence[] {
  const inside: MarkdownFence[] = [];
  let level: number | null = null;
  for (const part of parts) {
    if (part.kind === 'heading') {
      if (SECTION.test(part.text)) level = part.level;
      else if (level !== null && part.level <= level) level = null;
    } else if (level !== null && isDispatch(part)) inside.push(part);
  }
  return inside;
}

/** Points at the block that was probably meant. */
function reportNone(parts: readonly MarkdownPart[], log: ProblemLog): void {
  const fences = parts.filter((part) => part.kind === 'fence');
  const near = fences.find(
    ({ info, lines }) =>
      /json|dispatch/i.test(info) && lines.some((line) => /"batches"/.test(line)),
  );
  const open = fences.find(({ closed }) => !closed);
  const message = 'No json dispatch block in this file';
  if (near !== undefined) {
    const remedy = `the block there is marked ${quote(near.info)}: mark it \`json dispatch\``;
    log.error(placeOfFence(near), message, remedy);
  } else if (open !== undefined) {
    const remedy = `the fence of line ${open.line} is never closed: everything after it is its text`;
    log.error(placeOfFence(open), message, remedy);
  } else {
    const remedy =
      "put the manifest between ```json dispatch and ```; see docs/formats.md in landfast's package";
    log.error(START, message, remedy);
  }
}

interface Cut {
  /** Batches of the first stream; null means half of them. */
  readonly split: number | null;
  /** The plan's file as it was named, and its absolute path. */
  readonly path: string;
  readonly fullPath: string;
}

/**
 * One session does the first batches while another does the rest, whose prompts hold all of them. The
 * split is by position, with warnings about what that breaks; null if it cannot be cut there.
 */
function streamsOf({ planId, batches }: Manifest, cut: Cut, base: TaskSpec, log: ProblemLog) {
  const first = batches[0];
  if (first === undefined) return null;
  const { split, path } = cut;
  if (split !== null && (split < 1 || split >= batches.length)) {
    const range = batches.length === 1 ? 'there is only one batch' : `1 to ${batches.length - 1}`;
    const message = `--split ${split} is out of range: ${range}`;
    log.error(first.at, message, 'leave it out for the middle');
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
    /** The lines of a dry run, as cast-parallel prints them. */
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
  const others = `Stream ${other.name} does the batches ${theirs} at the same time, in another`;
  const rest = theirs === '' ? [] : [`${others} worktree:`, 'leave those alone.'];
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
