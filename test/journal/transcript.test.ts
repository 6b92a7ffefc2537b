/** Transcripts on disk: what is kept, for whose eyes, and what happens when it cannot be. */

import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import {
  attemptFiles,
  attemptsDir,
  parseTranscript,
  type TranscriptOptions,
  Transcripts,
} from '../../src/journal/transcript.ts';
import type { AgentEvent } from '../../src/model/agent-event.ts';
import type { Chatter } from '../../src/model/effect.ts';
import { tempState } from './support.ts';

const signal = new AbortController().signal;
/** What an attempt said, line by line; nothing where it has no transcript. */
function transcriptOf(dir: string, task: string, attempt: number) {
  const { transcript } = attemptFiles(dir, task, attempt);
  return existsSync(transcript)
    ? parseTranscript(readFileSync(transcript, 'utf8').split('\n'))
    : [];
}

const out = (text: string): Chatter => ({ from: 'stdout', text });
const err = (text: string): Chatter => ({ from: 'stderr', text });
const said = (event: AgentEvent): Chatter => ({ from: 'agent', event });

test('an attempt keeps its meaning and its raw lines in files of its own', async () => {
  using temp = tempRun();
  const transcripts = new Transcripts(temp.options);
  transcripts.write('build', 1, out('{"type":"x"}'), 1);
  transcripts.write('build', 1, said({ type: 'text', text: 'Done.' }), 2);
  transcripts.write('build', 1, err('careful'), 3);
  transcripts.write('build', 1, out('more'), 4);
  transcripts.write('build', 2, out('second'), 5);
  await transcripts.close('build', 1, signal);
  await transcripts.closeAll(signal);

  expect(tree(temp.options.dir)).toEqual({
    'build.1/stderr.log': 'careful\n',
    'build.1/stdout.log': '{"type":"x"}\nmore\n',
    'build.1/transcript.jsonl': '{"at":2,"event":{"type":"text","text":"Done."}}\n',
    'build.2/stdout.log': 'second\n',
  });
  expect(transcriptOf(temp.options.dir, 'build', 1)).toEqual([
    { at: 2, event: { type: 'text', text: 'Done.' } },
  ]);
});

test('text deltas and bare signs of life are not stored', async () => {
  using temp = tempRun();
  const transcripts = new Transcripts(temp.options);
  const stored: AgentEvent[] = [
    { type: 'text', text: 'whole', delta: false },
    { type: 'thinking' },
    { type: 'activity', what: 'waiting', background: 2 },
  ];
  for (const event of [
    { type: 'text', text: 'who', delta: true } as const,
    { type: 'activity', what: 'ping' } as const,
    ...stored,
  ]) {
    transcripts.write('a', 1, said(event), 1);
  }
  await transcripts.closeAll(signal);

  const lines = transcriptOf(temp.options.dir, 'a', 1);

  expect(lines.map(({ event }) => event)).toEqual(stored);
});

test('files are 0600 and folders 0700, whatever the umask', async () => {
  using temp = tempRun();
  const umask = process.umask(0);
  try {
    const transcripts = new Transcripts({ ...temp.options, logDir: join(temp.dir, 'logs') });
    transcripts.write('a', 1, out('x'), 1);
    transcripts.write('a', 1, said({ type: 'thinking' }), 1);
    await transcripts.closeAll(signal);
  } finally {
    process.umask(umask);
  }

  const { stateDir } = temp;
  const folders = ['', 'runs', 'runs/r1', 'runs/r1/attempts', 'runs/r1/attempts/a.1'];
  const modes = new Set(folders.map((name) => modeOf(join(stateDir, name))));
  expect([...modes, modeOf(join(temp.dir, 'logs'))]).toEqual(['700', '700']);
  const files = Object.values(attemptFiles(temp.options.dir, 'a', 1)).filter(existsSync);
  expect(files.length).toBe(2);
  expect(new Set(files.map(modeOf))).toEqual(new Set(['600']));
  expect(modeOf(join(temp.dir, 'logs', 'a-stdout.log'))).toBe('600');
});

