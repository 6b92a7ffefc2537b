/**
 * The real Gemini CLI, driven through our agent's command, parser and outcome, against a scripted
 * generateContent API: permissions and rules as they are really enforced, and errors as they are
 * really told.
 */

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import type { AgentOutcome, Job } from '../../src/agents/agent.ts';
import { gemini } from '../../src/agents/gemini.ts';
import type { AgentEvent } from '../../src/model/agent-event.ts';
import { NO_OPTIONS, type ToolRules } from '../../src/model/plan.ts';
import { GEMINI_VERSION, geminiCli, geminiEnv } from '../support/gemini-cli.ts';
import {
  httpError,
  type Step,
  say,
  shell,
  startGenerateApi,
  tool,
  write,
} from '../support/generate-api.ts';
import { jobOf } from '../support/job.ts';

/** Known before a test begins: installing it may take longer than a test may. */
const CLI = await geminiCli();
console.info(`Runs Gemini CLI ${GEMINI_VERSION} against a scripted generateContent API.`);

const END = say('The end.');
/** Into plan mode and out of it again, where the CLI by itself would allow everything. */
const RAISE: readonly Step[] = [
  tool('enter_plan_mode', { reason: 'why not' }),
  write('plan.md', '# A plan\n\nDo it.\n'),
  tool('exit_plan_mode', { plan_filename: 'plan.md' }),
  shell('touch raised.txt'),
];

test.each(['default', 'plan', 'acceptEdits'] as const)(
  'with %s the model runs no commands and cannot raise its permissions',
  async (permissions) => {
    await using place = await workplace();

    const { events, outcome } = await place.play([write('a.txt', 'x'), ...RAISE, END], {
      permissions,
    });

    expect(outcome).toEqual({ ok: true, text: 'The end.' });
    const edits = permissions === 'acceptEdits';
    expect(await readdir(place.dir)).toEqual(edits ? ['a.txt', 'plan.md'] : []);
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
  await using place = await workplace();
  const steps = [write('a.txt', 'x'), shell('touch b.txt'), ...RAISE, END];

  await place.play(steps, { permissions: 'bypassPermissions', readOnly: true });

  expect(await readdir(place.dir)).toEqual([]);
});

test('acceptEdits writes in the workspace and in further folders, nowhere else', async () => {
  await using place = await workplace();
  const extra = join(place.root, 'extra');
  await mkdir(extra);
  const steps = [
    write('a.txt', 'x'),
    write(join(extra, 'b.txt'), 'x'),
    write(join(place.root, 'c.txt'), 'x'),
    END,
  ];

  await place.play(steps, { options: { ...NO_OPTIONS, dirs: [extra] } });

  expect(await readdir(place.dir)).toEqual(['a.txt']);
  expect(await readdir(extra)).toEqual(['b.txt']);
  expect(await readdir(place.root)).not.toContain('c.txt');
});

test('programs are allowed by name, every part of a command counts, a refusal wins', async () => {
  await using place = await workplace();
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

  const { events } = await place.play(steps, { permissions: 'default', ...withRules(rules) });

  expect(await readdir(place.dir)).toEqual(['a.txt', 'd.txt']);
  expect(deniedTools(events)).toEqual([
    ...['run_shell_command', 'run_shell_command', 'run_shell_command', 'write_file'],
  ]);
});

test('a refusal holds where everything else is allowed', async () => {
  await using place = await workplace();
  const steps = [shell('touch a.txt'), shell('echo x && rm a.txt'), write('b.txt', 'x'), END];
  const rules = { disallowed: ['run_shell_command(rm)', 'write_file'] };

  const { events } = await place.play(steps, {
    permissions: 'bypassPermissions',
    ...withRules(rules),
  });

  expect(await readdir(place.dir)).toEqual(['a.txt']);
  expect(deniedTools(events)).toEqual(['run_shell_command', 'write_file']);
});

test('the user’s own rules stay in force beside ours', async () => {
  await using place = await workplace();
  const policies = join(place.home, '.gemini', 'policies');
  await mkdir(policies, { recursive: true });
  const rule = '[[rule]]\ntoolName = "write_file"\ndecision = "allow"\npriority = 100\n';
  await writeFile(join(policies, 'mine.toml'), rule);

  await place.play([write('a.txt', 'x'), END], { permissions: 'default' });

  expect(await readdir(place.dir)).toEqual(['a.txt']);
});

