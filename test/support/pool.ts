/** A pool of workspaces beside a test's repository. */

import { join } from 'node:path';
import { thisClaimOwner } from '../../src/workspace/pool/claim-owner.ts';
import { Pool, type PoolPlace } from '../../src/workspace/pool/pool.ts';
import type { TempRepo } from './temp-repo.ts';

/** A pool for as many worktrees, which go when the run ends unless `more` says otherwise. */
export function testPool(repo: TempRepo, most: number, more: Partial<PoolPlace> = {}): Pool {
  return new Pool({
    commonDir: repo.commonDir,
    folder: join(`${repo.dir}.worktrees`, 'landfast.pool'),
    run: 'r1',
    most,
    later: most,
    small: false,
    disk: null,
    keepFiles: [],
    me: thisClaimOwner(),
    ...more,
  });
}
