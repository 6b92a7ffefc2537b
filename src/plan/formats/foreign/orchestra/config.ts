/** claude-orchestra's config.json: its keys, and what each is called here. */

import * as z from 'zod';
import { type ConfigDialect, checkValues, reportUnused } from '../../../config/read.ts';
import { section } from '../../native/schema.ts';
import { branch, count, place, text } from '../../native/values.ts';

/** Without a meaning here, but in every file that claude-orchestra's `init` writes. */
const UNUSED: readonly string[] = [
  'claude_projects_dir',
  'heartbeat_interval',
  'dashboard_host',
  'dashboard_port',
  'state_file',
];

const orchestraSchema = section({
  claude_projects_dir: place,
  worktree_dir: place,
  branch_prefix: branch,
  default_parallel: count(1, 256),
  max_parallel: count(1, 256),
  stale_threshold: count(1, 30 * 24 * 3600),
  bypass_permissions: z.array(text),
  heartbeat_interval: z.unknown(),
  dashboard_host: z.unknown(),
  dashboard_port: z.unknown(),
  state_file: z.unknown(),
});

type OrchestraConfig = z.output<typeof orchestraSchema>;

/** What its own `init` writes, but for a dashboard that listens on this machine only. */
const FIRST = {
  claude_projects_dir: '~/.claude/projects',
  worktree_dir: '.worktrees',
  branch_prefix: 'orchestra',
  default_parallel: 3,
  max_parallel: 8,
  heartbeat_interval: 60,
  stale_threshold: 300,
  bypass_permissions: [
    ...['git', 'npm', 'npx'].map((program) => `Bash(${program}:*)`),
    ...['Read', 'Glob', 'Grep', 'Write', 'Edit'].map((tool) => `${tool}(*)`),
  ],
  dashboard_host: '127.0.0.1',
  dashboard_port: 8888,
  state_file: '~/.config/claude-orchestra/state.json',
};

function translate(theirs: OrchestraConfig): Readonly<Record<string, unknown>> {
  const { default_parallel, max_parallel, bypass_permissions, stale_threshold } = theirs;
  const { claude_projects_dir, worktree_dir, branch_prefix } = theirs;
  const isLimited = default_parallel !== undefined || max_parallel !== undefined;
  const workers = Math.min(
    default_parallel ?? FIRST.default_parallel,
    max_parallel ?? FIRST.max_parallel,
  );
  const ours = {
    ...{ claude_projects_dir, worktree_dir, branch_prefix, stale_after: stale_threshold },
    max_parallel,
    limits: isLimited ? { workers } : undefined,
    tools: bypass_permissions && { allowed_tools: bypass_permissions },
  };
  return Object.fromEntries(Object.entries(ours).filter(([, value]) => value !== undefined));
}

const KEYS: Readonly<Record<string, string>> = {
  claude_projects_dir: 'claude_projects_dir',
  worktree_dir: 'worktree_dir',
  branch_prefix: 'branch_prefix',
  'limits.workers': 'default_parallel',
  'tools.allowed_tools': 'bypass_permissions',
};

export const claudeOrchestra: ConfigDialect = {
  projectFile: '.orchestra/config.json',
  userFile: 'claude-orchestra/config.json',
  yaml: '1.2', // JSON is YAML.
  isForeign: true,
  read: (file, log) => {
    const values = checkValues(orchestraSchema, { ...file, isForeign: true }, log);
    if (values === null) return null;
    reportUnused(file.root, UNUSED, log);
    return translate(orchestraSchema.parse(values));
  },
  keyFor: (key) => KEYS[key] ?? null,
  scaffold: {
    name: 'orchestra',
    values: FIRST,
    worktrees: FIRST.worktree_dir,
    stateFile: FIRST.state_file,
  },
};
