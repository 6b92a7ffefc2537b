/**
 * Agent Dispatch Manifests: a Markdown plan with a `json dispatch` block, as cast-parallel and its
 * framework use it. docs/formats.md says what is kept of their behaviour and what is mended.
 *
 *   D1. By default batches are the order they mean, and agents are tasks (cast-dispatch/graph.ts).
 *       Only on demand is the list cut in two streams (cast-dispatch/streams.ts).
 *   D2. Conflicts are never resolved by an agent unless the user asks for it.
 */

import type { Conventions, Plan } from '../../model/plan.ts';
import { readJson } from '../json-source.ts';
import { ProblemLog } from '../problem.ts';
import { findBlock, findMarker } from './cast-dispatch/block.ts';
import { type Bases, tasksOf } from './cast-dispatch/graph.ts';
import { type Manifest, readManifest } from './cast-dispatch/manifest.ts';
import { placeOfPath, rootsOf } from './cast-dispatch/paths.ts';
import { streamsOf } from './cast-dispatch/streams.ts';
import type { ParsedPlan, PlanFormat, PlanInput } from './format.ts';
import { agentOf, wishesFor } from './native/configured.ts';
import { lower } from './native/lower.ts';
import type { NativePlan, NativeTask } from './native/schema.ts';

export const castDispatch: PlanFormat = {
  name: 'cast-dispatch',
  marker: 'a fenced block `json dispatch`, or a heading "Agent Dispatch Manifest"',
  detect: ({ text }) => findMarker(text),
  parse,
  isWhole: true,
  idleInside: 'CAST_SUBPROCESS',
};

function parse(input: PlanInput): ParsedPlan {
  const log = new ProblemLog(input.file.path);
  const manifest = readBlock(input, log);
  const { split } = input.wishes;
  const lowered = manifest === null ? null : lowerFrame(manifest, input);
  const result = (plan: Plan | null): ParsedPlan => ({
    plan: log.failed ? null : plan,
    format: castDispatch.name,
    problems: log.sorted(),
    refusalExit: 1,
  });
  if (manifest === null || lowered === null) return result(null);
  const { plan, bases } = lowered;
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
  return root === null ? null : readManifest(root, rootsOf(input), log);
}

function pathsOf(input: PlanInput): { readonly path: string; readonly fullPath: string } {
  const { path } = input.file;
  const { root } = input.repository;
  const folder = input.directory;
  const name = path.split('/').at(-1) ?? path;
  const inside = placeOfPath(folder === '' ? name : `${folder}/${name}`, {
    root,
    home: input.home,
  });
  return { path, fullPath: inside.startsWith('/') ? inside : `${root}/${inside}` };
}

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** All of the plan but its tasks: what is configured, else what users of it are used to. */
function lowerFrame(
  manifest: Manifest,
  input: PlanInput,
): { readonly plan: Plan; readonly bases: Bases } {
  const { config, home, file, wishes } = input;
  const stem = (file.path.split(/[\\/]/).at(-1) ?? '').replace(/(?<=.)\.[^.]*$/, '');
  const agent = agentOf({}, { plan: {}, config });
  const given = wishesFor(agent, { plan: {}, config });
  const isCut = wishes.split !== undefined;
  const task: NativeTask = {
    id: 'agent',
    agent,
    retries: given.retries ?? 1,
    timeout: given.timeout ?? (isCut ? STREAM_HOURS : 1) * HOUR_MS,
    idle: given.idle ?? 15 * MINUTE_MS,
    // Their sessions ask nobody, and could not: nobody is there to answer.
    permissions: wishes.autoApprove === true ? BYPASS : (given.permissions ?? BYPASS),
    answer: 'status-word',
  };
  const script: NativeTask = { id: 'script', agent: 'shell', read_only: true };
  const native: NativePlan = {
    landfast: 1,
    name: manifest.planId || stem || 'plan',
    target: manifest.target,
    land: {
      on_conflict: config.land?.on_conflict ?? 'fail',
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
