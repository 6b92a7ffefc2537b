/** What the journal's tests share: a folder that goes away, events, and real second processes. */

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { isAlive, thisProcess } from '../../src/base/process-identity.ts';
import { type Database, openDatabase } from '../../src/journal/database.ts';
import { acquireLease, type Lease } from '../../src/journal/lease.ts';
import type { Event } from '../../src/model/event.ts';
import { NATIVE_CONVENTIONS, NO_SANDBOX, type Plan } from '../../src/model/plan.ts';

/** A state folder that is not there yet, inside a folder that is removed when the scope ends. */
export function tempState(): { stateDir: string; dir: string } & Disposable {
  const dir = mkdtempSync(join(tmpdir(), 'landfast-journal-'));
  return {
    dir,
    stateDir: join(dir, 'landfast'),
    [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }),
  };
}

/** The database of a new state folder. */
export function tempDatabase(): { db: Database; stateDir: string } & Disposable {
  const state = tempState();
  const db = openDatabase(state.stateDir);
  return {
    db,
    stateDir: state.stateDir,
    [Symbol.dispose]: () => {
      db.close();
      state[Symbol.dispose]();
    },
  };
}

/** Makes this process the engine of a run. */
export function lead(db: Database, run: string): Lease {
  const answer = acquireLease(db, run, thisProcess(), { now: Date.now(), isAlive });
  if (answer.kind === 'busy') throw new Error(`run ${run} has an engine: ${answer.owner.pid}`);
  return answer;
}

export function started(name = 'a plan'): Event {
  return { type: 'run.started', plan: { ...PLAN, name }, planHash: '', base: null, target: null };
}

const PLAN: Plan = {
  name: '',
  tasks: [],
  gates: [],
  workspace: { setup: [], setupKey: [], copy: [], inject: [] },
  landing: {
    strategy: 'merge',
    verify: 'each',
    onConflict: 'fail',
    onGateFailure: 'fail',
    onSemantic: 'warn',
    reworks: 0,
    publish: 'off',
  },
  limits: { workers: 1, gates: 1, groups: {} },
  sandbox: NO_SANDBOX,
  notify: [],
  conventions: NATIVE_CONVENTIONS,
};

/** A small event that can be told from others by its number. */
export function usage(attempt: number): Event {
  const task = 'a';
  return { type: 'attempt.usage', task, attempt, costUsd: 0, inputTokens: 1, outputTokens: 1 };
}

export const finished: Event = { type: 'run.finished', outcome: 'succeeded' };

/** Another process: children/engine.ts, which answers every line it is sent with one line. */
export class Engine implements AsyncDisposable {
  readonly process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;

  constructor(stateDir: string, run: string) {
    const script = join(import.meta.dirname, 'children', 'engine.ts');
    this.process = spawn(process.execPath, [script, stateDir, run], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.process.stdin.on('error', () => {}); // It may be dead already.
    this.#lines = createInterface({ input: this.process.stdout })[Symbol.asyncIterator]();
  }

  /** Sends a line without waiting for the answer. */
  send(line: string): void {
    this.process.stdin.write(`${line}\n`);
  }

  async ask(line: string): Promise<string> {
    this.send(line);
    return this.answer();
  }

  async answer(): Promise<string> {
    const { value, done } = await this.#lines.next();
    return done === true ? 'nothing: it has ended' : value;
  }

  /** Lines from now until its output ends. */
  async rest(): Promise<string[]> {
    const lines: string[] = [];
    for (let line = await this.#lines.next(); !line.done; line = await this.#lines.next()) {
      lines.push(line.value);
    }
    return lines;
  }

  async kill(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    this.process.kill('SIGKILL');
    await once(this.process, 'exit');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}
