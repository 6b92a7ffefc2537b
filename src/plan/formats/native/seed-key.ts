/** A seed is found by its key: a plan that wants one has to say what its set-up depends on. */

import type { Plan } from '../../../model/plan.ts';
import type { Config } from '../../config/schema.ts';
import type { ProblemLog } from '../../problem.ts';
import { entryOf, type YamlNode } from '../../yaml-source.ts';

const REMEDY = 'add setup: [npm ci] and setup_key: [package-lock.json], or what your project has';

/** Writes to the log where a plan wants a seed of nothing, or of nobody knows what. */
export function checkSeed(root: YamlNode, config: Config, log: ProblemLog): void {
  const workspace = entryOf(root, 'workspace')?.value;
  const seed = entryOf(workspace, 'seed');
  if (seed === undefined || isEmpty(seed.value)) return;
  const { setup = [], setup_key: key = [] } = config.workspace ?? {};
  const lacks = (name: string, configured: readonly string[]): boolean => {
    const own = entryOf(workspace, name);
    return own === undefined ? configured.length === 0 : isEmpty(own.value);
  };
  if (!lacks('setup', setup) && !lacks('setup_key', key)) return;
  log.error(seed.keyAt, SEED_NEEDS, REMEDY);
}

/** What a plan that wants a seed must have; also said of one to which a configuration adds it. */
export const SEED_NEEDS = 'workspace.seed needs workspace.setup and workspace.setup_key';

/** Whether a plan wants a seed that it cannot have. */
export function lacksSeedKey({ workspace }: Plan): boolean {
  const { seed = [], setup, setupKey } = workspace;
  return seed.length > 0 && (setup.length === 0 || setupKey.length === 0);
}

function isEmpty(node: YamlNode): boolean {
  return node.kind === 'list' && node.items.length === 0;
}