test('secrets reach no file, in no spelling', async () => {
  using temp = tempRun();
  const secrets = ['hunter2', 'hunter2-long', 'say "hi"', 'k3y'];
  const logDir = join(temp.dir, 'logs');
  const transcripts = new Transcripts({ ...temp.options, secrets, logDir });
  transcripts.write('a', 1, out('key=hunter2-long k3y'), 1);
  transcripts.write('a', 1, err(JSON.stringify({ token: 'say "hi"' })), 1);
  const input = { command: 'curl -H "x: hunter2"', nested: ['say "hi"'] };
  transcripts.write('a', 1, said({ type: 'tool.start', id: '1', name: 'Bash', input }), 1);
  await transcripts.closeAll(signal);

  expect({ ...tree(temp.options.dir), ...tree(logDir) }).toEqual({
    'a.1/stdout.log': 'key=[MASKED] [MASKED]\n',
    'a.1/stderr.log': '{"token":"[MASKED]"}\n',
    'a.1/transcript.jsonl':
      '{"at":1,"event":{"type":"tool.start","id":"1","name":"Bash",' +
      '"input":{"command":"curl -H \\"x: [MASKED]\\"","nested":["[MASKED]"]}}}\n',
    'a-stdout.log': 'key=[MASKED] [MASKED]\n',
    'a-stderr.log': '{"token":"[MASKED]"}\n',
  });
});

test('in the log folder a first attempt starts a new file and retries are appended', async () => {
  using temp = tempRun();
  const logDir = join(temp.dir, 'logs');
  mkdirSync(logDir);
  for (const name of ['a-stdout.log', 'a-stderr.log', 'b-stdout.log']) {
    writeFileSync(join(logDir, name), 'of an earlier run\n');
  }
  const transcripts = new Transcripts({ ...temp.options, logDir });
  transcripts.write('a', 1, out('one'), 1);
  await transcripts.close('a', 1, signal);
  transcripts.write('a', 2, out('two'), 2);
  transcripts.write('a', 2, err('oh'), 2);
  await transcripts.closeAll(signal);
  const resumed = new Transcripts({ ...temp.options, logDir });
  resumed.write('a', 3, out('three'), 3);
  await resumed.closeAll(signal);

  expect(tree(logDir)).toEqual({
    'a-stderr.log': '--- attempt 2 ---\noh\n--- attempt 3 ---\n',
    'a-stdout.log': 'one\n--- attempt 2 ---\ntwo\n--- attempt 3 ---\nthree\n',
    'b-stdout.log': 'of an earlier run\n',
  });
});

test('a story starts over with a run, and a marker precedes each further attempt', async () => {
  using temp = tempRun();
  const dir = join(temp.dir, 'formatted');
  mkdirSync(dir);
  writeFileSync(join(dir, 'a.log'), 'of an earlier run\n');
  const formatterFor = () => ({ format: (said: Chatter) => ('text' in said ? said.text : '') });
  const formatted = { dir, formatterFor };
  const transcripts = new Transcripts({ ...temp.options, secrets: ['hunter2hunter2'], formatted });
  transcripts.begin({ task: 'a', attempt: 1, start: { kind: 'fresh' } });
  transcripts.begin({ task: 'b', attempt: 1, start: { kind: 'fresh' } });
  for (const part of ['the word is hunter2', 'hunter2', '\nno end']) {
    transcripts.write('a', 1, out(part), 1);
  }
  await transcripts.close('a', 1, signal);
  transcripts.begin({ task: 'a', attempt: 2, start: { kind: 'continue', session: 's1' } });
  transcripts.write('a', 2, out('second\n'), 2);
  await transcripts.close('a', 2, signal);
  transcripts.begin({ task: 'a', attempt: 3, start: { kind: 'fresh' } });
  await transcripts.closeAll(signal);
  expect(tree(dir)).toEqual({
    'a.log':
      'the word is [MASKED]\nno end\n\n--- RETRY (resuming session s1) ---\nsecond\n\n--- RETRY ---\n',
    'b.log': '',
  });
});

test('without raw logs only the transcript is written', async () => {
  using temp = tempRun();
  const logDir = join(temp.dir, 'logs');
  const transcripts = new Transcripts({ ...temp.options, rawLogs: 'none', logDir });
  transcripts.write('a', 1, out('raw'), 1);
  transcripts.write('a', 1, said({ type: 'thinking' }), 1);
  await transcripts.closeAll(signal);

  expect(Object.keys(tree(temp.options.dir))).toEqual(['a.1/transcript.jsonl']);
  expect(existsSync(logDir)).toBe(false);
});

