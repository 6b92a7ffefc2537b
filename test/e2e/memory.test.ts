/** What a run does when the machine has too little memory for two agents. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { liveRun } from '../support/live-run.ts';
import { tempRepo } from '../support/temp-repo.ts';

const agent = (name: string) => ({
  agent: 'command',
  command: ['sh', '-c', `echo 1 > ${name}.txt; while test ! -e ../../../go; do sleep 0.05; done`],
  prompt: 'x',
});

test.runIf(process.platform === 'linux')(
  'agents run one after the other where the memory suffices for none, and status says why',
  async () => {
    await using repo = await tempRepo();
    const more = { more: { limits: { workers: 2, memory_per_attempt: '9000TB' } } };
    const { engine, cli } = await liveRun(repo, { a: agent('a'), b: agent('b') }, more);
    await engine.untilFact('attempt.started');
    const status = JSON.parse((await cli('status', '--json')).stdout);
    expect(status.held).toMatchObject({ of: 'memory' });
    expect(status.tasks[1].detail).toContain('an attempt takes 9000 TB');
    expect((await cli('status')).stdout).toContain('The run waits for memory');
    writeFileSync(join(repo.outside, 'go'), '');
    expect(await engine.ended).toMatchObject({ code: 0 });
    const facts = engine.entries.map(({ event }) => event.type);
    const starts = facts.flatMap((type, at) => (type === 'attempt.started' ? [at] : []));
    expect(starts).toHaveLength(2);
    expect(facts.indexOf('attempt.finished')).toBeLessThan(starts[1] ?? 0);
  },
);
