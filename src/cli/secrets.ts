/**
 * Secrets that a plan holds itself, in the `env` of a task or a server. The run needs them, the
 * journal does not: they are stored masked, and a run that goes on gets them again from the plan
 * file or from the environment.
 */

import { UserError } from '../base/errors.ts';
import type { McpServer, Plan, TaskSpec } from '../model/plan.ts';
import { isSecretName } from '../worker/environment.ts';

const MASK = '[MASKED]';

type Env = Readonly<Record<string, string>>;

/** The plan as it may be written down or printed. */
export function withoutSecrets(plan: Plan): Plan {
  return mapEnvs(plan, (env) => {
    const entries = Object.entries(env).map(([name, value]) => [
      name,
      isSecretName(name) ? MASK : value,
    ]);
    return Object.fromEntries(entries);
  });
}

/** The plan with its secrets again: those of `source`, the same plan from its file, or of `env`. */
export function withSecrets(
  plan: Plan,
  source: Plan | null,
  env: Readonly<Record<string, string | undefined>>,
): Plan {
  const known = new Map<string, string>();
  if (source !== null) {
    mapEnvs(source, (each, where) => {
      for (const [name, value] of Object.entries(each)) known.set(`${where} ${name}`, value);
      return each;
    });
  }
  return mapEnvs(plan, (each, where) => {
    const entries = Object.entries(each).map(([name, value]) => {
      const secret = value === MASK ? (known.get(`${where} ${name}`) ?? env[name]) : value;
      if (secret !== undefined) return [name, secret];
      throw new UserError(
        `The journal does not hold the value of ${name}, which ${where} needs.`,
        `Set ${name} in the environment, or go on with the plan file: landfast run PLAN --resume`,
      );
    });
    return Object.fromEntries(entries);
  });
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
  return { ...plan, tasks };
}
