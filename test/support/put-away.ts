/** Gives a workspace to a pool, in a process of its own: what it may do depends on who runs it. */

import { removeWorktree } from '../../src/git/worktree.ts';
import { thisClaimOwner } from '../../src/workspace/pool/claim-owner.ts';
import { Pool } from '../../src/workspace/pool/pool.ts';

const [commonDir = '', dir = '', commit = '', since = '', how = 'put'] = process.argv.slice(2);
const { signal } = new AbortController();
const limits = { most: 2, later: 2, small: true, disk: null, keepFiles: [] };
const folder = `${dir}.pool`;
const pool = new Pool({ commonDir, folder, run: 'r1', ...limits, me: thisClaimOwner() });
pool.begin(dir, Number(since));
if (how === 'put') await pool.put(dir, { commit, bare: false, flagged: null }, signal);
else await removeWorktree(commonDir, dir, signal);
console.log(pool.idle().length);
