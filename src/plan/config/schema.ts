/**
 * The schema of configuration files. Sections that a plan has too share the plan's schema; those of
 * claude-code-orchestrator keep their names and meaning.
 */

import * as z from 'zod';
import { section, sharedSections, toolsSchema } from '../formats/native/schema.ts';
import { branch, choice, count, duration, flag, place, text } from '../formats/native/values.ts';

const MOST_SECONDS = 24 * 24 * 3600;
const seconds = count(1, MOST_SECONDS);

const gitSchema = section({
  provider: choice(['auto', 'github', 'bitbucket']),
  base_branch: branch,
  destination_branch: branch,
  repo_slug: text,
  owner: text,
  repo: text,
});

const projectSchema = section({
  key_files: z.array(text),
  test_command: text,
  test_instructions: text,
  agent_instructions: text,
});

const workflowSchema = section({
  mode: choice(['review', 'yolo']),
  stop_after_generate: flag,
  stop_after_run: flag,
  auto_approve: flag,
  auto_pr: flag,
});

const agentSchema = section({
  inactivity_timeout: seconds,
  max_runtime: seconds,
  max_retries: count(0, 100),
  use_resume: flag,
  retry_delay: count(0, MOST_SECONDS),
});

const reviewSchema = section({
  automerge: flag,
  test_before_merge: flag,
  require_all_tests_pass: flag,
  tools: toolsSchema,
});

const serverSchema = z.strictObject({
  name: text,
  package: text.optional(),
  auth_type: choice(['env_vars', 'oauth_browser', 'pre_configured']).optional(),
  env_vars: z.array(text).optional(),
  setup_instructions: text.optional(),
});

export const configSchema = section({
  ...sharedSections,
  git: gitSchema,
  worktree_dir: place,
  branch_prefix: branch,
  /** The most that `spawn --parallel` may ask for. */
  max_parallel: count(1, 256),
  stale_after: duration,
  claude_projects_dir: place,
  project: projectSchema,
  tools: toolsSchema,
  agent: agentSchema,
  workflow: workflowSchema,
  review: reviewSchema,
  mcps: section({ enabled: z.array(text), custom: z.array(serverSchema) }),
});

export type Config = z.output<typeof configSchema>;
