/** The fence that a plan asks for, as far as this machine can build it. */

import { join, resolve } from 'node:path';
import { type AnyAgent, isFunctionAgent } from '../agents/function-agent.ts';
import { OperationalError, UserError } from '../base/errors.ts';
import { taskBranch } from '../model/names.ts';
import { type Plan, type TaskSpec, usesCheckout } from '../model/plan.ts';
import type { NetworkRule } from '../process/fence/bounds.ts';
import { fenceSupport, makeFence, requireProxies } from '../process/fence.ts';
import type { Fence } from '../worker/run-agent.ts';
import { agentNamed } from './agents.ts';
import type { Host, Place } from './place.ts';

export type FenceFor = (workspace: string, task: TaskSpec) => Fence | null;

/** The fences of one run. `close` ends their way to the network, and says what it refused. */
export interface Fencing {
  readonly fenceFor: FenceFor;
  close(): Promise<void>;
}

const UNFENCED: Fencing = { fenceFor: () => null, close: async () => {} };

/** Decides once per run whether attempts are fenced in; a plan may require it. */
export async function fenceOf(
  plan: Plan,
  { repository, dir, host }: Place,
  { run, signal }: { readonly run: string; readonly signal: AbortSignal },
): Promise<Fencing> {
  const { mode, network, caches } = plan.sandbox;
  if (mode === 'off' || repository === null) return UNFENCED;
  refuseHere(plan, host);
  const support = await fenceSupport(signal);
  if (support.kind === 'missing') {
    if (mode === 'require') {
      const message = `The plan requires a sandbox, but there is none: ${support.why}.`;
      throw new OperationalError(message, { remedy: support.remedy });
    }
    host.warn(`Agents run without a sandbox: ${support.why}. ${support.remedy}`);
    return UNFENCED;
  }
  const way = await wayOut(network, { run, host }, signal);
  const fenceFor: FenceFor = (workspace, task) =>
    makeFence({
      workspace,
      commonDir: repository.commonDir,
      branchRef: `refs/heads/${taskBranch(plan.conventions, run, task)}`,
      writable: [
        ...caches.map((folder) => resolveDir(folder, dir, host)),
        ...task.options.dirs.map((folder) => resolveDir(folder, dir, host)),
        ...keptBy(agentNamed(task.agent, host)).flatMap((place) => keptAt(place, host)),
      ],
      network: way.rule,
    });
  return { fenceFor, close: way.close };
}

/** A fence goes around a workspace; a task in the user's own checkout has none. */
function refuseHere({ sandbox, tasks }: Plan, host: Host): void {
  const here = tasks.filter(usesCheckout).map(({ id }) => id);
  if (here.length === 0) return;
  const message = `Tasks that work in your own checkout cannot be sandboxed: ${here.join(', ')}.`;
  if (sandbox.mode !== 'require') return host.warn(message);
  const remedy = 'Give them a workspace (remove here), or do not require the sandbox.';
  throw new UserError(message, remedy);
}

/** The network of a fence: a list of hosts becomes a proxy that allows only those. */
async function wayOut(
  network: Plan['sandbox']['network'],
  { run, host }: { readonly run: string; readonly host: Host },
  signal: AbortSignal,
): Promise<{ readonly rule: NetworkRule; readonly close: () => Promise<void> }> {
  if (typeof network === 'string') return { rule: network, close: UNFENCED.close };
  requireProxies();
  // Node's HTTP takes a while to load, and few runs need it.
  const { startEgress } = await import('../process/egress.ts');
  const egress = await startEgress(network, run, signal);
  const close = async () => {
    await egress.close();
    const denied = egress.denied().join(', ');
    if (denied !== '') host.warn(`The fence refused connections to: ${denied}`);
  };
  return { rule: { proxy: egress.socket }, close };
}

/** A folder that the plan names: absolute, below the home, or relative to the root. */
export function resolveDir(folder: string, root: string, { home }: Host): string {
  return folder.startsWith('~/') ? join(home, folder.slice(2)) : resolve(root, folder);
}

/** A function runs in this process, outside of any fence. */
function keptBy(agent: AnyAgent): readonly string[] {
  return isFunctionAgent(agent) ? [] : (agent.program.keeps ?? []);
}

function keptAt(place: string, host: Host): readonly string[] {
  if (!place.startsWith('$')) return [resolveDir(place, '/', host)];
  const folder = host.env[place.slice(1)];
  return folder === undefined || folder === '' ? [] : [resolve(folder)];
}