test('a link in place of a log file is refused with one warning, the rest is kept', async () => {
  using temp = tempRun();
  const logDir = join(temp.dir, 'logs');
  const target = join(temp.dir, 'precious');
  mkdirSync(logDir);
  writeFileSync(target, 'keep me');
  symlinkSync(target, join(logDir, 'a-stdout.log'));
  symlinkSync(target, join(logDir, 'a-stderr.log'));
  const transcripts = new Transcripts({ ...temp.options, logDir });
  transcripts.write('a', 1, out('x'), 1);
  transcripts.write('a', 1, err('y'), 1);
  await transcripts.closeAll(signal);

  expect(readFileSync(target, 'utf8')).toBe('keep me');
  expect(temp.warnings).toEqual([expect.stringContaining('a-stdout.log cannot be written: ELOOP')]);
  expect(readFileSync(attemptFiles(temp.options.dir, 'a', 1).stdout, 'utf8')).toBe('x\n');
});

test('files that cannot be written are one warning and no error', async () => {
  using temp = tempRun();
  mkdirSync(temp.stateDir);
  writeFileSync(join(temp.stateDir, 'runs'), 'a file where the folder should be');
  const transcripts = new Transcripts(temp.options);
  for (let n = 0; n < 10; n++) transcripts.write('a', 1, out('x'), 1);
  transcripts.write('b', 1, said({ type: 'thinking' }), 1);
  await transcripts.closeAll(signal);

  expect(temp.warnings.length).toBe(1);
  expect(temp.warnings[0]).toContain('Some agent output is not kept; the run continues.');
});

test('a log that has been replaced by a device is not written to', async () => {
  using temp = tempRun();
  const { stdout } = attemptFiles(temp.options.dir, 'a', 1);
  mkdirSync(dirname(stdout), { recursive: true });
  execFileSync('mkfifo', [stdout]);
  const transcripts = new Transcripts(temp.options);
  transcripts.write('a', 1, out('x'), 1);
  await transcripts.closeAll(signal);

  expect(temp.warnings).toEqual([expect.stringContaining('stdout.log cannot be written: ENXIO')]);
});

test('the id of a task never leads out of the folder', async () => {
  using temp = tempRun();
  const transcripts = new Transcripts(temp.options);
  for (const task of ['../../etc/x', '..', 'tür auf', 'ü/%2f']) {
    transcripts.write(task, 1, out(task), 1);
  }
  await transcripts.closeAll(signal);

  expect(tree(temp.options.dir)).toEqual({
    '...1/stdout.log': '..\n',
    '..%2f..%2fetc%2fx.1/stdout.log': '../../etc/x\n',
    'tür%20auf.1/stdout.log': 'tür auf\n',
    'ü%2f%252f.1/stdout.log': 'ü/%2f\n',
  });
});

test('a transcript cut by a crash is read up to the cut, a missing one is empty', async () => {
  using temp = tempRun();
  const { transcript } = attemptFiles(temp.options.dir, 'a', 1);
  mkdirSync(dirname(transcript), { recursive: true });
  writeFileSync(transcript, '{"at":1,"event":{"type":"thinking"}}\n{"at":2,"eve');

  expect(transcriptOf(temp.options.dir, 'a', 1)).toEqual([{ at: 1, event: { type: 'thinking' } }]);
  expect(transcriptOf(temp.options.dir, 'a', 2)).toEqual([]);
});

test('much output is written in order and completely', async () => {
  using temp = tempRun();
  const transcripts = new Transcripts(temp.options);
  const lines = Array.from({ length: 20_000 }, (_, n) => `line ${n}`);
  for (const line of lines) transcripts.write('a', 1, out(line), 1);
  await transcripts.close('a', 1, signal);

  const { stdout } = attemptFiles(temp.options.dir, 'a', 1);
  expect(readFileSync(stdout, 'utf8')).toBe(`${lines.join('\n')}\n`);
  expect(temp.warnings).toEqual([]);
});

function tempRun() {
  const state = tempState();
  const warnings: string[] = [];
  const options: TranscriptOptions = {
    dir: attemptsDir(state.stateDir, 'r1'),
    secrets: [],
    rawLogs: 'kept',
    logDir: null,
    onWarning: (text) => warnings.push(text),
  };
  return { ...state, options, warnings };
}

function tree(dir: string): Record<string, string> {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(dir.length + 1))
    .sort();
  return Object.fromEntries(files.map((file) => [file, readFileSync(join(dir, file), 'utf8')]));
}

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}
