/** Gives a workspace to a pool, in a process of its own: what it may do depends on who runs it. */

import { thisClaimant } from '../../src/cli/pooling.ts';
import { removeWorktree } from '../../src/git/worktree.ts';
import { Pool } from '../../src/workspace/pool.ts';

const [commonDir = '', dir = '', commit = '', since = '', how = 'put'] = process.argv.slice(2);
const { signal } = new AbortController();
const limits = { most: 2, later: 2, small: true, disk: null, keepFiles: [] };
const folder = `${dir}.pool`;
const pool = new Pool({ commonDir, folder, run: 'r1', ...limits, me: thisClaimant() });
pool.begin(dir, Number(since));
if (how === 'put') await pool.put(dir, { commit, bare: false, flagged: null }, signal);
else await removeWorktree(commonDir, dir, signal);
console.log(pool.idle().length);
