/** Lays a seed into a workspace, as a run would, or stores one first: the part of seeds.ts to time. */

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { thisClaimOwner } from '../src/workspace/pool/claim-owner.ts';
import { Seeds } from '../src/workspace/seeds/seeds.ts';

const [repo = '', by = 'auto', dir = '', task = 'lay'] = process.argv.slice(2);
const { signal } = new AbortController();
const seeds = new Seeds({
  folder: join(repo, '.git', 'landfast', 'seeds'),
  temp: join(`${repo}.worktrees`, 'landfast.pool'),
  patterns: ['node_modules'],
  by: by === 'link' ? 'link' : 'auto',
  most: 4,
  disk: null,
  me: thisClaimOwner(),
});

if (task === 'store') {
  execFileSync('npm', ['ci', '--offline', '--silent'], { cwd: dir });
  const setup = {
    key: 'bench',
    made: ['node_modules/'],
    at: dir,
    keyed: true,
    loose: false,
    files: 0,
    doneAt: 0,
  };
  const why = await seeds.store(dir, setup, signal);
  if (why !== null) throw new Error(why);
} else if (!(await seeds.copyInto(dir, 'bench', signal))) throw new Error('there is no seed');
