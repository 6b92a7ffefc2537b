/**
 * Running parallel-orchestra manifests: reports and logs, as other programs read them. No test has
 * a repository, so they may run together.
 */

import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { manifest, poFolder } from './po-project.ts';

// Keep, and extend: there may be more keys than these.
test.concurrent('PO-68: a report has the known keys and words; its folders are made', async () => {
  const tasks = `
  - { id: good, agent: talker, read_only: true }
  - { id: limited, agent: limited, read_only: true, max_retries: 0 }
  - { id: bad, agent: breaker, read_only: true }
  - { id: late, agent: talker, read_only: true, depends_on: [bad] }
`;
  await using place = await poFolder(manifest(tasks), {
    talker: 'echo done',
    limited: 'echo "rate limit exceeded" >&2; exit 1',
    breaker: 'exit 2',
  });

  const ended = await place.run('--report', 'deep/er/report.json');

  const text = await readFile(join(place.dir, 'deep/er/report.json'), 'utf8');
  const report = JSON.parse(text);
  expect(ended.code).toBe(1);
  expect(text).toMatch(/^\{\n {2}"manifest": "compat",\n/);
  expect(text).toMatch(/\n\}\n$/);
  expect(keysOf(report).filter((key) => key.startsWith('_'))).toEqual([]);
  expect(report).toMatchObject({ total: 4, succeeded: 1, failed: 2, skipped: 1 });
  for (const time of [report.started_at, report.finished_at]) {
    expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/);
  }
  for (const seconds of [report, ...report.tasks].map((part) => part.duration_sec)) {
    expect(seconds).toBe(Math.round(seconds * 10) / 10);
  }
  const words = ['id', 'agent', 'status', 'retry_count', 'failure_category'];
  expect(report.tasks.slice(0, 3).map((task: object) => pick(task, words))).toEqual([
    ['good', 'talker', 'succeeded', 0, 'none'],
    ['limited', 'limited', 'failed', 0, 'rate_limited'],
    ['bad', 'breaker', 'failed', 0, 'permanent'],
  ]);
  expect(report.tasks[3]).toMatchObject({ id: 'late', status: 'skipped', retry_count: 0 });
});

const KEY = 'k3y';
const SECRETS = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_API_KEY_HELPER: '/opt/print-the-key' };

// Keep.
test.concurrent('PO-71: the API key is masked in logs that only the user can read', async () => {
  const plan = manifest('  - { id: a, agent: leaker, read_only: true }\n');
  const leaker = `
echo "key $ANTHROPIC_API_KEY, helper /opt/print-the-key"
echo "again $ANTHROPIC_API_KEY" >&2
exit 1`;
  await using place = await poFolder(plan, { leaker });

  const args = ['run', 'plan.md', '--claude-exe', place.claude, '--log-dir', 'logs'];
  await landfast(args, { cwd: place.dir, env: SECRETS });

  const [folder, ...logs] = await Promise.all(
    ['logs', 'logs/a-stdout.log', 'logs/a-stderr.log'].map(async (name) => {
      const path = join(place.dir, name);
      const { mode } = await stat(path);
      return { mode: mode & 0o777, text: name === 'logs' ? '' : await readFile(path, 'utf8') };
    }),
  );
  expect(folder?.mode).toBe(0o700);
  expect(logs.map(({ mode }) => mode)).toEqual([0o600, 0o600]);
  const [said = '', complained = ''] = logs.map(({ text }) => text);
  expect(said.match(/^key \[MASKED\], helper \[MASKED\]$/gm)).toHaveLength(2);
  expect(complained.match(/^again \[MASKED\]$/gm)).toHaveLength(2);
  expect(said + complained).not.toContain(KEY);
});

// Fix: only the logs were masked, and a report is passed on more readily than a log.
test.concurrent('PO-71: what an agent gave away is masked in the report as well', async () => {
  const plan = manifest('  - { id: a, agent: leaker, read_only: true }\n');
  await using place = await poFolder(plan, { leaker: 'echo "key $ANTHROPIC_API_KEY"' });

  const args = ['run', 'plan.md', '--claude-exe', place.claude, '--report', 'report.json'];
  const ended = await landfast(args, { cwd: place.dir, env: SECRETS });

  const text = await readFile(join(place.dir, 'report.json'), 'utf8');
  expect(ended.code).toBe(0);
  expect(text).not.toContain(KEY);
});

function keysOf(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => [key, ...keysOf(part)]);
}

function pick(from: object, keys: readonly string[]): readonly unknown[] {
  const values = new Map<string, unknown>(Object.entries(from));
  return keys.map((key) => values.get(key));
}
