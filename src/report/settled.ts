/** Files that did not merge by themselves, and what made them whole without asking anybody. */

import type { SettledFile } from '../model/conflict.ts';
import type { TaskId } from '../model/plan.ts';
import type { RunState } from '../model/state.ts';

/** Each file with who knew: `a.ts resolved as in run r1, b.lock made anew by npm install`. */
export function settledText(files: readonly SettledFile[]): string {
  return files.map((file) => `${file.path} ${howSettled(file)}`).join(', ');
}

/** What made a file whole. */
export function howSettled({ how, by }: SettledFile): string {
  return how === 'memory' ? `resolved as in run ${by}` : `made anew by ${by}`;
}

/** The tasks whose newest candidate holds such files. */
export function settledTasks(
  state: RunState,
): readonly { readonly task: TaskId; readonly files: readonly SettledFile[] }[] {
  return [...state.tasks.values()]
    .filter(({ settled }) => settled.length > 0)
    .map(({ spec, settled }) => ({ task: spec.id, files: settled }));
}