test.each([
  [
    'a daily limit',
    httpError(429, 'Enough', [
      {
        '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
        violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel' }],
      },
    ]),
    {
      kind: 'rate-limited',
      message: 'The service answered 429: You have exhausted your daily quota on this model.',
    },
  ],
  [
    'a refused log-in',
    httpError(401, 'Who are you?'),
    { kind: 'auth', message: 'The service answered 401: Who are you?' },
  ],
  [
    'an unknown model',
    httpError(404, 'No such model'),
    { kind: 'permanent', message: 'No such model' },
  ],
])('%s ends the attempt with the first answer', async (_, step, failure) => {
  await using place = await workplace();

  const { outcome, requests } = await place.play([step], {});

  expect(outcome).toEqual({ ok: false, failure });
  expect(requests).toBe(1);
});

test('a service that does not answer is seen at the first retry', async () => {
  await using place = await workplace();

  const { events } = await place.drive('http://127.0.0.1:9', {}, ({ type }) => type === 'retry');

  expect(events.filter(({ type }) => type === 'retry')).toEqual([
    {
      ...{ type: 'retry', attempt: 1, max: 10, delayMs: 5_000 },
      failure: { kind: 'transient', message: 'The service did not answer.' },
    },
  ]);
});

test('a session that does not exist cannot be resumed, and the message says so', async () => {
  await using place = await workplace();

  const { outcome } = await place.drive('http://127.0.0.1:9', { resume: randomUUID() });

  expect(outcome).toMatchObject({
    ok: false,
    failure: {
      kind: 'session-lost',
      message: expect.stringMatching(/^The session to resume is not known to the agent any more\./),
    },
  });
});

interface Driven {
  readonly events: readonly AgentEvent[];
  readonly outcome: AgentOutcome;
}

function deniedTools(events: readonly AgentEvent[]): readonly string[] {
  return events.flatMap((event) => (event.type === 'denied' ? [event.tool] : []));
}

function withRules(rules: Partial<ToolRules>): Partial<Job> {
  return { options: { ...NO_OPTIONS, tools: { ...NO_OPTIONS.tools, ...rules } } };
}

/** An empty folder to work in and a home of its own, gone at the end of the scope. */
async function workplace() {
  const root = await mkdtemp(join(tmpdir(), 'landfast-gemini-'));
  const [dir, home] = [join(root, 'work'), join(root, 'home')];
  await mkdir(dir);
  const until = () => false;
  const drive = async (url: string, part: Partial<Job>, enough: Enough = until) => {
    const job = jobOf({ newSession: randomUUID(), executable: CLI, ...part });
    return driveIn({ root, dir, env: await geminiEnv(home, url) }, job, enough);
  };
  return {
    ...{ root, dir, home, drive },
    /** Drives it through the steps. */
    async play(steps: readonly Step[], part: Partial<Job>) {
      await using api = await startGenerateApi({ scenarios: { it: steps } });
      const driven = await drive(api.url, { prompt: '# Do it\n\n[[scenario:it]]', ...part });
      return { ...driven, requests: api.requests.length };
    },
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true, maxRetries: 5 }),
  };
}

type Enough = (event: AgentEvent) => boolean;

interface Place {
  readonly root: string;
  readonly dir: string;
  readonly env: Readonly<Record<string, string>>;
}

/** What the worker does, in small: files, spawn, parse, end the process when it is enough, judge. */
async function driveIn({ root, dir, env }: Place, job: Job, enough: Enough): Promise<Driven> {
  const command = gemini.command(job);
  const temp = await mkdtemp(join(root, 'temp-'));
  for (const [name, text] of Object.entries(command.files ?? {})) {
    await writeFile(join(temp, name), text);
  }
  const args = command.args.map((arg) => arg.replaceAll('{temp}', temp));
  const own = { ...env, ...command.env, TMPDIR: temp };
  const child = spawn(command.file, args, { cwd: dir, env: own });
  const closed = once(child, 'close');
  child.stdin.on('error', () => {}); // It may refuse to start without reading the prompt.
  child.stdin.end(command.stdin);

  const parser = gemini.parser(job);
  const events: AgentEvent[] = [];
  let stderrTail = '';
  const hear = (told: readonly AgentEvent[]) => {
    events.push(...told);
    if (told.some(enough)) child.kill('SIGKILL');
  };
  createInterface({ input: child.stdout }).on('line', (line) => hear(parser.stdout(line)));
  createInterface({ input: child.stderr }).on('line', (line) => {
    stderrTail += `${line}\n`;
    hear(parser.stderr(line));
  });
  const [code, signal] = await closed;
  const exit =
    typeof code === 'number'
      ? ({ kind: 'exited', code } as const)
      : ({ kind: 'signalled', signal: String(signal) } as const);
  const result = events.findLast((event) => event.type === 'result') ?? null;
  const spoke = events.length > 0;
  return {
    events,
    outcome: gemini.outcome({ exit, job, result, spoke, stdoutTail: '', stderrTail }),
  };
}
