/** Gives a workspace to a pool, in a process of its own: what it may do depends on who runs it. */

import { thisClaimant } from '../../src/cli/pooling.ts';
import { removeWorktree } from '../../src/git/worktree.ts';
import { Pool } from '../../src/workspace/pool.ts';

const [commonDir = '', folder = '', dir = '', commit = '', how = 'put'] = process.argv.slice(2);
const { signal } = new AbortController();
const limits = { most: 2, later: 2, small: true, disk: null, keepFiles: [] };
const pool = new Pool({ commonDir, folder, ...limits, me: thisClaimant() });
if (how === 'put') await pool.put(dir, { commit, pristine: false }, signal);
else await removeWorktree(commonDir, dir, signal);
console.log(pool.idle().length);
