/**
 * Our side of the Agent Client Protocol:
 *
 *   initialize ─► session/new or session/load ─► model, mode ─► session/prompt ─► its answer
 *
 *   D1. One of our requests is open at a time. An error in answer to any of them ends the attempt.
 *   D2. Every request of the agent is answered, with "method not found" where we do not know it: it
 *       would wait forever. We offer it no files and no terminals, it has its own.
 *   D3. Updates while a session is loaded are its past, not the work of this attempt.
 */

import type { Failure } from '../../model/failure.ts';
import type { Job, Parser } from '../agent.ts';
import { activity, type Events, orActivity, session } from '../events.ts';
import { clip, type Fields, fieldsOf, isFields, parseFields, textOf } from '../json-fields.ts';
import { errorFailure, loadFailure, stopFailure } from './failure.ts';
import { answerTo, mayDo } from './permission.ts';
import { currentModel, type Request, sessionParams, settingsFor } from './session.ts';
import { Turn } from './turn.ts';

interface Awaited {
  readonly id: number;
  answer(result: Fields): Events;
  readonly toFailure: (error: Fields) => Failure;
}

export class Conversation implements Parser {
  readonly #job: Job;
  readonly #turn: Turn;
  #outbox: string[] = [];
  #lastId = 0;
  #awaited: Awaited | null = null;
  #session = '';
  #prompted = false;
  #over = false;

  constructor(job: Job) {
    this.#job = job;
    this.#turn = new Turn(job.resume !== null);
    const fs = { readTextFile: false, writeTextFile: false };
    const params = { protocolVersion: VERSION, clientCapabilities: { fs, terminal: false } };
    this.#ask({ method: 'initialize', params }, (result) => this.#initialized(result));
  }

  stdout(line: string): Events {
    const message = parseFields(line);
    if (message === null || message.jsonrpc !== '2.0') return [];
    if (typeof message.method !== 'string') return this.#answered(message);
    return 'id' in message ? this.#asked(message) : this.#told(message);
  }

  /** Standard error holds only words for people; the end of it is judged with the exit. */
  stderr(): Events {
    return [];
  }

  replies(): readonly string[] {
    const lines = this.#outbox;
    this.#outbox = [];
    return lines;
  }

  isOver(): boolean {
    return this.#over;
  }

  #initialized(agent: Fields): Events {
    if (agent.protocolVersion !== VERSION) {
      const spoken = clip(String(agent.protocolVersion), 20);
      return this.#fail(`It speaks version ${spoken} of the protocol, not ${VERSION}.`);
    }
    const can = fieldsOf(agent.agentCapabilities);
    const opening = sessionParams(this.#job, fieldsOf(can.mcpCapabilities));
    if ('refusal' in opening) return this.#fail(opening.refusal);
    const { params } = opening;
    const loading = loadMethod(can);
    const opened = (result: Fields) => this.#opened(result, loading !== null);
    const { resume } = this.#job;
    if (resume === null) return this.#ask({ method: 'session/new', params }, opened);
    if (loading === null) {
      const message = 'The agent cannot load an earlier session.';
      return this.#end({ kind: 'session-lost', message });
    }
    const request = { method: loading, params: { sessionId: resume, ...params } };
    return this.#ask(request, opened, loadFailure);
  }

  #opened(result: Fields, loadable: boolean): Events {
    this.#session = this.#job.resume ?? textOf(result.sessionId);
    if (this.#session === '') return this.#fail('It began a session without a name.');
    const settings = settingsFor(this.#job, result);
    if ('refusal' in settings) return this.#fail(settings.refusal);
    const model = this.#job.model ?? currentModel(result);
    const known = loadable ? [session(this.#session, model)] : activity('session');
    return [...known, ...this.#settle(settings.requests)];
  }

  /** One setting after the other, then the prompt. */
  #settle([first, ...rest]: readonly Request[]): Events {
    if (first === undefined) return this.#prompt();
    const params = { sessionId: this.#session, ...first.params };
    return this.#ask({ method: first.method, params }, () => this.#settle(rest));
  }

  #prompt(): Events {
    this.#prompted = true;
    const prompt = [{ type: 'text', text: this.#job.prompt }];
    const params = { sessionId: this.#session, prompt };
    return this.#ask({ method: 'session/prompt', params }, (result) => {
      this.#turn.count(result);
      return this.#end(stopFailure(textOf(result.stopReason)));
    });
  }

  #ask(request: Request, answer: Awaited['answer'], toFailure = errorFailure): Events {
    this.#lastId += 1;
    this.#awaited = { id: this.#lastId, answer, toFailure };
    this.#send({ id: this.#lastId, ...request });
    return activity(request.method);
  }

  #answered({ id, result, error }: Fields): Events {
    const awaited = this.#awaited;
    if (awaited === null || id !== awaited.id) return activity('answer');
    this.#awaited = null;
    return isFields(error) ? this.#end(awaited.toFailure(error)) : awaited.answer(fieldsOf(result));
  }

  /** Updates of another session, such as a sub-agent's, are signs of life. */
  #told({ method, params }: Fields): Events {
    const { sessionId, update } = fieldsOf(params);
    if (method !== 'session/update') return activity(method);
    const kind = fieldsOf(update).sessionUpdate;
    if (sessionId !== (this.#session || this.#job.resume)) return activity(kind);
    if (!this.#prompted) this.#turn.recall(fieldsOf(update));
    return orActivity(this.#prompted ? this.#turn.update(fieldsOf(update)) : [], kind);
  }

  #asked({ id, method, params }: Fields): Events {
    if (method === 'session/request_permission') return this.#permit(id, fieldsOf(params));
    this.#send({ id, error: { code: METHOD_NOT_FOUND, message: 'Method not found' } });
    return activity(method);
  }

  #permit(id: unknown, { toolCall, options }: Fields): Events {
    const call = this.#turn.asked(fieldsOf(toolCall));
    const { outcome, allowed } = answerTo(options, mayDo(this.#job, call.asked));
    this.#send({ id, result: { outcome } });
    if (allowed) return orActivity(call.events, 'session/request_permission');
    return [...call.events, ...this.#turn.deny(call.asked)];
  }

  #send(message: object): void {
    this.#outbox.push(JSON.stringify({ jsonrpc: '2.0', ...message }));
  }

  #fail(why: string): Events {
    const message = `The agent cannot be used. ${why}`;
    return this.#end({ kind: 'permanent', message });
  }

  #end(failure: Failure | null): Events {
    this.#over = true;
    return this.#turn.end(failure);
  }
}

/** How an earlier session is taken up again; null where the agent cannot. */
function loadMethod(can: Fields): string | null {
  if (can.loadSession === true) return 'session/load';
  return isFields(fieldsOf(can.sessionCapabilities).resume) ? 'session/resume' : null;
}

const VERSION = 1;
const METHOD_NOT_FOUND = -32601;
