/** A test body in the runtime of a run: git processes stay open for its repository. */

import { Runtime } from '../../src/base/runtime.ts';
import { type TempRepo, tempRepo } from './temp-repo.ts';

export function withRepository(
  body: (repo: TempRepo, runtime: Runtime) => Promise<void>,
): () => Promise<void> {
  return async () => {
    await using repo = await tempRepo();
    await using runtime = new Runtime({ env: process.env, run: 'r', repository: repo });
    await runtime.enter(() => body(repo, runtime));
  };
}
