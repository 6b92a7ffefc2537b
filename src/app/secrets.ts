/**
 * Secrets that a plan holds itself: in the `env` of a task, a server or a gate, and as the address of a
 * webhook, which lets everybody who knows it write there. The run needs them, the journal does not:
 * they are stored masked, and a resumed run gets them again from the plan file or, but for
 * addresses, from the environment.
 */

import { UserError } from '../base/errors.ts';
import type { McpServer, Plan, TaskSpec } from '../model/plan.ts';
import { isSecretName } from '../worker/environment.ts';
import type { Host } from './place.ts';

const MASK = '[MASKED]';

type Env = Readonly<Record<string, string>>;

/** The plan as it may be written down or printed. */
export function withoutSecrets(plan: Plan): Plan {
  const notify = mapWebhooks(plan, () => MASK);
  return mapEnvs({ ...plan, notify }, masked);
}

function masked(env: Env): Env {
  const entries = Object.entries(env);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, isSecretName(name) ? MASK : value]),
  );
}

/** The plan with its secrets again: those of `source`, the same plan from its file, or of `env`. */
export function withSecrets(
  plan: Plan,
  source: Plan | null,
  { env, warn }: Pick<Host, 'env' | 'warn'>,
): Plan {
  const known = new Map<string, string>();
  if (source !== null) {
    mapEnvs(source, (each, where) => {
      for (const [name, value] of Object.entries(each)) known.set(`${where} ${name}`, value);
      return each;
    });
  }
  const notify = knownWebhooks(plan, source, warn);
  return mapEnvs({ ...plan, notify }, (each, where) => {
    const entries = Object.entries(each).map(([name, value]) => {
      const secret = value === MASK ? (known.get(`${where} ${name}`) ?? env[name]) : value;
      if (secret !== undefined) return [name, secret];
      throw new UserError(
        `The journal does not hold the value of ${name}, which ${where} needs.`,
        `Set ${name} in the environment, or resume with the plan file: landfast run PLAN --resume`,
      );
    });
    return Object.fromEntries(entries);
  });
}

/** Webhooks whose address the journal or the plan file knows; the others are said and left out. */
function knownWebhooks(plan: Plan, source: Plan | null, warn: Host['warn']): Plan['notify'] {
  const restored = mapWebhooks(plan, (url, index) => {
    const given = source?.notify[index]?.to;
    return url === MASK && given?.kind === 'webhook' ? given.url : url;
  });
  const known = restored.filter(({ to }) => to.kind !== 'webhook' || to.url !== MASK);
  if (known.length < restored.length) {
    const how = 'landfast run PLAN --resume';
    warn(`No webhook is sent: its address is only in the plan file (${how}).`);
  }
  return known;
}

function mapWebhooks(
  { notify }: Plan,
  change: (url: string, index: number) => string,
): Plan['notify'] {
  return notify.map(({ on, to }, index) => ({
    on,
    to: to.kind === 'webhook' ? { ...to, url: change(to.url, index) } : to,
  }));
}

function mapEnvs(plan: Plan, change: (env: Env, where: string) => Env): Plan {
  const tasks = plan.tasks.map((task): TaskSpec => {
    const servers = Object.entries(task.options.mcp).map(([name, server]): [string, McpServer] => [
      name,
      'url' in server
        ? server
        : { ...server, env: change(server.env, `server ${name} of task ${task.id}`) },
    ]);
    const options = { ...task.options, mcp: Object.fromEntries(servers) };
    return { ...task, env: change(task.env, `task ${task.id}`), options };
  });
  const gates = plan.gates.map((gate) =>
    gate.env === undefined ? gate : { ...gate, env: change(gate.env, `gate ${gate.name}`) },
  );
  return { ...plan, tasks, gates };
}

/** A list is often shown to others: what is called like a secret is not in it. */
export function withoutSecretValue(listed: {
  readonly key: string;
  readonly value: unknown;
}): unknown {
  const { key, value } = listed;
  const name = key.split('.').at(-1) ?? '';
  if (key.startsWith('defaults.env.')) return isSecretName(name) ? MASK : value;
  if (!key.startsWith('defaults.mcp.')) return value;
  const server = value as { readonly env?: Env };
  return server.env === undefined ? server : { ...server, env: masked(server.env) };
}
