/** A task of a directory: what the manifest says of it, and its file where it has one. */

import type { ManifestTask } from './manifest.ts';
import type { TaskFile } from './task-file.ts';

export interface CpoTask {
  readonly id: string;
  readonly wave: number;
  readonly entry: ManifestTask;
  readonly file: TaskFile | null;
}
