/**
 * Agent Dispatch Manifests: a Markdown plan with a `json dispatch` block, as cast-parallel uses it.
 * Batches define the order of their agents (graph.ts) or, on request, are split into two streams
 * (streams.ts). docs/formats.md lists what differs from cast-parallel.
 */

import type { Conventions, Plan } from '../../../../model/plan.ts';
import { ProblemLog } from '../../../problem.ts';
import { readJson } from '../../../syntax/json.ts';
import { type ParsedPlan, type PlanFormat, type PlanInput, stemOf } from '../../format.ts';
import { agentOf, defaultsFor, lower } from '../../native/lower.ts';
import type { CheckedPlan, CheckedTask } from '../../native/schema.ts';
import { findBlock, findMarker } from './block.ts';
import { type Bases, tasksOf } from './graph.ts';
import { type Manifest, placeOfPath, readManifest, rootsOf } from './manifest.ts';
import { streamsOf } from './streams.ts';

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
