/**
 * A repository that is renamed or moved, together with its workspaces, after its engine was killed:
 * `resume` goes on in the new place, and what an attempt had written before is still there.
 */

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast, start } from '../support/landfast.ts';
import { nativePlan } from '../support/native-plan.ts';
import { standIns } from '../support/stand-ins.ts';
import { runGit, type TempRepo, tempRepo } from '../support/temp-repo.ts';

const PLAN = nativePlan({
  gates: [{ name: 'has-readme', run: 'test -e README.md' }],
  tasks: {
    one: 'echo 1 > one.txt',
    two: { needs: ['one'], agent: 'claude', prompt: 'Do it.' },
    three: { needs: ['two'], prompt: 'echo 3 > three.txt' },
  },
});

/** Writes a file, says so and waits to be killed; a resumed session adds to that file. */
const AGENT = `echo "$\{resumed:+again}" >> two.txt
touch "$OUT/up"
hello
while test -z "$resumed" -a -e "$OUT/up"; do sleep 0.05; done
result '"is_error":false'`;

/** Kills an engine while the agent of the second task is at work. */
async function killed(repo: TempRepo, env: Readonly<Record<string, string>>): Promise<void> {
  writeFileSync(join(repo.outside, 'plan.yaml'), PLAN);
  const engine = start(['run', '../plan.yaml', '--events'], { cwd: repo.dir, env });
  await engine.untilFact('attempt.session', 'two');
  engine.child.kill('SIGKILL');
  await engine.ended;
}

/** Moves the repository and its workspaces. */
function move({ dir }: TempRepo, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  renameSync(dir, to);
  renameSync(`${dir}.worktrees`, `${to}.worktrees`);
}

test.each(['renamed', 'far/away/repo'])(
  'resume goes on in a repository that is now at %s, with the work of the attempt before',
  async (place) => {
    await using repo = await tempRepo();
    const env = standIns(repo, { claude: AGENT });
    await killed(repo, env);
    const dir = join(repo.outside, place);
    move(repo, dir);
    const resumed = await landfast(['resume'], { cwd: dir, env });
    expect(resumed).toMatchObject({ code: 0, stderr: expect.not.stringContaining('tidied') });
    const git = (...args: readonly string[]) => runGit(dir, args);
    const files = 'README.md\none.txt\nthree.txt\ntwo.txt';
    expect(await git('ls-tree', '--name-only', 'main')).toBe(files);
    expect(readFileSync(join(dir, 'two.txt'), 'utf8')).toBe('\nagain\n');
    expect(await git('status', '--porcelain')).toBe('');
    expect((await git('worktree', 'list')).split('\n')).toHaveLength(1);
    expect(await git('branch', '--format=%(refname:short)')).toBe('main');
    expect(existsSync(`${dir}.worktrees`)).toBe(false);
    expect(existsSync(`${repo.dir}.worktrees`)).toBe(false);
  },
);
