/** The problems of a directory: each file has its own, and all of them are shown at once. */

import { type Problem, ProblemLog } from '../../problem.ts';

export class DirectoryLogs {
  readonly #folder: string;
  readonly #logs = new Map<string, ProblemLog>();

  /** `manifest` is the manifest's path as the user sees it. */
  constructor(manifest: string) {
    this.#folder = manifest.replace(/[^\\/]*$/, '');
    this.#logs.set('manifest.json', new ProblemLog(manifest));
  }

  /** The problems of a file, named relative to the directory. */
  of(path: string): ProblemLog {
    const known = this.#logs.get(path);
    if (known !== undefined) return known;
    const fresh = new ProblemLog(`${this.#folder}${path}`);
    this.#logs.set(path, fresh);
    return fresh;
  }

  /** How a file is called in a message about another one. */
  shown(path: string): string {
    return `${this.#folder}${path}`;
  }

  get failed(): boolean {
    return [...this.#logs.values()].some(({ failed }) => failed);
  }

  /** File by file, the manifest first. */
  all(): readonly Problem[] {
    return [...this.#logs.values()].flatMap((log) => log.sorted());
  }
}
