/** A command reaches the engine once, and its sender learns the outcome. */

import { expect, test } from 'vitest';
import {
  answerCommand,
  awaitAnswer,
  sendCommand,
  takeCommands,
} from '../../src/journal/commands.ts';
import { openDatabase } from '../../src/journal/database.ts';
import { Journal } from '../../src/journal/journal.ts';
import { releaseLease } from '../../src/journal/lease.ts';
import { NO_SECRETS } from '../../src/journal/mask.ts';
import type { Command } from '../../src/model/command.ts';
import { lead, started, tempDatabase } from './support.ts';

const cancel: Command = { kind: 'cancel-task', task: 'a' };
const stop: Command = { kind: 'stop', mode: 'drain', why: 'SIGINT' };
const never = new AbortController().signal;

test('the engine takes each command once, in the order they were sent, and only of its run', () => {
  using temp = tempDatabase();
  const lease = begin(temp.db, 'r1');
  begin(temp.db, 'r2');
  using sender = openDatabase(temp.stateDir);
  const first = sendCommand(sender, 'r1', cancel, 10);
  sendCommand(sender, 'r2', stop, 11);
  const second = sendCommand(sender, 'r1', stop, 12);

  expect(takeCommands(temp.db, lease, 20)).toEqual([
    { id: first, command: cancel },
    { id: second, command: stop },
  ]);
  expect(takeCommands(temp.db, lease, 21)).toEqual([]);
});

test('a sender waits for the answer of the engine', async () => {
  using temp = tempDatabase();
  const lease = begin(temp.db, 'r1');
  using sender = openDatabase(temp.stateDir);
  const id = sendCommand(sender, 'r1', cancel, 1);
  const reply = awaitAnswer(sender, id, never);
  for (const command of takeCommands(temp.db, lease, 2)) {
    answerCommand(temp.db, command.id, { kind: 'refused', why: 'the task has landed' });
    answerCommand(temp.db, command.id, { kind: 'accepted' });
  }

  expect(await reply).toEqual({
    kind: 'answered',
    answer: { kind: 'refused', why: 'the task has landed' },
  });
});

test('a command whose sender has stopped waiting is not carried out later', async () => {
  using temp = tempDatabase();
  const lease = begin(temp.db, 'r1');
  const id = sendCommand(temp.db, 'r1', stop, 1);

  expect(await awaitAnswer(temp.db, id, AbortSignal.abort())).toEqual({ kind: 'withdrawn' });
  expect(takeCommands(temp.db, lease, 2)).toEqual([]);
});

test('a command that was taken but not answered may have happened', async () => {
  using temp = tempDatabase();
  const lease = begin(temp.db, 'r1');
  const id = sendCommand(temp.db, 'r1', stop, 1);
  takeCommands(temp.db, lease, 2);

  expect(await awaitAnswer(temp.db, id, AbortSignal.abort())).toEqual({ kind: 'unknown' });
});

test('an engine that lost its run takes no commands from the one that has it', () => {
  using temp = tempDatabase();
  const old = begin(temp.db, 'r1');
  releaseLease(temp.db, old);
  const lease = lead(temp.db, 'r1');
  const id = sendCommand(temp.db, 'r1', cancel, 1);

  expect(() => takeCommands(temp.db, old, 2)).toThrow('Another engine has taken over');
  expect(takeCommands(temp.db, lease, 3)).toEqual([{ id, command: cancel }]);
});

test('sending a command adds nothing to the journal', () => {
  using temp = tempDatabase();
  begin(temp.db, 'r1');
  sendCommand(temp.db, 'r1', cancel, 1);

  expect(temp.db.get('SELECT count(*) AS n FROM entries')).toEqual({ n: 1 });
});

function begin(db: Parameters<typeof lead>[0], run: string) {
  const lease = lead(db, run);
  Journal.create(db, lease, NO_SECRETS).append([started()], 1);
  return lease;
}
