/** The keys of claude-orchestra's config.json, and what each is called here. */

import * as z from 'zod';
import { branch, count, place, text } from '../formats/native/values.ts';
import { once } from '../once.ts';

/** What has no meaning here; it stands in every file that their `init` wrote. */
export const UNUSED_OF_ORCHESTRA: readonly string[] = [
  'claude_projects_dir',
  'heartbeat_interval',
  'dashboard_host',
  'dashboard_port',
  'state_file',
];

export const orchestraSchema = once(() =>
  z.strictObject({
    claude_projects_dir: place.optional(),
    worktree_dir: place.optional(),
    branch_prefix: branch.optional(),
    default_parallel: count(1, 256).optional(),
    max_parallel: count(1, 256).optional(),
    stale_threshold: count(1, 30 * 24 * 3600).optional(),
    bypass_permissions: z.array(text).optional(),
    heartbeat_interval: z.unknown().optional(),
    dashboard_host: z.unknown().optional(),
    dashboard_port: z.unknown().optional(),
    state_file: z.unknown().optional(),
  }),
);

type OrchestraConfig = z.output<ReturnType<typeof orchestraSchema>>;

/** How many agents their command started at once where nobody said, and the most it ever did. */
const DEFAULT_PARALLEL = 3;
const MAX_PARALLEL = 8;

/** The same in our words. */
export function fromOrchestra(theirs: OrchestraConfig): Readonly<Record<string, unknown>> {
  const { claude_projects_dir, worktree_dir, branch_prefix, stale_threshold } = theirs;
  const { default_parallel, max_parallel, bypass_permissions } = theirs;
  const isLimited = default_parallel !== undefined || max_parallel !== undefined;
  const workers = Math.min(default_parallel ?? DEFAULT_PARALLEL, max_parallel ?? MAX_PARALLEL);
  const ours = {
    claude_projects_dir,
    worktree_dir,
    branch_prefix,
    stale_after: stale_threshold,
    max_parallel,
    limits: isLimited ? { workers } : undefined,
    tools: bypass_permissions && { allowed_tools: bypass_permissions },
  };
  return Object.fromEntries(Object.entries(ours).filter(([, value]) => value !== undefined));
}
