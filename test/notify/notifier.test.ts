/** A notifier watching a run: what is told, in which order, and what becomes of failures. */

import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { NotifySpec } from '../../src/model/plan.ts';
import { Notifier, type NotifierOptions } from '../../src/notify/notifier.ts';
import { INTERNET } from '../../src/notify/webhook.ts';
import { JournalBuilder } from '../support/journal-builder.ts';
import { tempDir } from '../support/temp-dir.ts';
import { receiver } from './receiver.ts';

const signal = new AbortController().signal;
const env = { PATH: process.env.PATH ?? '', KNOWN: 'yes' };

function failedRun(): JournalBuilder {
  const failure = { kind: 'permanent', message: 'It broke: s3cret.' } as const;
  const run = new JournalBuilder([{ id: 'a' }]).start('a').fail('a', failure);
  return run.giveUp('a', failure).end('failed');
}

async function tell(
  notify: readonly NotifySpec[],
  more: Partial<NotifierOptions> & Pick<NotifierOptions, 'machine'>,
): Promise<readonly string[]> {
  const warnings: string[] = [];
  const notifier = new Notifier({
    run: 'r1',
    notify,
    before: null,
    mask: (text) => text.replaceAll('s3cret', '[MASKED]'),
    network: INTERNET,
    bell: null,
    warn: (text) => warnings.push(text),
    ...more,
  });
  notifier.recorded(failedRun().entries);
  await notifier.settle(signal);
  return warnings;
}

const machineAt = (dir: string) => ({ dir, env, platform: 'linux' as const });
const webhook = (on: NotifySpec['on'], url: string): NotifySpec => ({
  on,
  to: { kind: 'webhook', url },
});

test('finished is sent first, then failed, each to those who asked for it', async () => {
  await using dir = await tempDir();
  await using hook = await receiver();
  const warnings = await tell(
    [
      webhook(['failed'], 'https://h.example/failure'),
      webhook(['finished'], 'https://h.example/complete'),
      webhook(['limit', 'person'], 'https://h.example/never'),
    ],
    { machine: machineAt(dir.path), network: hook.network(['8.8.8.8']) },
  );
  expect(warnings).toEqual([]);
  const got = hook.posts.map(({ path, body }) => [path, JSON.parse(body).event]);
  expect(got).toEqual([
    ['/complete', 'complete'],
    ['/failure', 'failure'],
  ]);
  expect(hook.posts[0]?.body).toContain('It broke: [MASKED].');
});

test('a command gets the JSON on standard input, in the folder of the project', async () => {
  await using dir = await tempDir();
  const run = 'cat > told.json; env | sort > env.txt';
  const warnings = await tell([{ on: ['finished'], to: { kind: 'command', run } }], {
    machine: machineAt(dir.path),
  });
  expect(warnings).toEqual([]);
  const told = await readFile(join(dir.path, 'told.json'), 'utf8');
  expect(JSON.parse(told)).toMatchObject({ event: 'complete', run: 'r1', failed: 1 });
  const seen = await readFile(join(dir.path, 'env.txt'), 'utf8');
  const names = seen.split('\n').map((line) => line.split('=')[0]);
  expect(names.filter((name) => !['', '_', 'PWD', 'SHLVL', 'OLDPWD'].includes(name ?? ''))).toEqual(
    ['KNOWN', 'PATH'],
  );
});

test('a failing command is a warning, once, and the others are still told', async () => {
  await using dir = await tempDir();
  const warnings = await tell(
    [
      { on: ['finished', 'failed'], to: { kind: 'command', run: 'echo "s3cret: no" >&2; exit 3' } },
      { on: ['failed'], to: { kind: 'command', run: 'touch told' } },
    ],
    { machine: machineAt(dir.path) },
  );
  expect(warnings).toEqual([
    'landfast: warning: the notification by command could not be sent: it exited with 3: [MASKED]: no',
  ]);
  expect(await readFile(join(dir.path, 'told'), 'utf8')).toBe('');
});

test('a note on the desktop has the plan and what happened; without a program it is said', async () => {
  await using dir = await tempDir();
  await dir.write({ 'notify-send': '#!/bin/sh\nprintf "%s|" "$@" >> "$0.txt"\n' });
  await chmod(join(dir.path, 'notify-send'), 0o755);
  const desktop: NotifySpec = { on: ['finished'], to: { kind: 'desktop' } };
  const found = { ...machineAt(dir.path), env: { PATH: `${dir.path}:/usr/bin:/bin` } };
  expect(await tell([desktop], { machine: found })).toEqual([]);
  expect(await readFile(join(dir.path, 'notify-send.txt'), 'utf8')).toBe(
    '--app-name=Landfast|--|Landfast: accounts|1 of 1 task failed.|',
  );
  const missing = { ...machineAt(dir.path), env: { PATH: '/nowhere' } };
  const warnings = await tell([{ ...desktop, on: ['finished', 'failed'] }], { machine: missing });
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain('the notification on the desktop could not be sent');
});

test('the bell rings where there is a terminal, and is silent elsewhere', async () => {
  await using dir = await tempDir();
  const bell: NotifySpec = { on: ['finished', 'failed'], to: { kind: 'bell' } };
  const rung: string[] = [];
  await tell([bell], { machine: machineAt(dir.path), bell: () => void rung.push('ding') });
  expect(rung).toEqual(['ding', 'ding']);
  expect(await tell([bell], { machine: machineAt(dir.path) })).toEqual([]);
});
