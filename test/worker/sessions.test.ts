import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { AGENTS, findAgent } from '../../src/agents/index.ts';
import { lostSessions } from '../../src/app/doctor.ts';
import { findSession, storePlace } from '../../src/worker/sessions.ts';
import { JournalBuilder } from '../support/journal-builder.ts';
import { tempDir } from '../support/temp-dir.ts';

const ID = '01a1eb9e-b985-79f1-b0f4-1134c65be83c';
const OTHER = '11111111-1111-4111-8111-111111111111';

/** The store of an agent as its program lays it out, with one session. */
const FILES: Readonly<Record<string, string>> = {
  claude: `.claude/projects/-home-dev-proj/${ID}.jsonl`,
  codex: `.codex/sessions/2026/11/17/rollout-2026-11-17T22-26-50-${ID}.jsonl`,
  gemini: `.gemini/tmp/my-proj/chats/session-2026-11-17T22-29-${ID.slice(0, 8)}.jsonl`,
};

function storeOf(name: string) {
  const store = findAgent(name)?.program.sessions;
  if (store == null) throw new Error(`${name} keeps no sessions`);
  return store;
}

function put(home: string, path: string): void {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), '{}\n');
}

describe('a session', () => {
  test.each(Object.entries(FILES))('of %s is found by its file', async (name, path) => {
    await using temp = await tempDir();
    const here = { env: {}, home: temp.path };
    expect(await findSession(storeOf(name), ID, here)).toBe('unknown');
    put(temp.path, path);
    expect(await findSession(storeOf(name), ID, here)).toBe('found');
    expect(await findSession(storeOf(name), OTHER, here)).toBe('missing');
  });

  test('of a sub-agent, in a folder of its parent, is not the parent', async () => {
    await using temp = await tempDir();
    put(temp.path, `.claude/projects/-home-dev-proj/${ID}/subagents/${OTHER}.jsonl`);
    const here = { env: {}, home: temp.path };
    expect(await findSession(storeOf('claude'), OTHER, here)).toBe('missing');
  });

  test('of opencode is found in its database, which is not written', async () => {
    await using temp = await tempDir();
    const file = join(temp.path, '.local/share/opencode/opencode.db');
    const here = { env: {}, home: temp.path };
    put(temp.path, '.local/share/opencode/opencode.db');
    expect(await findSession(storeOf('opencode'), 'ses_1', here)).toBe('unknown');
    writeFileSync(file, '');
    const db = new DatabaseSync(file);
    db.exec("CREATE TABLE session (id TEXT); INSERT INTO session VALUES ('ses_1')");
    db.close();
    expect(await findSession(storeOf('opencode'), 'ses_1', here)).toBe('found');
    expect(await findSession(storeOf('opencode'), "x' OR '1'='1", here)).toBe('missing');
  });

  test('that names a path leads nowhere', async () => {
    await using temp = await tempDir();
    put(temp.path, FILES.claude!);
    put(temp.path, '.claude/secret.jsonl');
    const here = { env: {}, home: temp.path };
    expect(await findSession(storeOf('claude'), '../../secret', here)).toBe('missing');
  });
});

test('a variable that is set moves the store', () => {
  const env = {
    CLAUDE_CONFIG_DIR: '/c',
    CODEX_HOME: '/x',
    GEMINI_CLI_HOME: '/g',
    XDG_DATA_HOME: '/d',
  };
  const places = (some: Readonly<Record<string, string>>) =>
    AGENTS.flatMap(({ program: { sessions } }) =>
      sessions === null ? [] : [storePlace(sessions, { env: some, home: '/home/me' })],
    );
  expect(places({})).toEqual([
    '/home/me/.claude/projects',
    '/home/me/.codex/sessions',
    '/home/me/.gemini/tmp',
    '/home/me/.local/share/opencode/opencode.db',
  ]);
  expect(places(env)).toEqual([
    '/c/projects',
    '/x/sessions',
    '/g/.gemini/tmp',
    '/d/opencode/opencode.db',
  ]);
  expect(places({ ...env, OPENCODE_DB: '/o.db' }).at(-1)).toBe('/o.db');
});

test('lost are the sessions of tasks that would continue them and whose store has them no more', async () => {
  await using temp = await tempDir();
  put(temp.path, FILES.claude!);
  const run = new JournalBuilder([{ id: 'kept' }, { id: 'gone' }, { id: 'done' }, { id: 'new' }]);
  const failure = { kind: 'interrupted', message: 'Stopped.' } as const;
  for (const [task, session] of [
    ['kept', ID],
    ['gone', OTHER],
    ['done', 'no longer needed'],
  ] as const) {
    run.start(task).add({ type: 'attempt.session', task, attempt: 1, session });
  }
  run.fail('kept', failure).fail('gone', failure).finish('done').land('done');
  expect(await lostSessions(run.state(), { env: {}, home: temp.path })).toEqual(['gone']);
});
