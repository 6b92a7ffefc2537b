/**
 * A second process for the tests, an engine in miniature: `engine.ts <stateDir> <run>`. It does
 * what the lines on its standard input say and answers each with one line:
 *
 *   create <n>    open, and so create, <stateDir>-<n> -> created | the name of the error
 *   lead          acquire the lease            -> held <token> | busy <pid>
 *   append        append one entry             -> <seq> | the name of the error
 *   flood         append without end           -> <seq> after each one that was acknowledged
 *   finish        append run.finished          -> <seq>
 *   release       give the lease back          -> released
 *   lock          begin a transaction and keep it -> locked
 */

import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { isAlive, thisProcess } from '../../../src/base/process-identity.ts';
import { type Database, openDatabase } from '../../../src/journal/database.ts';
import { Journal, readEntries } from '../../../src/journal/journal.ts';
import { acquireLease, type Lease, releaseLease } from '../../../src/journal/lease.ts';
import { NO_SECRETS } from '../../../src/journal/mask.ts';
import type { Event } from '../../../src/model/event.ts';
import { finished, started, usage } from '../support.ts';

const [, , stateDir = '', run = ''] = process.argv;
const db: Database = openDatabase(stateDir);
let lease: Lease = { run, token: 0 };

for await (const line of createInterface({ input: process.stdin })) {
  const [verb = '', ...args] = line.split(' ');
  try {
    say(obey(verb, args.map(Number)));
  } catch (error) {
    say(error instanceof Error ? error.name : 'unknown');
  }
}

function obey(verb: string, [count = 0]: number[]): string {
  switch (verb) {
    case 'create':
      openDatabase(`${stateDir}-${count}`).close();
      return 'created';
    case 'lead': {
      const answer = acquireLease(db, run, thisProcess(), { now: Date.now(), isAlive });
      if (answer.kind === 'busy') return `busy ${answer.owner.pid}`;
      lease = answer;
      return `held ${answer.token}`;
    }
    case 'append':
      return append(usage(0));
    case 'flood':
      for (let seq = 0; ; seq++) say(append(usage(seq)));
    case 'finish':
      return append(finished);
    case 'release':
      releaseLease(db, lease);
      return 'released';
    case 'lock':
      db.exec('BEGIN IMMEDIATE');
      return 'locked';
    default:
      return `what is ${verb}?`;
  }
}

function append(event: Event): string {
  const isNew = readEntries(db, run, 0).length === 0;
  const journal = isNew
    ? Journal.create(db, lease, NO_SECRETS)
    : Journal.open(db, lease, NO_SECRETS);
  const entries = journal.append(isNew ? [started(), event] : [event], Date.now());
  return String(entries.at(-1)?.seq);
}

/** Straight into the pipe: what was said is out even if the process is killed the next moment. */
function say(line: string): void {
  writeSync(1, `${line}\n`);
}
