// Runs a plan of two shell tasks in a fresh repository. In an empty folder:
//   npm install landfast && node small.mjs

import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { definePlan, openRepository } from 'landfast';

const dir = mkdtempSync(join(tmpdir(), 'landfast-small-'));
const git = (...args) => execFileSync('git', args, { cwd: dir, encoding: 'utf8' });
git('init', '--quiet', '--initial-branch=main');
git('config', 'user.name', 'Small Example');
git('config', 'user.email', 'small@example.com');
git('commit', '--quiet', '--allow-empty', '--message=Begin');

const plan = definePlan({
  landfast: 1,
  defaults: { agent: 'shell' },
  gates: [{ name: 'no-tabs', run: '! grep -rn "\t" --include="*.txt" .' }],
  tasks: [
    { id: 'hello', prompt: 'echo hello > hello.txt' },
    {
      id: 'world',
      prompt: 'cat hello.txt > world.txt && echo world >> world.txt',
      needs: ['hello'],
    },
  ],
});
const repo = await openRepository(dir);
const run = await repo.start(plan, { workers: 2 });
for await (const { event } of run.events()) {
  if (event.type === 'merge.landed') console.log(`${event.task} landed`);
}
const { outcome, published } = await run.result();
console.log(
  `${outcome}: ${published?.target} of ${dir} has ${git('ls-files').split('\n').join(' ')}`,
);
