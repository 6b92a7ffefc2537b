/**
 * The real Gemini CLI, driven through our agent's command, parser and outcome, against a scripted
 * generateContent API: permissions and rules as they are really enforced, and errors as they are
 * really reported.
 */

import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AgentEvent } from '../../src/model/agent-event.ts';
import { type AgentOptions, NO_OPTIONS, type ToolRules } from '../../src/model/plan.ts';
import { ofType, workplace } from '../support/agents/drive.ts';
import { GEMINI } from '../support/agents/real-agents.ts';
import { httpError, type Step, say, toolCall } from '../support/agents/scripted-api.ts';
import { quotaFailure } from './details.ts';

const { shell, write } = GEMINI;
const DAILY_QUOTA = quotaFailure('GenerateRequestsPerDayPerProjectPerModel');
const END = say('The end.');
/** Into plan mode and out of it again, after which the CLI by itself would allow everything. */
const RAISE: readonly Step[] = [
  toolCall('enter_plan_mode', { reason: 'why not' }),
  write('plan.md', '# A plan\n\nDo it.\n'),
  toolCall('exit_plan_mode', { plan_filename: 'plan.md' }),
  shell('touch raised.txt'),
];

test.each(['default', 'plan', 'acceptEdits'] as const)(
  'with %s the model runs no commands and cannot raise its permissions',
  async (permissions) => {
    await using place = await workplace(GEMINI, [write('a.txt', 'x'), ...RAISE, END]);

    const { events, outcome } = await place.drive({ permissions });

    expect(outcome).toEqual({ ok: true, text: 'The end.' });
    const edits = permissions === 'acceptEdits';
    expect(await place.files()).toEqual(edits ? ['a.txt', 'plan.md'] : []);
    expect(deniedTools(events)).toEqual([
      ...(edits ? [] : ['write_file']),
      'enter_plan_mode',
      // In plan mode there is a folder for plans, outside of the workspace.
      ...(edits || permissions === 'plan' ? [] : ['write_file']),
      ...['exit_plan_mode', 'run_shell_command'],
    ]);
  },
);

test('a read task writes nothing, though its permissions would allow it', async () => {
  const steps = [write('a.txt', 'x'), shell('touch b.txt'), ...RAISE, END];
  await using place = await workplace(GEMINI, steps);

  await place.drive({ permissions: 'bypassPermissions', readOnly: true });

  expect(await place.files()).toEqual([]);
});

test('acceptEdits writes in the workspace and in further folders, nowhere else', async () => {
  await using place = await workplace(GEMINI, [
    write('a.txt', 'x'),
    write('{{cwd}}/../extra/b.txt', 'x'),
    write('{{cwd}}/../c.txt', 'x'),
    END,
  ]);
  const extra = join(place.root, 'extra');
  await mkdir(extra);

  await place.drive({}, { dirs: [extra] });

  expect(await place.files()).toEqual(['a.txt']);
  expect(await readdir(extra)).toEqual(['b.txt']);
  expect(await readdir(place.root)).not.toContain('c.txt');
});

test('programs are allowed by name, every part of a command counts, a refusal wins', async () => {
  const steps = [
    shell('touch a.txt'),
    shell('touch b.txt && rm -f a.txt'),
    shell('touchy c.txt'),
    shell('touch forbidden'),
    write('d.txt', 'x'),
    write('e.env', 'x'),
    END,
  ];
  const rules = {
    commands: ['touch'],
    allowed: ['write_file'],
    disallowed: ['run_shell_command(touch forbidden)', 'write_file(.env)'],
  };

  await using place = await workplace(GEMINI, steps);
  const { events } = await place.drive({ permissions: 'default' }, withRules(rules));

  expect(await place.files()).toEqual(['a.txt', 'd.txt']);
  expect(deniedTools(events)).toEqual([
    ...['run_shell_command', 'run_shell_command', 'run_shell_command', 'write_file'],
  ]);
});

test('a refusal holds where everything else is allowed', async () => {
  const steps = [shell('touch a.txt'), shell('echo x && rm a.txt'), write('b.txt', 'x'), END];
  const rules = { disallowed: ['run_shell_command(rm)', 'write_file'] };

  await using place = await workplace(GEMINI, steps);
  const { events } = await place.drive({ permissions: 'bypassPermissions' }, withRules(rules));

  expect(await place.files()).toEqual(['a.txt']);
  expect(deniedTools(events)).toEqual(['run_shell_command', 'write_file']);
});

test('the user’s own rules stay in force beside ours', async () => {
  await using place = await workplace(GEMINI, [write('a.txt', 'x'), END]);
  const policies = join(place.home, '.gemini', 'policies');
  await mkdir(policies, { recursive: true });
  const rule = '[[rule]]\ntoolName = "write_file"\ndecision = "allow"\npriority = 100\n';
  await writeFile(join(policies, 'mine.toml'), rule);

  await place.drive({ permissions: 'default' });

  expect(await place.files()).toEqual(['a.txt']);
});

test.each([
  [
    'a daily limit',
    httpError(429, { message: 'Enough', fields: { details: [DAILY_QUOTA] } }),
    {
      kind: 'rate-limited',
      message: 'The service answered 429: You have exhausted your daily quota on this model.',
    },
  ],
  [
    'a refused login',
    httpError(401, { message: 'Who are you?' }),
    { kind: 'auth', message: 'The service answered 401: Who are you?' },
  ],
  [
    'an unknown model',
    httpError(404, { message: 'No such model' }),
    { kind: 'permanent', message: 'No such model' },
  ],
])('%s ends the attempt with the first answer', async (_, step, failure) => {
  await using place = await workplace(GEMINI, [step]);

  const { outcome } = await place.drive();

  expect(outcome).toEqual({ ok: false, failure });
  expect(place.api.requests).toHaveLength(1);
});

test('a service that does not answer is seen at the first retry', async () => {
  await using place = await workplace(GEMINI, [], { url: 'http://127.0.0.1:9' });

  const { events } = await place.drive({}, {}, ({ type }) => type === 'retry');

  expect(ofType(events, 'retry')).toEqual([
    {
      ...{ type: 'retry', attempt: 1, max: 10, delayMs: 5_000 },
      failure: { kind: 'transient', message: 'The service did not answer.' },
    },
  ]);
});

function deniedTools(events: readonly AgentEvent[]): readonly string[] {
  return ofType(events, 'denied').map(({ tool }) => tool);
}

function withRules(rules: Partial<ToolRules>): Partial<AgentOptions> {
  return { tools: { ...NO_OPTIONS.tools, ...rules } };
}
