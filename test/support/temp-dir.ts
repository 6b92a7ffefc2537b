/** A folder of its own for one test, removed with everything in it when the test's scope ends. */

import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A temporary folder; `await using` removes it. */
export interface TempDir extends AsyncDisposable {
  readonly path: string;
  /** Writes files below it, making folders as needed. */
  write(files: Readonly<Record<string, string>>): Promise<void>;
}

/** Makes a temporary folder. */
export async function tempDir(): Promise<TempDir> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'landfast-test-')));
  return {
    path,
    write: (files) => writeFiles(path, files),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 20 }),
  };
}

/** Writes files below a folder, making folders as needed. */
export async function writeFiles(
  dir: string,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const file = join(dir, name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}
