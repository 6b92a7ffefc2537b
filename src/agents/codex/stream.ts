/**
 * Codex's output, line by line, as AgentEvents: the stream on standard output, the log beside it.
 *
 *   S1. Never throws. A line that is not of the stream gives no event at all; a line of the stream
 *       without a known meaning is `activity`.
 *   S2. Usage is this attempt's. The stream's own count goes over the whole thread, so where a
 *       session continues, only the log's counts are used; without them nothing is claimed.
 *   S3. An error is not the end: the CLI continues by itself. But a wait that may last (a limit, a lost
 *       network) is also reported as a result, so that an agent which stays silent is ended and the
 *       engine does the waiting. Whatever comes after such a result counts instead of it.
 *   S4. An attempt in which every command failed for lack of a sandbox has not succeeded.
 */

import type { AgentEvent, Usage } from '../../model/agent-event.ts';
import type { Failure } from '../../model/failure.ts';
import type { Job, Parser } from '../agent.ts';
import { clip, type Fields, fieldsOf, numberOf, parseFields, textOf } from '../json-fields.ts';
import { serviceFailure } from './failure.ts';
import { type LogLine, parseLogLine } from './log-line.ts';
import { isTool, toolEnd, toolName, toolStart, wasDenied } from './tool-item.ts';

type Events = readonly AgentEvent[];
type Result = AgentEvent & { readonly type: 'result' };

/** The parser of one attempt's output. */
export class StreamParser implements Parser {
  readonly #job: Job;
  readonly #open = new Set<string>();
  #text = '';
  #waits = 0;
  /** The end of the turn, once it has come. */
  #end: Result | null = null;
  /** What the log has counted, and what the stream says of a thread that began with us. */
  #counted: Usage | null = null;
  #total: Usage | null = null;
  #status: number | null = null;
  #now: number | null = null;
  #sandboxError = '';
  #didSomething = false;

  constructor(job: Job) {
    this.#job = job;
  }

  stdout(line: string): Events {
    const fields = parseFields(line);
    if (fields === null) return [];
    switch (fields.type) {
      case 'thread.started':
        return started(fields);
      case 'item.started':
        return this.#started(fieldsOf(fields.item));
      case 'item.completed':
        return this.#completed(fieldsOf(fields.item));
      case 'turn.completed':
        return this.#finish(this.#success(fields));
      case 'turn.failed':
        return this.#finish({ ok: false, failure: this.#failure(fieldsOf(fields.error)) });
      case 'error':
        return typeof fields.message === 'string' ? this.#error(fields) : [];
      default:
        // Other programs write JSON with a type, too.
        return /^(?:thread|turn|item)\./.test(textOf(fields.type)) ? activity(fields.type) : [];
    }
  }

  /** Words for people give no event; the end of them is judged with the exit. */
  stderr(line: string): Events {
    const entry = parseLogLine(line);
    if (entry === null) return [];
    if (Number.isFinite(entry.at)) this.#now = entry.at;
    if (entry.name === 'api_request') this.#status = statusOf(entry);
    const used = usageOf(entry);
    if (used !== null) return this.#count(used);
    return this.#end === null ? activity(entry.name) : [];
  }

