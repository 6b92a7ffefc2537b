/** Tools that are refused to an agent: seen on its row, in the summary and by programs. */

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { runPlan } from '../support/run-plan.ts';
import { standIns } from '../support/stand-ins.ts';
import { tempRepo } from '../support/temp-repo.ts';

const RECORDED = join(import.meta.dirname, '..', 'fixtures', 'transcripts', 'claude');

const task = { agent: 'claude', prompt: 'Fetch it.' };
const CURL = [
  '{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash",',
  '"input":{"command":"curl -s https://x.test"}}]},"session_id":"\'$session\'"}',
].join('');
const DENIED =
  '{"type":"system","subtype":"permission_denied","tool_name":"Bash","tool_use_id":"t1",' +
  '"session_id":"\'$session\'"}';
/** The stand-in of an agent whose `curl` is refused, and that leaves what the script leaves. */
const fetches = (script: string) =>
  `hello; echo '${CURL}'; echo '${DENIED}'; ${script}; result '"is_error":false'`;

test('a denied tool that leaves an empty file is no silent success', async () => {
  await using repo = await tempRepo();
  const env = standIns(repo, { claude: fetches(': > data.json') });
  const run = await runPlan(repo, { tasks: { fetch: task }, gates: GATE }, { env });

  expect(run.code).toBe(0);
  const allow = 'tools: { allowed_cli: [curl] }';
  expect(run.of('attempt.denied')).toMatchObject([
    { tool: 'Bash', what: 'curl -s https://x.test', allow },
  ]);
  expect(run.of('attempt.finished')).toMatchObject([{ files: ['data.json'], empty: true }]);
  expect(run.stderr).toContain('The task succeeded, but a tool was denied to it');
  const why = 'denied: Bash (curl -s https://x.test); all files it leaves are empty';
  expect(run.stderr).toContain(`! fetch  ${why}`);
  expect(run.stderr).toContain(`To allow it, in the task or in landfast.yaml: ${allow}`);
  const status = await landfast(['status'], { cwd: repo.dir });
  expect(status.stdout).toMatch(/! fetch .*denied: Bash \(curl/);
  const collected = await landfast(['collect', '--json'], { cwd: repo.dir });
  expect(JSON.parse(collected.stdout)).toMatchObject({
    tasks: [
      {
        doubt: 'all files it leaves are empty',
        denied: [{ tool: 'Bash', what: 'curl -s https://x.test', allow, times: 1 }],
      },
    ],
  });
});

const GATE = [{ name: 'there', run: 'test -e data.json' }];

test.each([
  ['a gate', { gates: GATE }, {}],
  ['its checks', {}, { checks: ['test -e data.json'] }],
])(
  'work that %s has verified is told with what was denied, without a doubt',
  async (_, plan, more) => {
    await using repo = await tempRepo();
    const env = standIns(repo, { claude: fetches('echo 1 > data.json') });
    const run = await runPlan(repo, { ...plan, tasks: { fetch: { ...task, ...more } } }, { env });

    expect(run.code).toBe(0);
    expect(run.stderr).toContain('The task succeeded; main is at');
    expect(run.stderr).toContain('! fetch  denied: Bash (curl -s https://x.test)\n');
  },
);

test('without a gate the summary says that nothing has verified the work, quiet or not', async () => {
  await using repo = await tempRepo();
  const env = standIns(repo, { claude: fetches('echo 1 > data.json') });
  const run = await runPlan(repo, { tasks: { fetch: task } }, { env, args: ['--quiet'] });

  expect(run.code).toBe(0);
  expect(run.stderr).toContain('no gate has verified its work');
});

test('a task that changed nothing, denied or allowed to, is told with what was denied', async () => {
  await using repo = await tempRepo();
  const env = standIns(repo, { claude: fetches(':') });
  const tasks = { fetch: { ...task, retries: 0 }, free: { ...task, allow_empty: true } };
  const run = await runPlan(repo, { tasks }, { env });

  expect(run.failure('fetch')).toMatchObject({ kind: 'no-change' });
  expect(run.stderr).toContain('! fetch  denied: Bash (curl -s https://x.test)');
  expect(run.stderr).toContain('! free  denied: Bash (curl -s https://x.test); it changed nothing');
});

test('a real denial is reported with the line that would allow it', async () => {
  await using repo = await tempRepo();
  const claude = `echo 1 > a.txt; cat '${RECORDED}/acceptedits.jsonl'`;
  const env = standIns(repo, { claude });
  const run = await runPlan(repo, { tasks: { a: task } }, { env });

  expect(run.of('attempt.denied')).toMatchObject([
    { tool: 'Bash', what: 'npm --version', allow: 'tools: { allowed_cli: [npm] }' },
    { tool: 'Write', what: '/outside/outside.txt', allow: 'tools: { add_dirs: [/outside] }' },
  ]);
});
