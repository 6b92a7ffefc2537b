import { expect, test } from 'vitest';
import { JournalBuilder } from '../../test/support/journal-builder.ts';
import { wavesJson, wavesMarkdown } from './waves.ts';

const INFO = { run: 'r1', subject: 'TS-0042' };

/** Wave 1 has one failure, so that wave 2 never begins. */
function broken() {
  const run = new JournalBuilder([
    { id: 'dependencies', agent: 'shell' },
    { id: 'task-001', wave: 1, role: 'python-experts:django-expert', needs: ['dependencies'] },
    { id: 'task-002', wave: 1, needs: ['dependencies'] },
    { id: 'task-003', wave: 2, needs: ['task-001', 'task-002'] },
  ]);
  run.start('dependencies').finish('dependencies').land('dependencies');
  run.start('task-001').start('task-002').finish('task-002').land('task-002');
  const failure = { kind: 'permanent', message: 'Tests are ```red```.' } as const;
  run.add({ type: 'attempt.failed', task: 'task-001', attempt: 1, failure, exitCode: 1 });
  run.add({ type: 'task.failed', task: 'task-001', failure });
  const skipped = {
    kind: 'dependency-failed',
    message: 'task-001 failed',
    dependency: 'task-001',
  } as const;
  return run.add({ type: 'task.failed', task: 'task-003', failure: skipped }).end('failed').state();
}

test('the report has a row for each wave, and the reason of each failure', () => {
  expect(wavesMarkdown(broken(), INFO)).toMatchInlineSnapshot(`
    "# Execution report: TS-0042

    - **Started**: 2026-07-01T12:00:00.000Z
    - **Tech Spec**: TS-0042
    - **Mode**: parallel
    - **Run**: r1

    | Wave | Tasks | Status | Duration |
    | --- | --- | --- | --- |
    | - | dependencies | COMPLETED | 1.0s |
    | 1 | task-001, task-002 | FAILED | 6.0s |
    | 2 | task-003 | PENDING | 0.0s |

    ## Wave 1

    ### task-001: FAILED

    - **Agent**: python-experts:django-expert
    - **Duration**: 6.0s

    \`\`\`\`
    Tests are \`\`\`red\`\`\`.
    \`\`\`\`

    **Result**: 2 completed, 1 failed, 1 not started

    **Total duration**: 15.0s

    **Completed at**: 2026-07-01T12:00:15.000Z
    "
  `);
});

test('the same as JSON', () => {
  const { waves, ...rest } = wavesJson(broken(), INFO);

  expect(rest).toEqual({
    tech_spec_id: 'TS-0042',
    name: 'accounts',
    run: 'r1',
    mode: 'parallel',
    status: 'failed',
    started_at: '2026-07-01T12:00:00.000Z',
    completed_at: expect.stringMatching(/^2026-07-01T12:00:/),
    duration_sec: expect.any(Number),
    cost_usd: 0,
    tasks_total: 4,
    tasks_completed: 2,
    tasks_failed: 1,
  });
  expect(
    waves.map(({ number, status, tasks }) => [number, status, tasks.map((t) => [t.id, t.status])]),
  ).toEqual([
    [null, 'completed', [['dependencies', 'completed']]],
    [
      1,
      'failed',
      [
        ['task-001', 'failed'],
        ['task-002', 'completed'],
      ],
    ],
    [2, 'pending', [['task-003', 'skipped']]],
  ]);
});
