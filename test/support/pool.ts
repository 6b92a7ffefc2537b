/** A pool of workspaces beside a test's repository. */

import { join } from 'node:path';
import { thisClaimant } from '../../src/cli/pooling.ts';
import { Pool } from '../../src/workspace/pool.ts';
import type { PoolPlace } from '../../src/workspace/pool-place.ts';
import type { TempRepo } from './temp-repo.ts';

/** A pool with as many slots, which are dropped when a run ends unless it says otherwise. */
export function testPool(repo: TempRepo, most: number, more: Partial<PoolPlace> = {}): Pool {
  return new Pool({
    commonDir: repo.commonDir,
    folder: join(`${repo.dir}.worktrees`, '.pool'),
    most,
    later: most,
    small: false,
    disk: null,
    keepFiles: [],
    me: thisClaimant(),
    ...more,
  });
}