  #started(item: Fields): Events {
    if (!isTool(item)) return activity(item.type);
    this.#open.add(textOf(item.id));
    return [toolStart(item)];
  }

  #completed(item: Fields): Events {
    switch (item.type) {
      case 'agent_message':
        this.#text = textOf(item.text);
        return [{ type: 'text', text: this.#text }];
      case 'reasoning':
        return [{ type: 'thinking' }];
      case 'error':
        return [{ type: 'warning', text: clip(textOf(item.message)) }];
      default:
        return isTool(item) ? this.#toolEnded(item) : activity(item.type);
    }
  }

  /** A tool that is over at once is told only by its end. */
  #toolEnded(item: Fields): Events {
    const start = this.#open.delete(textOf(item.id)) ? [] : [toolStart(item)];
    const end = toolEnd(item);
    this.#didSomething ||= end.ok;
    const denial = { type: 'denied', tool: toolName(item), id: end.id } as const;
    const denied = wasDenied(item) ? [denial] : [];
    return [...start, ...denied, end, ...this.#sandboxWarning(end)];
  }

  #sandboxWarning({ ok, output }: AgentEvent & { type: 'tool.end' }): Events {
    if (ok || this.#sandboxError !== '' || !output.startsWith('bwrap: ')) return [];
    this.#sandboxError = `${NO_SANDBOX} ${clip(output.split('\n')[0] ?? '', 300)}`;
    return [{ type: 'warning', text: this.#sandboxError }];
  }

  /** The CLI tells every error of a request here, and the last one again as the turn's failure. */
  #error(fields: Fields): Events {
    const message = textOf(fields.message);
    const [, attempt, max, reason] = RECONNECTING.exec(message) ?? [];
    if (attempt !== undefined) {
      const failure = this.#failure({ message: reason });
      const retry = { attempt: Number(attempt), max: Number(max), delayMs: 0, failure };
      return this.#retry(retry, failure.kind === 'rate-limited');
    }
    const waiting = WAITING.exec(message);
    if (waiting === null) return [{ type: 'warning', text: clip(message) }];
    this.#waits += 1;
    const failure: Failure = {
      kind: 'transient',
      message: `No network. ${clip(waiting[1] ?? '', 500)}`,
    };
    return this.#retry({ attempt: this.#waits, max: 0, delayMs: 0, failure }, true);
  }

  #retry(retry: Omit<AgentEvent & { type: 'retry' }, 'type'>, mayLast: boolean): Events {
    const event: AgentEvent = { type: 'retry', ...retry };
    if (!mayLast) return [event];
    const { failure } = retry;
    return [event, { type: 'result', ok: false, text: this.#text, failure, ...this.#usage() }];
  }

  #success(fields: Fields): Verdict {
    if (this.#job.resume === null) this.#total = totalOf(fieldsOf(fields.usage));
    if (this.#sandboxError !== '' && !this.#didSomething) {
      return { ok: false, failure: { kind: 'permanent', message: this.#sandboxError } };
    }
    return this.#job.options.schema === null ? { ok: true } : structured(this.#text);
  }

  #failure({ message }: Fields): Failure {
    return serviceFailure({ message: textOf(message), status: this.#status, now: this.#now });
  }

  #finish(verdict: Verdict): Events {
    this.#end = { type: 'result', text: this.#text, ...verdict, ...this.#usage() };
    return [this.#end];
  }

  /** The log comes through another pipe: a count may follow the turn's end, which then changes. */
  #count(used: Usage): Events {
    this.#counted = this.#counted === null ? used : add(this.#counted, used);
    if (this.#end === null) return [{ type: 'usage', usage: this.#counted }];
    this.#end = { ...this.#end, ...this.#usage() };
    return [this.#end];
  }

  #usage(): { readonly usage?: Usage } {
    const known = this.#counted ?? this.#total;
    return known === null ? {} : { usage: larger(known, this.#total ?? known) };
  }
}

type Verdict =
  | { readonly ok: true; readonly structured?: unknown }
  | { readonly ok: false; readonly failure: Failure };

function started({ thread_id }: Fields): Events {
  const id = textOf(thread_id);
  return id === '' ? activity('thread.started') : [{ type: 'session', id }];
}

/** The service makes the answer fit the schema; text that is not JSON has slipped through. */
function structured(text: string): Verdict {
  try {
    return { ok: true, structured: JSON.parse(text) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const message = 'The agent’s answer is not in the form that was asked for.';
    return { ok: false, failure: { kind: 'schema', message } };
  }
}

function statusOf(entry: LogLine): number | null {
  const status = Number(entry.field('http.response.status_code'));
  return status > 0 ? status : null;
}

/** What one answer of a model used. */
function usageOf(entry: LogLine): Usage | null {
  const [input, output] = ['input_token_count', 'output_token_count'].map(entry.field);
  if (entry.name !== 'sse_event' || !input) return null;
  return { costUsd: 0, inputTokens: Number(input) || 0, outputTokens: Number(output) || 0 };
}

function totalOf(usage: Fields): Usage {
  const { input_tokens, output_tokens } = usage;
  return { costUsd: 0, inputTokens: numberOf(input_tokens), outputTokens: numberOf(output_tokens) };
}

function add(a: Usage, b: Usage): Usage {
  return {
    costUsd: 0,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
  };
}

/** The log also counts reviews, the stream also what the log has yet to say. */
function larger(a: Usage, b: Usage): Usage {
  return {
    costUsd: 0,
    inputTokens: Math.max(a.inputTokens, b.inputTokens),
    outputTokens: Math.max(a.outputTokens, b.outputTokens),
  };
}

function activity(what: unknown): Events {
  return [{ type: 'activity', what: clip(textOf(what), 100) }];
}

const RECONNECTING = /^Reconnecting\.\.\. (\d+)\/(\d+)(?: \((.*)\))?$/s;
const WAITING = /^Reconnecting\.\.\. waiting for network(?: \((.*)\))?$/s;

const NO_SANDBOX =
  'Codex could not set up its sandbox, so its commands do not run. Let this machine create user ' +
  'namespaces (and install bubblewrap), or put the agent into another fence (sandbox: require) ' +
  'and give it the permissions bypassPermissions.';
