/**
 * The schema of configuration files. Sections that a plan has too share the plan's schema; those of
 * claude-code-orchestrator keep their names and meaning.
 */

import * as z from 'zod';
import { sharedSections, toolsSchema } from '../formats/native/schema.ts';
import { branch, choice, count, duration, flag, place, text } from '../formats/native/values.ts';

const MOST_SECONDS = 24 * 24 * 3600;
const seconds = count(1, MOST_SECONDS);

const gitSchema = z.strictObject({
  provider: choice(['auto', 'github', 'bitbucket']).optional(),
  base_branch: branch.optional(),
  destination_branch: branch.optional(),
  repo_slug: text.optional(),
  owner: text.optional(),
  repo: text.optional(),
});

const projectSchema = z.strictObject({
  key_files: z.array(text).optional(),
  test_command: text.optional(),
  test_instructions: text.optional(),
  agent_instructions: text.optional(),
});

const workflowSchema = z.strictObject({
  mode: choice(['review', 'yolo']).optional(),
  stop_after_generate: flag.optional(),
  stop_after_run: flag.optional(),
  auto_approve: flag.optional(),
  auto_pr: flag.optional(),
});

const agentSchema = z.strictObject({
  inactivity_timeout: seconds.optional(),
  max_runtime: seconds.optional(),
  max_retries: count(0, 100).optional(),
  use_resume: flag.optional(),
  retry_delay: count(0, MOST_SECONDS).optional(),
});

const reviewSchema = z.strictObject({
  automerge: flag.optional(),
  test_before_merge: flag.optional(),
  require_all_tests_pass: flag.optional(),
  tools: toolsSchema.optional(),
});

const mcpsSchema = z.strictObject({
  enabled: z.array(text).optional(),
  custom: z
    .array(
      z.strictObject({
        name: text,
        package: text.optional(),
        auth_type: choice(['env_vars', 'oauth_browser', 'pre_configured']).optional(),
        env_vars: z.array(text).optional(),
        setup_instructions: text.optional(),
      }),
    )
    .optional(),
});

export const configSchema = z.strictObject({
  ...sharedSections,
  git: gitSchema.optional(),
  worktree_dir: place.optional(),
  branch_prefix: branch.optional(),
  /** The most that `spawn --parallel` may ask for. */
  max_parallel: count(1, 256).optional(),
  stale_after: duration.optional(),
  claude_projects_dir: place.optional(),
  project: projectSchema.optional(),
  tools: toolsSchema.optional(),
  agent: agentSchema.optional(),
  workflow: workflowSchema.optional(),
  review: reviewSchema.optional(),
  mcps: mcpsSchema.optional(),
});

export type Config = z.output<typeof configSchema>;
