/**
 * A small agent of the Agent Client Protocol that behaves as its first argument says, well or
 * badly. It works in the session's folder and keeps its sessions in `$HOME/sessions`.
 *
 *   rude      floods us with noise, asks for methods we do not have and for leave to do things,
 *             notes all answers in rude.json
 *   lingers   writes a file, answers, and does not end when it is left alone
 *   forgets   dies in its first session and cannot load it
 *   curious   answers with the names of its environment's variables
 *   hangs     asks for leave to wait, starts a program and falls silent, deaf to signals
 *   locked    requires a login
 *   crashes   dies in the middle of its work
 *   mute      ends without a word
 *   newer     speaks another version of the protocol
 */

import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly cwd?: string; readonly sessionId?: string };
  readonly result?: unknown;
  readonly error?: unknown;
}

const behaviour = process.argv[2] ?? '';
const sessions = join(process.env.HOME ?? '', 'sessions');
const waiting = new Map<number, (answer: Message) => void>();
let session = '';
let cwd = '';

if (behaviour === 'mute') process.exit(0);
if (behaviour === 'rude') noise();
mkdirSync(sessions, { recursive: true });
for await (const line of createInterface({ input: process.stdin })) hear(JSON.parse(line));
if (behaviour === 'lingers' || behaviour === 'hangs') setInterval(() => {}, 1000);

function hear(message: Message): void {
  if (message.method === undefined) return waiting.get(message.id ?? -1)?.(message);
  const reply = (answer: object) => send({ id: message.id, ...answer });
  switch (message.method) {
    case 'initialize': {
      const agentCapabilities = { loadSession: true };
      const protocolVersion = behaviour === 'newer' ? 2 : 1;
      return reply({ result: { protocolVersion, agentCapabilities } });
    }
    case 'session/new':
      if (behaviour === 'locked') {
        return reply({ error: { code: -32000, message: 'Authentication required' } });
      }
      session = `s-${process.pid}`;
      cwd = message.params?.cwd ?? '';
      return reply({ result: { sessionId: session } });
    case 'session/load':
      return reply({ error: { code: -32002, message: 'Resource not found' } });
    case 'session/prompt':
      return void work().then((text) => {
        update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
        reply({ result: { stopReason: 'end_turn' } });
      });
  }
}

async function work(): Promise<string> {
  switch (behaviour) {
    case 'rude':
      return beRude();
    case 'lingers':
      writeFileSync(join(cwd, 'lingers.txt'), 'x\n');
      return 'Done.';
    case 'forgets':
      if (!existsSync(join(sessions, 'first'))) {
        writeFileSync(join(sessions, 'first'), '');
        process.exit(1);
      }
      appendFileSync(join(cwd, 'forgets.txt'), 'x\n');
      return 'Done.';
    case 'curious':
      return Object.keys(process.env).sort().join(' ');
    case 'hangs':
      return hang();
    default:
      process.exit(1);
  }
}

async function beRude(): Promise<string> {
  noise();
  const answers = [
    await ask('fs/read_text_file', { path: '/etc/passwd' }),
    await ask('terminal/create', { command: 'sh' }),
    await ask('_rude/ask', {}),
    await leave('t1', 'edit', [{ path: join(cwd, 'rude.json') }]),
    await leave('t2', 'edit', [{ path: '/etc/passwd' }]),
    await leave('t3', 'execute', []),
  ];
  const told = answers.map(({ result, error }) => ({ result, error }));
  writeFileSync(join(cwd, 'rude.json'), `${JSON.stringify(told)}\n`);
  return 'Asked enough.';
}

async function hang(): Promise<never> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
  spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {
    ...{ stdio: 'ignore', detached: true },
  }).unref();
  await leave('t1', 'execute', []);
  return new Promise<never>(() => {});
}

/** Lines that are none of the protocol's, and one of 20 MB that is. */
function noise(): void {
  process.stdout.write('Welcome!\n123\n\n[]\n{"jsonrpc":"2.0","id":1,"res\n');
  process.stdout.write(Buffer.from([0xff, 0xfe, 0x7b, 0x0a]));
  update({ sessionUpdate: 'plan', entries: ['x'.repeat(20_000_000)] });
}

function leave(toolCallId: string, kind: string, locations: readonly object[]): Promise<Message> {
  const toolCall = { toolCallId, kind, title: `${behaviour} ${toolCallId}`, locations };
  const options = [
    { optionId: 'yes', kind: 'allow_once', name: 'Yes' },
    { optionId: 'no', kind: 'reject_once', name: 'No' },
  ];
  return ask('session/request_permission', { sessionId: session, toolCall, options });
}

function ask(method: string, params: object): Promise<Message> {
  const id = waiting.size + 1;
  send({ id, method, params });
  return new Promise((resolve) => waiting.set(id, resolve));
}

function update(change: object): void {
  send({ method: 'session/update', params: { sessionId: session, update: change } });
}

function send(message: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}
