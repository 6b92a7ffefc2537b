/**
 * The real Claude Code CLI inside of a fence, against a scripted Messages API: it works as it does
 * outside, commits included, and what its tools try beyond the bounds fails.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { claude } from '../../src/agents/claude.ts';
import { addWorktree } from '../../src/git/worktree.ts';
import { fenceSupport, makeFence } from '../../src/process/fence.ts';
import { run } from '../../src/process/run.ts';
import { cachedCli } from '../support/agents/cli-cache.ts';
import { MESSAGES } from '../support/agents/dialects.ts';
import { CLAUDE } from '../support/agents/real-agents.ts';
import { say, startScriptedApi } from '../support/agents/scripted-api.ts';
import { jobOf } from '../support/job.ts';
import { tempDir } from '../support/temp-dir.ts';
import { tempRepo } from '../support/temp-repo.ts';

const support = await fenceSupport(AbortSignal.timeout(20_000));
const CLI = support.kind === 'missing' ? null : await cachedCli(CLAUDE.cli);

test.skipIf(support.kind === 'missing' && !process.env.CI)(
  'a fenced agent edits and commits in its workspace, and cannot touch the checkout',
  async () => {
    await using repo = await tempRepo();
    await using temp = await tempDir();
    const workspace = join(repo.outside, 'worktrees', 'a');
    const commit = await repo.git('rev-parse', 'HEAD');
    const place = { path: workspace, branch: 'landfast/r1.a', commit };
    await addWorktree(repo.commonDir, place, repo.signal);
    const trespass = `echo x > '${repo.dir}/trespass' || echo refused`;
    await using api = await startScriptedApi(MESSAGES, {
      work: [
        CLAUDE.write('a.txt', 'one\n'),
        CLAUDE.shell(trespass),
        CLAUDE.shell('git add -A && git commit -qm "By the agent"'),
        say('All done.'),
      ],
    });
    const fence = makeFence({
      workspace,
      commonDir: repo.commonDir,
      branchRef: `refs/heads/${place.branch}`,
      writable: [join(repo.outside, '.claude')],
      network: 'on',
    });
    const prompt = 'Work. [[scenario:work]]';
    const permissions = 'bypassPermissions';
    const job = jobOf({ prompt, executable: CLI, cwd: workspace, permissions });
    const command = claude.command(job);
    const parser = claude.parser(job);
    const events: unknown[] = [];
    const exit = await run(
      {
        ...fence(command, temp.path),
        cwd: workspace,
        env: {
          ...(await CLAUDE.env(repo.outside, api.url)),
          ...command.env,
          TMPDIR: temp.path,
        },
        stdin: command.stdin,
        graceMs: 2_000,
        mark: null,
        onLine: (line, from) => {
          if (from === 'stdout') events.push(...parser.stdout(line));
        },
      },
      repo.signal,
    );
    expect(exit).toEqual({ kind: 'exited', code: 0 });
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'tool.end', output: expect.stringContaining('refused') }),
    );
    expect(existsSync(join(repo.dir, 'trespass'))).toBe(false);
    expect(await repo.git('log', '--format=%s', place.branch)).toBe('By the agent\nChange');
    expect(await repo.git('show', `${place.branch}:a.txt`)).toBe('one');
  },
);
