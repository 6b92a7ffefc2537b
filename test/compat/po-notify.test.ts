/** `on_complete` and `on_failure` of a manifest, from its text to what a receiver gets. */

import { expect, test } from 'vitest';
import type { Entry } from '../../src/model/event.ts';
import { Notifier } from '../../src/notify/notifier.ts';
import { parsePlan } from '../../src/plan/parse.ts';
import { receiver } from '../notify/receiver.ts';
import { planInput } from '../support/plan-input.ts';
import { manifest, poProject } from './po-project.ts';

const TASKS = `
  - { id: good, agent: good, read_only: false }
  - { id: bad, agent: bad, read_only: true, max_retries: 0 }
  - { id: after, agent: good, read_only: true, depends_on: [bad] }
`;
const HOOKS = `on_complete: { webhook_url: "https://h.example/c" }
on_failure: { webhook_url: "https://h.example/f" }
`;

test('PO-80: one failure is two messages, complete and then failure, with the same counts', async () => {
  await using project = await poProject({
    plan: manifest(TASKS),
    agents: { good: 'echo 1 > 1.txt', bad: 'exit 1' },
  });
  const { stdout, code } = await project.run('--events');
  const entries = stdout.split('\n').slice(0, -1);
  const { plan } = parsePlan(planInput('plan.md', manifest(TASKS, HOOKS)), null);
  await using hook = await receiver();
  const notifier = new Notifier({
    run: 'r1',
    notify: plan?.notify ?? [],
    before: null,
    mask: (text) => text,
    machine: { dir: project.dir, env: {}, platform: process.platform },
    network: hook.network(['8.8.8.8']),
    bell: null,
    warn: () => undefined,
  });

  notifier.recorded(entries.map((line) => JSON.parse(line) as Entry));
  await notifier.settle(new AbortController().signal);

  expect(code).toBe(1);
  const counts = { manifest: 'compat', total: 3, succeeded: 1, failed: 1, skipped: 1 };
  const got = hook.posts.map(({ path, body }) => ({ path, ...JSON.parse(body) }));
  expect(got).toEqual([
    expect.objectContaining({ path: '/c', event: 'complete', ...counts }),
    expect.objectContaining({ path: '/f', event: 'failure', ...counts }),
  ]);
  expect(got[0].duration_sec).toBe(got[1].duration_sec);
});
