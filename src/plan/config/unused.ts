/** Keys that are known and have no effect in this version: that is said, once a file. */

import type { ProblemLog } from '../problem.ts';
import { nodeAt, placeOf, type YamlNode } from '../yaml-source.ts';

/**
 * What is waiting for the work it belongs to: plans made by a model, reviews, servers, sessions.
 * `project.key_files` is too, but `landfast init` writes it, with a comment that says so.
 */
export const UNUSED_HERE: readonly string[] = [
  'claude_projects_dir',
  'workflow.stop_after_generate',
  'workflow.stop_after_run',
  'review',
  'mcps',
];

/** One warning for all of these keys that the file has, at the first of them. */
export function reportUnused(root: YamlNode, keys: readonly string[], log: ProblemLog): void {
  const found = keys.filter((key) => nodeAt(root, key.split('.')) !== undefined);
  const [first] = found
    .map((key) => placeOf(root, key.split('.'), 'key'))
    .sort((a, b) => a.line - b.line || a.column - b.column);
  if (first === undefined) return;
  const message = `no effect in this version: ${found.join(', ')}`;
  log.warning(first, message, 'remove what you do not need elsewhere');
}
